"""The texts of each file that arguments name, for verbs that tell of files one by one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import click

from digram.cli import common, corpus

if TYPE_CHECKING:
    from digram.corpus import Files, Pass, Stream, Unread

__all__ = ["Holder", "Named", "given", "named", "where"]


class Holder(NamedTuple):
    """A file, or stdin."""

    name: str
    """As a table shows it; `-` for stdin."""
    texts: Iterator[bytes]
    """One after the other, to be read before those of the next."""


@dataclass(frozen=True, slots=True)
class Named:
    """What arguments name: made by `named`, iterated as `Holder`s."""

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
        """All of it; a bar shows how far it is, and what was skipped is told at the end, once."""
        from digram._util.progress import progress
        from digram.corpus import Files, Pass

        seen, total = Pass(), 0
        for one in self.sources:
            total += one.size if isinstance(one, Files) else 0
        # How much comes through stdin is not known.
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
    told: common.Told,
    title: str | None = None,
    missing: Callable[[OSError], None] | None = None,
) -> Named:
    """What arguments name, stdin for - or without any; a bar has this title, where there is one.

    What is not there is told before anything is read: raised, or given to `missing`.
    """
    sources: list[Files | Stream] = []
    for name in arguments or ("-",):
        try:
            sources.append(corpus.stdin(told) if name == "-" else common.files(name, told=told))
        except OSError as error:
            if missing is None:
                raise
            missing(error)
    return Named(tuple(sources), title)


def given(
    file: str, text: str | None, told: common.Told
) -> Iterator[tuple[str, int | None, bytes]]:
    """The texts of the one FILE, of stdin or of `--text`: a name, a number if any, and the text.

    The one rule of all verbs that show what becomes of a text.
    """
    from digram.corpus import Files

    if text is not None:
        if file != "-":
            raise click.UsageError("give a FILE or --text, not both.")
        if told != common.Told():
            raise click.UsageError(
                "options that say how files are read do nothing beside --text; leave them out."
            )
        yield "--text", None, os.fsencode(text)  # the bytes that were typed, UTF-8 or not
        return
    try:
        found = named((file,), told)
    except FileNotFoundError as error:
        error.add_note("For these letters as a text, give them with --text.")
        raise
    for one in found.sources:
        if isinstance(one, Files):
            common.one_of(one, file)
    several = found.hold_several
    for name, documents in found:
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
    """Let an error about a text say in which file that is, and as which of its documents, from 0.

    An `OptionError` is about what was typed.
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
