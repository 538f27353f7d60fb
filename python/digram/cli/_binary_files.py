r"""Warn of binary files, which may have been named by accident.

>>> why(b"caf\xe9 au lait"), why(b"\x7fELF\x02\x00"), why(bytes(range(128, 228)))
(None, 'it contains NUL bytes', '100% of its first 100 bytes are not UTF-8')
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from digram.cli._printing import log
from digram.cli._verbs import verb_name
from digram.errors import several

if TYPE_CHECKING:
    from pathlib import Path

    from digram.corpus import Files

__all__ = ["warn_of_files", "warn_of_stdin", "why"]

_SAMPLE = 8192  # bytes; git, grep and less check about as many
_MAX_INVALID = 0.3  # share; Western text in Latin-1 has far less, images and archives far more
_MAX_WARNINGS = 10  # so that a folder of thousands of images does not flood the terminal


def why(start: bytes) -> str | None:
    """Why the start of a file does not look like text; None if it does."""
    if b"\0" in start:
        return "it contains NUL bytes"
    try:
        start.decode()
    except UnicodeDecodeError:
        text = start.decode("utf-8", "surrogateescape")
        wrong = sum("\udc80" <= character <= "\udcff" for character in text)
        if wrong > _MAX_INVALID * len(start):
            return (
                f"{wrong / len(start):.0%} of its first {several(len(start), 'byte')} are not UTF-8"
            )
    return None


def warn_of_files(*given: Files, unreadable: bool = False) -> None:
    """Warn on stderr of each text file that looks binary, and say what to do.

    A file that cannot be read raises an error, or is left to the verb if `unreadable` is true.
    """
    from digram.errors import CorruptFileError

    number = 0
    left = (OSError, CorruptFileError) if unreadable else ()
    for files in given:
        for path in files.paths:
            reason = None
            with contextlib.suppress(*left):
                reason = _why(_start(files, path), files.separator)
            number += reason is not None
            if reason is not None and number <= _MAX_WARNINGS:
                _warn(click.format_filename(path), reason)
    if number > _MAX_WARNINGS:
        log(f"Warning: {several(number - _MAX_WARNINGS, 'more file')} look binary.")
    if number:
        log(_remedy())


def warn_of_stdin(start: bytes, separator: bytes | None) -> None:
    """Warn on stderr if the start of stdin looks binary."""
    reason = _why(start[:_SAMPLE], separator)
    if reason is not None:
        _warn("stdin", reason)
        log(_remedy())


def _start(files: Files, path: Path) -> bytes:
    """The first bytes of a text file, decompressed; none of a file of records."""
    from digram.corpus import Pass, Stream

    kind = files.kind(path)
    if kind.form != "text":
        return b""
    with path.open("rb") as file:
        return next(Stream(file, path, kind).written(Pass(), _SAMPLE), b"")


def _remedy() -> str:
    return (
        f"`digram {verb_name()}` reads these bytes as text. If that is not intended, exclude the "
        "file, for example with 'folder/**/*.txt'; if it is text in another encoding, convert it "
        "to UTF-8 first."
    )


def _why(start: bytes, separator: bytes | None) -> str | None:
    return why(start.replace(separator, b"") if separator else start)


def _warn(name: str, reason: str) -> None:
    log(f"Warning: {name} looks binary: {reason}.")
