"""What a corpus is made of: files, and whatever else gives texts, each with its place and options.

A run reads one piece after the other, and its manifest tells of each.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from digram.corpus import (
    Corpus,
    CorpusLike,
    Files,
    Pass,
    Stream,
    Streams,
    Table,
    Text,
    Unread,
)
from digram.corpus.separators import cut_texts
from digram.errors import CheckpointError, OptionError, placed
from digram.shards.manifest import Input

__all__ = ["Piece", "Pieces"]

_LONGEST_NAME = 4096  # characters; no system has longer paths


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or all that an iterator, a table or a stream gives."""

    found: Files | Stream | Table | Iterator[Any]
    separator: bytes | None
    size: int | None = None  # about how many bytes it holds, on the disk where it is there
    corpus: str | None = None  # its name in a dictionary

    @property
    def path(self) -> Path | None:
        """The file that it is."""
        return self.found.paths[0] if isinstance(self.found, Files) else None

    @property
    def name(self) -> str:
        """What files of tokens say that a document comes from: nothing, where it is not a file."""
        if self.path is not None:
            return os.fspath(self.path)
        return os.fspath(self.found.name) if isinstance(self.found, Stream) else ""

    @property
    def in_parts(self) -> bool:
        """Whether it is one document, which is read in parts where it is long."""
        found = self.found
        if self.separator is not None:
            return False
        if isinstance(found, Files):
            return found.kind(found.paths[0]).form == "text"
        return isinstance(found, Stream) and found.kind.form == "text"

    @property
    def is_callers(self) -> bool:
        """Whether reading it runs the caller's code, or may wait for what another process does."""
        return not isinstance(self.found, Files)

    def texts(self, seen: Pass) -> Iterator[Text | Unread]:
        """Its documents; `seen` keeps which record each is from, and how far this is."""
        found = self.found
        if isinstance(found, Files):
            yield from found.texts_of(found.paths[0], seen)
        elif isinstance(found, Stream):
            yield from found.texts(seen)
        else:
            texts = found.texts(seen) if isinstance(found, Table) else found
            try:
                yield from cut_texts(seen.numbered(_weighed(texts, seen)), self.separator)
            except TypeError as error:
                if self.corpus is not None:
                    placed(error, f"corpus[{self.corpus!r}]")
                raise

    def at(self, record: int) -> dict[str, Any]:
        """Where one of its records is, as errors tell it; may read the file up to there."""
        found = self.found
        if isinstance(found, Files):
            start = found.start_of(found.paths[0], record)
            return {"path": self.name, "record": record, "offset": start}
        if isinstance(found, Stream | Table):
            return {"path": self.name or "the table", "record": record}
        return {}


class Pieces:
    """The pieces of a corpus, and what is known of them before any is read.

    >>> [piece.separator for piece in Pieces(["a", b"bc"], "--").all]
    [b'--']
    """

    def __init__(
        self, corpus: CorpusLike | Mapping[str, Any], separator: str | bytes | None
    ) -> None:
        self.options: dict[str, Any] = {}
        self.all: list[Piece] = []
        self._folders: list[Path] = []
        if not isinstance(corpus, Mapping):
            self.all, self.options = self._of(corpus, separator)
            return
        self.options = {"corpora": {}}
        for name, one in corpus.items():
            if not isinstance(name, str):
                raise TypeError(f"corpus has the key {name!r}, expected names of corpora.")
            try:
                pieces, self.options["corpora"][name] = self._of(one, separator)
            except Exception as error:
                placed(error, f"corpus[{name!r}]")
                raise
            self.all += [replace(piece, corpus=name) for piece in pieces]

    @property
    def size(self) -> int | None:
        """About how many bytes all of them hold; None where one does not tell."""
        sizes = [piece.size for piece in self.all]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def inputs(self) -> list[Input]:
        """The pieces as a manifest has them."""
        return [
            Input(None, None, one.corpus)
            if one.path is None
            else Input(one.name, one.size, one.corpus)
            for one in self.all
        ]

    def check_outside(self, folder: Path) -> None:
        """`CheckpointError` where shards would lie among the files of the corpus."""
        home = folder.resolve()
        inside = (piece.path for piece in self.all if piece.path is not None)
        for path in (path for path in inside if path.resolve().is_relative_to(home)):
            raise CheckpointError(
                "this input lies in the folder that shards are written to.",
                path=path,
                hint="Write to a folder elsewhere.",
            )
        for root in self._folders:
            if home.is_relative_to(root.resolve()):
                raise CheckpointError(
                    f"shards would lie in {os.fspath(root)}, of which all files are read.",
                    path=folder,
                    hint="Write to a folder elsewhere, or name the files, as in 'folder/*.txt'.",
                )

    def _of(self, corpus: Any, separator: str | bytes | None) -> tuple[list[Piece], dict[str, Any]]:
        _check_no_name(corpus)
        whole = Corpus.of(corpus, separator)
        found, cut = whole.source, whole.separator
        if isinstance(found, Streams):
            several = [self._of(one, separator) for one in found.sources]
            return [piece for pieces, _ in several for piece in pieces], several[0][1]
        if isinstance(found, Files):
            self._folders += found.folders
            pieces = [
                Piece(replace(found, paths=(path,), folders=()), cut, path.stat().st_size)
                for path in found.paths
            ]
            return pieces, _read_options(cut, found.field, found.format, found.on_error)
        if isinstance(found, Stream):
            kind = ".".join(filter(None, (found.kind.form, found.kind.packing)))
            return [Piece(found, cut)], _read_options(cut, found.field, kind, found.on_error)
        if isinstance(found, Table):
            return [Piece(found, cut)], _read_options(cut, found.column, None, found.on_error)
        if isinstance(found, Iterable) and not isinstance(found, str | bytes | list | tuple):
            items = iter(found)
            start = list(itertools.islice(items, 1))
            if start and isinstance(start[0], os.PathLike):  # the names are all taken now
                return self._of([*start, *items], separator)
            found = itertools.chain(start, items)
        whole = Corpus(found)
        return [Piece(whole.documents(), cut, whole.size)], _read_options(cut)


def _weighed(texts: Iterable[Text], seen: Pass) -> Iterator[Text]:
    """The texts, of which each counts as read: they lie on no disk."""
    for text in texts:
        seen.done += len(text)
        yield text


def _read_options(
    separator: bytes | None,
    field: tuple[str, ...] = ("text",),
    format: str | None = None,
    on_error: str = "raise",
) -> dict[str, Any]:
    """What decides how a corpus is read, as a manifest has it."""
    # Bytes that are no UTF-8 become lone surrogates, which JSON carries.
    cut = None if separator is None else separator.decode("utf-8", "surrogateescape")
    return {"separator": cut, "field": [*field], "source_format": format, "on_error": on_error}


def _check_no_name(corpus: object) -> None:
    """Refuses a text that is the name of a file or folder: nobody means its few letters."""
    if not isinstance(corpus, str) or not 0 < len(corpus) <= _LONGEST_NAME:
        return
    try:
        there = "folder" if os.path.isdir(corpus) else "file" if os.path.isfile(corpus) else None
    except ValueError:  # it holds a NUL
        return
    if there is not None:
        raise OptionError(
            f"corpus={corpus!r} is a text, and the name of a {there}.",
            value=corpus,
            hint=f"For what is in it, pass pathlib.Path({corpus!r}) or digram.files({corpus!r}); "
            f"for these letters, [{corpus!r}].",
        )
