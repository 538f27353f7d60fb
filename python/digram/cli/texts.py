"""The texts of each file that arguments name, for verbs that tell of files one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import click

from digram.cli import common

if TYPE_CHECKING:
    from digram.sources import Files, Pass, Stream, Unread

__all__ = ["Holder", "Named", "named", "where"]


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
    separator: str | None
    title: str | None

    @property
    def hold_several(self) -> bool:
        """Whether one of them may hold several texts."""
        from digram.sources import Files

        kinds = [
            kind
            for one in self.sources
            for kind in (map(one.kind, one.paths) if isinstance(one, Files) else [one.kind])
        ]
        return self.separator is not None or any(kind.form != "text" for kind in kinds)

    def __iter__(self) -> Iterator[Holder]:
        """All of it; a bar shows how far it is, and what was skipped is told at the end, once."""
        from digram.progress import progress
        from digram.sources import Files, Pass

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
                    separator = None if self.separator is None else self.separator.encode()
                    yield Holder("-", _whole(one.texts(seen, separator), seen, advance))
        seen.tell()


def named(arguments: Sequence[str], told: common.Told, title: str | None = None) -> Named:
    """What arguments name, stdin for - or without any; a bar has this title, where there is one.

    What is not there is told before anything is read.
    """
    sources = [
        _stdin(told) if name == "-" else common.files(name, told=told)
        for name in arguments or ("-",)
    ]
    return Named(tuple(sources), told.separator, title)


def _stdin(told: common.Told) -> Stream:
    from digram.sources import Stream, check_format
    from digram.sources.tables import column_path

    kind = check_format(told.format or "text")
    field = column_path(told.field, "field")
    return Stream(common.stdin(), "stdin", kind, field, told.on_error)


def _whole(
    texts: Iterator[bytes | Unread], seen: Pass, advance: Callable[[int], None]
) -> Iterator[bytes]:
    from digram.sources import Unread

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
