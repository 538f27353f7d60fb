"""Documents in parts: lists of texts and special tokens, as `encode` takes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from digram.corpus import CorpusLike, Text
from digram.errors import show
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.special_tokens import OnSpecial, SpecialToken, TextOrParts

__all__ = ["Documents", "EncodedParts", "InParts", "encode_parts", "given", "with_parts"]

Parts = Sequence[str | bytes | SpecialToken]
Documents: TypeAlias = CorpusLike | Iterable[TextOrParts]
"""A corpus, or documents some of which are in parts."""


class InParts(str):
    """A document in parts, as a text that tells it from all others; it is what digests are of.

    >>> InParts([SpecialToken("<s>"), "low"])
    '[{"special": "<s>"}, "low"]'
    """

    parts: Parts

    def __new__(cls, parts: Parts) -> InParts:
        found = super().__new__(cls, json.dumps([*map(_described, parts)]))
        found.parts = [*parts]
        return found


def _described(part: object) -> object:
    if isinstance(part, SpecialToken):
        return {"special": part.text}
    if isinstance(part, bytes):
        return {"bytes": part.hex()}
    if isinstance(part, str):
        return part
    raise TypeError(f"a part of a document is str, bytes or digram.SpecialToken, not {show(part)}")


def with_parts(corpus: Documents | Mapping[str, Documents]) -> Any:
    """The corpus with each list of parts as a document."""
    if isinstance(corpus, Mapping):
        return {name: with_parts(one) for name, one in corpus.items()}
    if isinstance(corpus, list | tuple) and any(isinstance(one, list | tuple) for one in corpus):
        return [*map(_document, corpus)]
    return map(_document, corpus) if isinstance(corpus, Iterator) else corpus


def _document(one: Any) -> Any:
    return InParts(one) if isinstance(one, list | tuple) else one


def given(text: Text) -> Any:
    """A document as `encode` takes it."""
    return text.parts if isinstance(text, InParts) else text


class EncodedParts:
    """The ids of documents, with the interface of `EncodedDocuments`."""

    def __init__(self, ids: list[list[int]], unfinished: list[int]) -> None:
        self._ids = ids
        self._unfinished = frozenset(unfinished)

    def gather(self, end: int | None, dtype: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The ids, with the id `end` after each document, and the ends."""
        flat: list[int] = []
        ends = []
        for number, ids in enumerate(self._ids):
            flat += ids
            if number in self._unfinished:
                continue
            flat += [] if end is None else [end]
            ends.append(len(flat))
        array = np.array(flat, dtype=np.dtype(dtype).newbyteorder("<"))
        return array, np.array(ends, dtype=np.int64)


def encode_parts(
    tok: Tokenizer,
    texts: Sequence[Text],
    unfinished: list[int],
    special: OnSpecial,
    threads: int | None,
) -> EncodedParts:
    """Encode documents, some of which are in parts."""
    ids = tok.encode_batch([*map(given, texts)], special=special, threads=threads)
    return EncodedParts(ids, unfinished)
