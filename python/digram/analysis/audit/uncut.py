r"""Which strings a pretokenizer can leave whole: by themselves, or as a part of a longer pretoken.

A token lies within a pretoken. So if every text that contains a token is split inside it, no text
becomes the token. Two facts decide that for the published patterns and for digits that are split
first; docs/audit.md proves the first, and the tests check both on texts that combine all classes of
characters.

1. A pretoken of any text is, as a text of its own, one pretoken.
2. A part of any pretoken is also a part of one that extends it by a few characters at either end,
   those of `BEFORE` and `AFTER`: they lead to every state of the patterns.

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
"""Prefixes: one text for each state of a pattern."""

AFTER = ("", "a", "s", "e", "l", "\n", "A", "中", "\u0301", "1", "!")
"""Suffixes: one text for each way a pattern can continue."""

CHARACTERS = (
    *map(chr, range(0x80)),
    "é", "É", "ǅ", "ʰ", "中", "ก", "\u0301", "٣", "—", "€", "\u3000", "\u200b", "ſ",
)  # fmt: skip
"""All ASCII characters, and one character of each other class."""


def decides(pretokenizer: Pretokenizer) -> bool:
    """Whether `is_cut` is known to be right: for published patterns, and without a pretokenizer.

    Pieces that rules cut out may need a longer context.
    """
    is_published = pretokenizer.name is not None or not pretokenizer.patterns
    return is_published and pretokenizer.rules is None


def around(text: bytes) -> Iterator[bytes]:
    """A text with possible prefixes and suffixes, the shortest first."""
    for after in AFTER:
        for before in BEFORE:
            yield before.encode() + text + after.encode()


def is_cut(split: Callable[[bytes], list[bytes]], text: bytes) -> bool:
    r"""Whether every text that contains this one is split inside it.

    >>> from digram.pretokenizers.pretokenizer import resolve
    >>> split = resolve("o200k").splitter().split
    >>> [is_cut(split, text) for text in (b"play:", b"e'", b" 12", b"\n/")]
    [True, False, True, False]

    An apostrophe joins letters in `we're`, and a line feed joins a slash in `.\n/`.
    """
    return all(len(split(whole)) > 1 for whole in around(text))


def can_start(split: Callable[[bytes], list[bytes]], text: bytes) -> bool:
    """Whether a pretoken can begin with a text."""
    return any(len(split(text + after.encode())) == 1 for after in AFTER)


def can_end(split: Callable[[bytes], list[bytes]], text: bytes) -> bool:
    """Whether a pretoken can end with a text."""
    return any(len(split(before.encode() + text)) == 1 for before in BEFORE)
