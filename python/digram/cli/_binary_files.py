r"""Warn of binary files, which may have been named by accident.

>>> why(b"caf\xe9 au lait"), why(b"\x7fELF\x02\x00"), why(bytes(range(128, 228)))
(None, 'it contains NUL bytes', '100% of its first 100 bytes are not UTF-8')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from digram.cli._common import log, several

if TYPE_CHECKING:
    from digram.corpus import Files

__all__ = ["warn_of_files", "warn_of_stdin", "why"]

_SAMPLE = 8192  # bytes; git, grep and less check about as many
_MAX_INVALID = 0.3  # share; Western text in Latin-1 has far less, images and archives far more
_MAX_WARNINGS = 10  # so that a folder of thousands of images does not flood the terminal
_REMEDY = (
    "Training learns from these bytes. If that is not intended, exclude the file, for example "
    "with 'folder/**/*.txt'; if it is text in another encoding, convert it to UTF-8 first."
)


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


def warn_of_files(files: Files) -> None:
    """Warn on stderr of each text file that looks binary, and say what to do."""
    from digram.corpus import Pass, Stream

    number = 0
    for path in files.paths:
        kind = files.kind(path)
        if kind.form != "text":
            continue
        with path.open("rb") as file:
            start = next(Stream(file, path, kind).written(Pass(), _SAMPLE), b"")
        reason = _why(start, files.separator)
        number += reason is not None
        if reason is not None and number <= _MAX_WARNINGS:
            _warn(click.format_filename(path), reason)
    if number > _MAX_WARNINGS:
        log(f"Warning: {several(number - _MAX_WARNINGS, 'more file')} look binary.")
    if number:
        log(_REMEDY)


def warn_of_stdin(start: bytes, separator: bytes | None) -> None:
    """Warn on stderr if the start of stdin looks binary."""
    reason = _why(start[:_SAMPLE], separator)
    if reason is not None:
        _warn("stdin", reason)
        log(_REMEDY)


def _why(start: bytes, separator: bytes | None) -> str | None:
    return why(start.replace(separator, b"") if separator else start)


def _warn(name: str, reason: str) -> None:
    log(f"Warning: {name} looks binary: {reason}.")
