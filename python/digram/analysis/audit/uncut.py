r"""Which strings a pretokenizer can leave whole: alone, or as a part of a longer pretoken.

A token stands in a pretoken. So where every text is cut within a token, no text becomes it. Two
facts decide that for the published patterns and for digits cut first; docs/audit.md proves the
first, and the tests try both on texts in which all classes of characters meet.

1. A pretoken of any text is, as a text of its own, one pretoken.
2. What is a part of any pretoken is a part of one that has a few characters more at either end,
   those of `BEFORE` and `AFTER`: they lead to every state that the patterns can be in.

>>> from digram.pretokenizers.pretokenizer import Regex, resolve
>>> decides(resolve("o200k")), decides(resolve(Regex("a+")))
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from digram.pretokenizers.pretokenizer import Pretokenizer

__all__ = ["AFTER", "BEFORE", "CHARACTERS", "around", "can_end", "can_start", "decides", "is_cut"]

BEFORE = (
    "", "a", "A", "中", "ก", "\u0301", "1", "12", " ", "\t", "\n", " \n", "!", " !", "!\n", "-",
    "€", "\x00", "'", "a'", "A'", "a'r", "a'v", "a'l", "'r", "'v", "'l", "!a", " a", " A", " 1",
)  # fmt: skip
"""What may stand before: one text for each state of a pattern."""

AFTER = ("", "a", "s", "e", "l", "\n", "A", "中", "\u0301", "1", "!")
"""What may stand after: one text for each way on."""

CHARACTERS = (
    *map(chr, range(0x80)),
    "é", "É", "ǅ", "ʰ", "中", "ก", "\u0301", "٣", "—", "€", "\u3000", "\u200b", "ſ",
)  # fmt: skip
"""Those of ASCII, and of the others one of each class."""


def decides(pretokenizer: Pretokenizer) -> bool:
    """Whether `is_cut` is known to be right: for published patterns, and where nothing is cut. What
    rules cut out may need more around it.
    """
    known = pretokenizer.name is not None or not pretokenizer.patterns
    return known and pretokenizer.rules is None


def around(text: bytes) -> Iterator[bytes]:
    """A text with what may stand around it, the shortest first."""
    for after in AFTER:
        for before in BEFORE:
            yield before.encode() + text + after.encode()


def is_cut(split: Callable[[bytes], list[bytes]], text: bytes) -> bool:
    r"""Whether every text that holds this one is cut within it.

    >>> from digram.pretokenizers.pretokenizer import resolve
    >>> split = resolve("o200k").splitter().split
    >>> [is_cut(split, text) for text in (b"play:", b"e'", b" 12", b"\n/")]
    [True, False, True, False]

    An apostrophe stands with letters in `we're`, and a line's end with a slash in `.\n/`.
    """
    return all(len(split(whole)) > 1 for whole in around(text))


def can_start(split: Callable[[bytes], list[bytes]], text: bytes) -> bool:
    """Whether a pretoken can begin with a text."""
    return any(len(split(text + after.encode())) == 1 for after in AFTER)


def can_end(split: Callable[[bytes], list[bytes]], text: bytes) -> bool:
    """Whether a pretoken can end with a text."""
    return any(len(split(before.encode() + text)) == 1 for before in BEFORE)
