"""Writing to stdout: bytes, text, JSON and tables; and messages on stderr."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

__all__ = [
    "emit",
    "emit_bytes",
    "emit_json",
    "emit_table",
    "emit_whole",
    "heading",
    "is_colored",
    "log",
]


def emit(text: str, *, flush: bool = False) -> None:
    """Write text to stdout as UTF-8 in any locale; `flush` if more output comes much later."""
    emit_bytes(text.encode("utf-8", "backslashreplace"), flush=flush)


def emit_bytes(data: bytes, *, flush: bool = False) -> None:
    """Write all of `data` to stdout."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "stdout is closed")
    rest = memoryview(data)
    while rest:  # with PYTHONUNBUFFERED a write may be partial
        rest = rest[sys.stdout.buffer.write(rest) :]
    if flush:
        sys.stdout.buffer.flush()


def emit_whole(data: bytes, what: str) -> None:
    """Write data to stdout that is useless when incomplete."""
    try:
        emit_bytes(data, flush=True)
    except BrokenPipeError:
        # A reader may stop early in a text, but a part of this data is an error.
        raise OSError(
            errno.EIO, f"the reader stopped before {what} was written", "stdout"
        ) from None


def emit_json(value: Any) -> None:
    """Print a value as JSON, one line for each item of a list of objects."""
    import json

    emit(json.dumps(value, ensure_ascii=False) + "\n")


def emit_table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows of numbers and a name, aligned; the titles on a terminal only."""
    table = [[str(cell) for cell in row] for row in rows]
    if sys.stdout is not None and sys.stdout.isatty():  # programs expect only the numbers
        table.insert(0, [*titles])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)][:-1]
    for *cells, name in table:
        aligned = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        emit(f"{'  '.join(aligned)}  {name}".rstrip() + "\n")


def heading(text: str) -> str:
    """A heading for stdout: bold if colours are shown."""
    from digram.display.terminal import use_color

    return f"\x1b[1m{text}\x1b[0m" if use_color(sys.stdout) else text


def log(message: str) -> None:
    """Write a message to stderr, for people."""
    click.echo(message, err=True)


def is_colored(color: bool | None) -> bool:
    """Whether tokens are shown in colours, for the value of `--color`."""
    from digram.display.terminal import use_color

    return use_color(sys.stdout) if color is None else color
