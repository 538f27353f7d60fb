"""Arguments that several calls take, checked and brought into the form of the core."""

from __future__ import annotations

from collections.abc import Iterable

from digram.errors import OptionError
from digram.special import OnSpecial

__all__ = ["check_threads", "rule_of", "several_texts"]


def several_texts(texts: Iterable[str | bytes], one: str) -> list[str | bytes]:
    """The texts as a list; `one` is the call for a single text, which is no batch of letters."""
    if isinstance(texts, str | bytes):
        raise TypeError(f"texts is several texts; pass one text to {one}, or put it in a list")
    return texts if isinstance(texts, list) else list(texts)


def rule_of(special: OnSpecial) -> OnSpecial | None:
    """What the core is told of special tokens; nothing in the usual case, which is the fastest."""
    return None if special == "text" else special


def check_threads(threads: int | None) -> None:
    """Refuses fewer than one thread."""
    if threads is not None and threads < 1:
        raise OptionError(f"threads={threads} is not at least 1.", value=threads)
