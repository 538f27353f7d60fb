r"""Files that do not look like text, which one may have named by accident.

>>> why(b"caf\xe9 au lait"), why(b"\x7fELF\x02\x00"), why(bytes(range(128, 228)))
(None, 'it holds NUL bytes', '100% of its first 100 bytes are no UTF-8')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from digram.cli.common import log, several

__all__ = ["warn_of_files", "watched", "why"]

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


def warn_of_files(paths: Iterable[Path], separator: str | None) -> None:
    """Says on stderr, once for each file, which of them look binary, and what to do."""
    found = 0
    for path in paths:
        with path.open("rb") as file:
            reason = _why(file.read(_SAMPLE), separator)
        found += reason is not None
        if reason is not None and found <= _NAMED:
            _warn(click.format_filename(path), reason)
    if found > _NAMED:
        log(f"Warning: so {'does' if found == _NAMED + 1 else 'do'} {found - _NAMED:,} more.")
    if found:
        log(_REMEDY)


def watched(documents: Iterable[bytes], separator: str | None) -> Iterator[bytes]:
    """The documents of stdin as they are, with the same warning where the first looks binary."""
    for number, document in enumerate(documents):
        reason = _why(document[:_SAMPLE], separator) if number == 0 else None
        if reason is not None:
            _warn("stdin", reason)
            log(_REMEDY)
        yield document


def _why(start: bytes, separator: str | None) -> str | None:
    cut = (separator or "").encode("utf-8", "surrogateescape")
    return why(start.replace(cut, b"") if cut else start)


def _warn(name: str, reason: str) -> None:
    log(f"Warning: {name} looks binary: {reason}.")
