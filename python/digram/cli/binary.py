r"""Files that do not look like text, which one may have named by accident.

>>> why(b"caf\xe9 au lait"), why(b"\x7fELF\x02\x00"), why(bytes(range(128, 228)))
(None, 'it holds NUL bytes', '100% of its first 100 bytes are no UTF-8')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from digram.cli.common import log, several

if TYPE_CHECKING:
    from digram.corpus import Files

__all__ = ["warn_of_files", "warn_of_stdin", "why"]

_SAMPLE = 8192  # bytes; git, grep and less look at about as many
_MOST = 0.3  # of them; Western text in Latin-1 stays far below, pictures and archives far above
_NAMED = 10  # files; a folder of thousands of pictures should not flood the terminal
_REMEDY = (
    "Such bytes are learned as they are. If that is not meant, leave the file out, as with "
    "'folder/**/*.txt'; if it is text in another encoding, convert it to UTF-8 first."
)


def why(start: bytes) -> str | None:
    """What makes the start of a file look like no text; None where nothing does."""
    if b"\0" in start:
        return "it holds NUL bytes"
    try:
        start.decode()
    except UnicodeDecodeError:
        text = start.decode("utf-8", "surrogateescape")
        wrong = sum("\udc80" <= character <= "\udcff" for character in text)
        if wrong > _MOST * len(start):
            return (
                f"{wrong / len(start):.0%} of its first {several(len(start), 'byte')} are no UTF-8"
            )
    return None


def warn_of_files(files: Files) -> None:
    """Says on stderr, once for each text file, which of them look binary, and what to do."""
    from digram.corpus import Pass, Stream

    found = 0
    for path in files.paths:
        kind = files.kind(path)
        if kind.form != "text":
            continue
        with path.open("rb") as file:
            start = next(Stream(file, path, kind).written(Pass(), _SAMPLE), b"")
        reason = _why(start, files.separator)
        found += reason is not None
        if reason is not None and found <= _NAMED:
            _warn(click.format_filename(path), reason)
    if found > _NAMED:
        log(f"Warning: so {'does' if found == _NAMED + 1 else 'do'} {found - _NAMED:,} more.")
    if found:
        log(_REMEDY)


def warn_of_stdin(start: bytes, separator: bytes | None) -> None:
    """The same for what stdin begins with."""
    reason = _why(start[:_SAMPLE], separator)
    if reason is not None:
        _warn("stdin", reason)
        log(_REMEDY)


def _why(start: bytes, separator: bytes | None) -> str | None:
    return why(start.replace(separator, b"") if separator else start)


def _warn(name: str, reason: str) -> None:
    log(f"Warning: {name} looks binary: {reason}.")
