"""The pieces of a corpus: files, tables, streams and iterators, with their options.

A run reads one piece after the other, and its manifest lists them.
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
from digram.errors import CheckpointError, OptionError, placed
from digram.shards.manifest import Input

__all__ = ["Piece", "Pieces"]

_LONGEST_NAME = 4096  # characters; no system has longer paths


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or all texts of an iterator, a table or a stream."""

    found: Files | Stream | Table | Iterator[Any]
    size: int | None = None  # approximate bytes; for files the size on disk
    corpus: str | None = None  # its name in a dictionary

    @property
    def path(self) -> Path | None:
        """The path, if the piece is a file."""
        return self.found.paths[0] if isinstance(self.found, Files) else None

    @property
    def name(self) -> str:
        """The source of documents in token files: a path, the name of a stream, or empty."""
        if self.path is not None:
            return os.fspath(self.path)
        return os.fspath(self.found.name) if isinstance(self.found, Stream) else ""

    @property
    def in_parts(self) -> bool:
        """Whether it is a single document, which is read in parts if it is long."""
        found = self.found
        if not isinstance(found, Files | Stream) or found.separator is not None:
            return False
        kind = found.kind if isinstance(found, Stream) else found.kind(found.paths[0])
        return kind.form == "text"

    @property
    def is_callers(self) -> bool:
        """Whether reading it runs the caller's code, or may wait for another process."""
        return not isinstance(self.found, Files)

    def texts(self, seen: Pass) -> Iterator[Text | Unread]:
        """Its documents; `seen` tracks the record number and the progress."""
        found = self.found
        if isinstance(found, Files):
            yield from found.texts_of(found.paths[0], seen)
        elif isinstance(found, Stream):
            yield from found.texts(seen)
        else:
            texts = found.texts(seen) if isinstance(found, Table) else seen.numbered(found)
            try:
                yield from _weighed(texts, seen)
            except TypeError as error:
                if self.corpus is not None:
                    placed(error, f"corpus[{self.corpus!r}]")
                raise

    def at(self, record: int) -> dict[str, Any]:
        """The place of a record for errors; may read the file up to the record."""
        found = self.found
        if isinstance(found, Files):
            start = found.start_of(found.paths[0], record)
            return {"path": self.name, "record": record, "offset": start}
        if isinstance(found, Stream | Table):
            return {"path": self.name or "the table", "record": record}
        return {}


class Pieces:
    """The pieces of a corpus, and the facts known before reading.

    >>> Pieces(["a", b"bc"]).size
    3
    """

    def __init__(self, corpus: CorpusLike | Mapping[str, Any]) -> None:
        self.options: dict[str, Any] = {}
        self.all: list[Piece] = []
        self._folders: list[Path] = []
        if not isinstance(corpus, Mapping):
            self.all, self.options = self._of(corpus)
            return
        self.options = {"corpora": {}}
        for name, one in corpus.items():
            if not isinstance(name, str):
                raise TypeError(f"corpus has the key {name!r}, expected names of corpora.")
            try:
                pieces, self.options["corpora"][name] = self._of(one)
            except Exception as error:
                placed(error, f"corpus[{name!r}]")
                raise
            self.all += [replace(piece, corpus=name) for piece in pieces]

    @property
    def size(self) -> int | None:
        """The approximate size of all pieces in bytes; None if one is not known."""
        sizes = [piece.size for piece in self.all]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def inputs(self) -> list[Input]:
        """The pieces for the manifest."""
        return [
            Input(None, None, one.corpus)
            if one.path is None
            else Input(one.name, one.size, one.corpus)
            for one in self.all
        ]

    def check_outside(self, folder: Path) -> None:
        """`CheckpointError` if shards would be written among the files of the corpus."""
        home = folder.resolve()
        inside = (piece.path for piece in self.all if piece.path is not None)
        for path in (path for path in inside if path.resolve().is_relative_to(home)):
            raise CheckpointError(
                "this input is in the folder for shards.",
                path=path,
                hint="Pass another folder.",
            )
        for root in self._folders:
            if home.is_relative_to(root.resolve()):
                raise CheckpointError(
                    f"shards would be written to {os.fspath(root)}, which is part of the corpus.",
                    path=folder,
                    hint="Pass another folder, or name the files, as in 'folder/*.txt'.",
                )

    def _of(self, corpus: Any) -> tuple[list[Piece], dict[str, Any]]:
        _check_no_name(corpus)
        whole = Corpus.of(corpus)
        found, cut = whole.source, whole.separator
        if isinstance(found, Streams):
            several = [self._of(one) for one in found.sources]
            return [piece for pieces, _ in several for piece in pieces], several[0][1]
        if isinstance(found, Files):
            self._folders += found.folders
            pieces = [
                Piece(replace(found, paths=(path,), folders=()), path.stat().st_size)
                for path in found.paths
            ]
            return pieces, _read_options(cut, found.field, found.format, found.on_error)
        if isinstance(found, Stream):
            kind = ".".join(filter(None, (found.kind.form, found.kind.packing)))
            return [Piece(found)], _read_options(cut, found.field, kind, found.on_error)
        if isinstance(found, Table):
            return [Piece(found)], _read_options(cut, found.column, None, found.on_error)
        if isinstance(found, Iterable) and not isinstance(found, str | bytes | list | tuple):
            items = iter(found)
            start = list(itertools.islice(items, 1))
            if start and isinstance(start[0], os.PathLike):  # an iterator of paths: take all now
                return self._of([*start, *items])
            found = itertools.chain(start, items)
        whole = Corpus(found)
        return [Piece(whole.documents(), whole.size)], _read_options()


def _weighed(texts: Iterable[Text], seen: Pass) -> Iterator[Text]:
    """Yield the texts, and count their bytes as progress, since they are not on disk."""
    for text in texts:
        seen.done += len(text)
        yield text


def _read_options(
    separator: bytes | None = None,
    field: tuple[str, ...] = ("text",),
    format: str | None = None,
    on_error: str = "raise",
) -> dict[str, Any]:
    """The options for reading a corpus, for the manifest."""
    # Invalid UTF-8 becomes lone surrogates, which JSON can represent.
    cut = None if separator is None else separator.decode("utf-8", "surrogateescape")
    return {"separator": cut, "field": [*field], "source_format": format, "on_error": on_error}


def _check_no_name(corpus: object) -> None:
    """Raises for a `str` that is the name of a file or folder, which is probably meant."""
    if not isinstance(corpus, str) or not 0 < len(corpus) <= _LONGEST_NAME:
        return
    try:
        there = "folder" if os.path.isdir(corpus) else "file" if os.path.isfile(corpus) else None
    except ValueError:  # it contains a NUL
        return
    if there is not None:
        raise OptionError(
            f"corpus={corpus!r} is a text, but also the name of a {there}.",
            value=corpus,
            hint=f"For its content, pass pathlib.Path({corpus!r}) or digram.files({corpus!r}); "
            f"for the text itself, [{corpus!r}].",
        )
