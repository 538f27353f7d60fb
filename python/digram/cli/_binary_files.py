"""Warn of binary files, which may have been named by accident, on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram.cli._printing import log
from digram.cli._verbs import verb_name

if TYPE_CHECKING:
    from digram.corpus import Files

__all__ = ["warn_of_files", "warn_of_stdin"]


def warn_of_files(*given: Files, unreadable: bool = False) -> None:
    """Warn of each text file that looks binary, and say what to do.

    A file that cannot be read raises an error, or is left to the verb if `unreadable` is true.
    """
    from digram.corpus.binary_files import messages

    _warn(messages(given, unreadable=unreadable))


def warn_of_stdin(start: bytes, separator: bytes | None) -> None:
    """Warn if the start of stdin looks binary."""
    from digram.corpus.binary_files import SAMPLE, why

    reason = why(start[:SAMPLE], separator)
    if reason is not None:
        _warn([f"stdin looks binary: {reason}."])


def _warn(told: list[str]) -> None:
    from digram.corpus.binary_files import remedy

    for message in told:
        log(f"Warning: {message}")
    if told:
        log(remedy(f"`digram {verb_name()}`"))
