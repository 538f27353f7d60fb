"""Shards: the parts of a corpus that a worker takes one at a time, and its work on one.

Each result identifies itself (`digram.distributed.roster.Key`).
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from digram.corpus import Corpus, CorpusLike, Files, Table, files
from digram.distributed.roster import Key, Result
from digram.distributed.tasks import CountTexts, EncodeTexts
from digram.training.counts import Counts

if TYPE_CHECKING:
    from digram.tokenizer.batch import FlatIds

__all__ = ["CountShard", "EncodeShard", "ShardWork", "Shards", "each_shard"]

Shards = Files | os.PathLike[str] | Iterable[CorpusLike]
"""A corpus in parts: files, or an iterable of corpora."""

Value = TypeVar("Value")


def each_shard(shards: Shards) -> tuple[int | None, Iterator[CorpusLike]]:
    """The number of shards, if known, and each shard as a picklable value.

    >>> number, found = each_shard([["a", "b"], (text for text in "cd")])
    >>> number, list(found)
    (2, [['a', 'b'], ['c', 'd']])

    Raises TypeError if `shards` is not a list of shards, and, while iterating, for an invalid
    shard.
    """
    if isinstance(shards, os.PathLike):
        shards = files(shards)
    if isinstance(shards, Files):
        each = [replace(shards, paths=(path,)) for path in shards.paths]
        return len(each), iter(each)
    if isinstance(shards, str | bytes | Mapping) or not isinstance(shards, Iterable):
        raise TypeError(
            "shards must be digram.files(...), a Path, or an iterable of corpora, not of type "
            f"{type(shards).__name__}; put a single corpus into a list"
        )
    return len(shards) if isinstance(shards, Sized) else None, map(_shard, shards)


def _shard(source: CorpusLike) -> CorpusLike:
    if isinstance(source, os.PathLike):
        return files(source)
    if isinstance(source, str | bytes | Files | Table):
        return source
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise TypeError(
            "a shard must be a text, a Path, digram.files(...), or several texts or Paths, "
            f"not of type {type(source).__name__}"
        )
    items: list[Any] = list(source)
    if items and all(isinstance(item, os.PathLike) for item in items):
        return files(*items)
    return items


class ShardWork(ABC, Generic[Value]):
    """The work of a worker on a shard."""

    __slots__ = ()

    title: ClassVar[str]
    """The title of the progress bar."""

    @property
    @abstractmethod
    def configuration(self) -> str:
        """SHA-256 of everything but the content that decides the result."""

    @abstractmethod
    def result(self, source: CorpusLike) -> tuple[Value, str, int]:
        """The value for a shard, its SHA-256, and the number of skipped records."""

    def __call__(self, number: int, source: CorpusLike) -> Result[Value] | Exception:
        """The result, or the error of the shard; an exception raised here means a lost worker."""
        try:
            content = _content_digest(source)
            value, digest, skipped = self.result(source)
        except Exception as error:
            return error
        return Result(Key(number, content, self.configuration), digest, value, skipped)


@dataclass(frozen=True, slots=True)
class CountShard(ShardWork[Counts]):
    """Count the texts of a shard."""

    task: CountTexts
    title: ClassVar[str] = "Counting"

    @property
    def configuration(self) -> str:
        return self.task.configuration

    def result(self, source: CorpusLike) -> tuple[Counts, str, int]:
        counts = self.task(source)
        held = counts._held
        sha = hashlib.sha256(f"{held.digest()} {held.documents} {held.end}".encode())
        return counts, sha.hexdigest(), counts.skipped


@dataclass(frozen=True, slots=True)
class EncodeShard(ShardWork["FlatIds"]):
    """Encode the texts of a shard."""

    task: EncodeTexts
    title: ClassVar[str] = "Encoding"

    @property
    def configuration(self) -> str:
        return self.task.configuration

    def result(self, source: CorpusLike) -> tuple[FlatIds, str, int]:
        texts = Corpus.of(source).documents()
        flat = self.task.to_numpy(list(texts))
        sha = hashlib.sha256(flat.offsets.data)
        sha.update(flat.ids.data)
        return flat, sha.hexdigest(), texts.skipped


def _content_digest(source: CorpusLike) -> str:
    """SHA-256 of the texts of a shard, or of the bytes of its files."""
    sha = hashlib.sha256()
    if isinstance(source, Files):
        for path in source.paths:
            with path.open("rb") as file:
                sha.update(hashlib.file_digest(file, "sha256").digest())
        return sha.hexdigest()
    for text in Corpus.of(source).documents():
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        sha.update(len(data).to_bytes(8, "little"))
        sha.update(data)
    return sha.hexdigest()
