r"""Warn of binary files, which may have been named by accident.

>>> why(b"caf\xe9 au lait"), why(b"\x7fELF\x02\x00"), why(bytes(range(128, 228)))
(None, 'it contains NUL bytes', '100% of its first 100 bytes are not UTF-8')
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from digram._util.warning import warn
from digram._util.wording import is_in_a_shell
from digram.corpus.file_source import Files, Stream
from digram.corpus.reader import Pass
from digram.errors import CorruptFileError, several

__all__ = ["messages", "remedy", "warn_of_binary", "why"]

SAMPLE = 8192  # bytes; git, grep and less check about as many
_MAX_INVALID = 0.3  # share; Western text in Latin-1 has far less, images and archives far more
_MAX_WARNINGS = 10  # so that a folder of thousands of images does not flood the terminal


def why(start: bytes, separator: bytes | None = None) -> str | None:
    """Why the start of a file does not look like text; None if it does."""
    start = start.replace(separator, b"") if separator else start
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


def messages(given: Iterable[Files], *, unreadable: bool = False) -> list[str]:
    r"""A message about each text file that looks binary; after ten, only their number.

    >>> path = getfixture("tmp_path") / "a"
    >>> _ = path.write_bytes(b"\0")
    >>> [told] = messages([Files((path,))])
    >>> told.removeprefix(str(path))
    ' looks binary: it contains NUL bytes.'

    Reads the start of each file. One that cannot be read raises an error, or is left to the caller
    if `unreadable` is true.
    """
    told: list[str] = []
    more = 0
    left = (OSError, CorruptFileError) if unreadable else ()
    for files in given:
        for path in files.paths:
            reason = None
            with contextlib.suppress(*left):
                reason = why(_start(files, path), files.separator)
            if reason is None:
                continue
            if len(told) < _MAX_WARNINGS:
                told.append(f"{path} looks binary: {reason}.")
            else:
                more += 1
    return [*told, f"{several(more, 'more file')} look binary."] if more else told


def remedy(reader: str) -> str:
    """What to do about binary files; `reader` is what reads them."""
    return (
        f"{reader} reads these bytes as text. If that is not intended, exclude the file, for "
        "example with 'folder/**/*.txt'; if it is text in another encoding, convert it to UTF-8 "
        "first."
    )


def warn_of_binary(given: Iterable[Files], reader: str) -> None:
    """Warn of text files that look binary; a verb of the command line has done so before."""
    told = [] if is_in_a_shell() else messages(given, unreadable=True)
    if told:
        warn(" ".join([*told, remedy(reader)]))


def _start(files: Files, path: Path) -> bytes:
    """The first bytes of a text file, decompressed; none of a file of records or of a pipe."""
    kind = files.kind(path)
    if kind.form != "text" or not path.is_file():
        return b""
    with path.open("rb") as file:
        return next(Stream(file, path, kind).written(Pass(), SAMPLE), b"")
