"""The texts of each named file, for verbs that report each file separately."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import click

from digram.cli import _binary_files, _inputs, _reading

if TYPE_CHECKING:
    from digram.corpus import Files, Pass, Stream, Unread

__all__ = ["Holder", "Named", "given", "named", "text_option", "where"]

text_option = click.option("--text", help="Use this text instead of a file.")
"""A text to use; `given` takes its value."""


class Holder(NamedTuple):
    """A file, or stdin."""

    name: str
    """The name in tables; `-` for stdin."""
    texts: Iterator[bytes]
    """Must be read before the texts of the next file."""


@dataclass(frozen=True, slots=True)
class Named:
    """The named files and stdin; made by `named`, iterated as `Holder`s."""

    sources: tuple[Files | Stream, ...]
    title: str | None

    @property
    def hold_several(self) -> bool:
        """Whether one of them may hold several texts."""
        from digram.corpus import Files

        kinds = [
            kind
            for one in self.sources
            for kind in (map(one.kind, one.paths) if isinstance(one, Files) else [one.kind])
        ]
        cut = any(one.separator is not None for one in self.sources)
        return cut or any(kind.form != "text" for kind in kinds)

    def __iter__(self) -> Iterator[Holder]:
        """Iterate over the files, with a progress bar; report skipped records at the end."""
        from digram._util.progress import progress
        from digram.corpus import Files, Pass

        seen, total = Pass(), 0
        for one in self.sources:
            total += one.size if isinstance(one, Files) else 0
        # The size of stdin is not known.
        known = all(isinstance(one, Files) for one in self.sources)
        enabled = None if self.title else False
        with progress(self.title or "", total if known else None, enabled=enabled) as advance:
            for one in self.sources:
                if isinstance(one, Files):
                    for path in one.paths:
                        texts = replace(one, paths=(path,)).texts(seen)
                        yield Holder(click.format_filename(path), _whole(texts, seen, advance))
                else:
                    yield Holder("-", _whole(one.texts(seen), seen, advance))
        seen.tell()


def named(
    arguments: Sequence[str],
    read_options: _reading.ReadOptions,
    title: str | None = None,
    missing: Callable[[OSError], None] | None = None,
) -> Named:
    """The files that arguments name, and stdin for `-` or without arguments; warns of binary files.

    `title` is that of the progress bar; None draws no bar. Missing files are reported before
    anything is read: passed to `missing`, or raised without it.
    """
    found: list[Files | None] = []
    for name in arguments or ("-",):
        try:
            found.append(None if name == "-" else _reading.files(name, read_options=read_options))
        except OSError as error:
            if missing is None:
                raise
            missing(error)
    _binary_files.warn_of_files(*(one for one in found if one is not None), unreadable=True)
    sources = [_inputs.watched_stdin(read_options) if one is None else one for one in found]
    return Named(tuple(sources), title)


def given(
    file: str, text: str | None, read_options: _reading.ReadOptions
) -> Iterator[tuple[str, int | None, bytes]]:
    """The texts of FILE, stdin or `--text`: a name, a document number or None, and the text.

    Shared by all verbs that show how a text is encoded.
    """
    from digram.corpus import Files

    if text is not None:
        if file != "-":
            raise click.UsageError("give a FILE or --text, not both.")
        if read_options != _reading.ReadOptions():
            raise click.UsageError(
                "options for reading files have no effect with --text; leave them out."
            )
        yield "--text", None, os.fsencode(text)  # the bytes that were typed, even if not UTF-8
        return
    try:
        sources = named((file,), read_options)
    except FileNotFoundError as error:
        error.add_note("To use the argument itself as text, pass it with --text.")
        raise
    for one in sources.sources:
        if isinstance(one, Files):
            _reading.one_of(one, file)
    several = sources.hold_several
    for name, documents in sources:
        for number, data in enumerate(documents):
            yield name, number if several else None, data


def _whole(
    texts: Iterator[bytes | Unread], seen: Pass, advance: Callable[[int], None]
) -> Iterator[bytes]:
    from digram.corpus import Unread

    done = seen.done
    for text in texts:
        yield text.whole() if isinstance(text, Unread) else text
        advance(seen.done - done)
        done = seen.done
    advance(seen.done - done)


@contextmanager
def where(name: str, document: int | None) -> Iterator[None]:
    """Add the file and the document number, from 0, to an error about a text.

    An `OptionError` is about an option and is not changed.
    """
    from digram.errors import DigramError, OptionError, placed

    try:
        yield
    except DigramError as error:
        if not isinstance(error, OptionError):
            error.path = "stdin" if name == "-" else name
            if document is not None:
                placed(error, f"document {document:,}")
        raise
