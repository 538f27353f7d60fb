"""The texts on which programs are compared: real documents, and random Unicode."""

from __future__ import annotations

import random
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from strategies import SOUP

CORPORA = ("en", "code", "multi", "med")
SEPARATOR = "<|endoftext|>"


def documents(path: Path) -> list[str]:
    """The documents of a corpus file."""
    return path.read_text(encoding="utf-8").split(SEPARATOR)


def batches(texts: Sequence[str], size: int = 4_000_000) -> Iterator[list[str]]:
    """The texts in batches of about `size` characters, so that the ids of each fit into memory."""
    batch, held = [], 0
    for text in texts:
        batch.append(text)
        held += len(text)
        if held >= size:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def first_megabytes(texts: Sequence[str], megabytes: float) -> list[str]:
    """Whole documents from the first on, until they hold so many bytes of UTF-8."""
    chosen, held = [], 0
    for text in texts:
        if held >= megabytes * 1e6:
            break
        chosen.append(text)
        held += len(text.encode())
    return chosen


# --- white space

SPACES = [
    *("\t", "\n", "\x0b", "\x0c", "\r", " ", "\x85", "\xa0", "\u1680", "\u2000", "\u2003"),
    *("\u2007", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"),
]
"""White space of every kind, and none that only looks like it."""

ENDINGS = [
    *SPACES,
    *(two * 2 for two in SPACES),
    *("\r\n", "\r\n\r\n", " \n", "\n ", "  \n", "\n  ", " \r\n ", "\t\n\t", " \t ", "\n\n\n "),
    *("   ", " " * 17, "\n" * 9, "\t" * 5, "\u3000\n", "\xa0 ", " \xa0", "\u2028\n", "\x85 \x85"),
    *(" \u200b", "\u200b ", "\x1c", "\x1f ", "\u180e ", "\ufeff ", " \ufeff", "\u2060\n"),
]
"""What a document may end in; the corpora end in none of it."""


def with_endings(texts: Sequence[str], each: int, tail: int = 200) -> list[str]:
    """The last characters of each text with `each` endings, all of which have their turn."""
    return [
        text[-tail:] + ENDINGS[(number * each + turn) % len(ENDINGS)]
        for number, text in enumerate(texts)
        for turn in range(each)
    ]


# --- random Unicode

_MORE = [
    *("'ſ", "'K", "'ſt", "'Ll", "'rE", "'VE", "’s", "''s", "'", "'\u0301s", "ſs", "K", "Å", "ẞ"),
    *("İ", "ı", "Dž", "ǈ", "ﬁ", "ŉ", "ΐ", "ͅ", "Σ", "ς", "Ꭰ", "ꭰ", "Ა", "ა", "𐐀", "𐐨", "𞤀", "𞤢"),
    *("½", "¾", "๑๒๓", "०१", "٣٤٥", "１２", "Ⅷ", "㊿", "𝟘𝟙", "²", "৴", "123", "4567", "1,234.5"),
    *("中文", "字", "ひらがな", "カナ", "한국어", "한", "ภาษา", "हिन्दी", "தமிழ்", "မြန်မာ"),
    *("שלום", "عربي", "Привет", "Ελλάδα", "Ñandú", "e\u0301", "a\u0308\u0304", "\u0301\u0301"),
    *("👩‍👩‍👧", "🏳️‍🌈", "🇩🇪", "☺️", "\U000e0067", "\u200d", "\u200c", "\ufe0f", "\U0001fae9"),
    *("\u0378", "\u2fe0", "\U000e1000", "\U0001c000", "\U0003ffff", "\U0010ffff", "\ue000"),
    *("HTTPServer", "camelCase", "don't", "WE'LL", "I'm", "o'clock", "/", "//", "\r\n/", ".\n/"),
    *("\x00", "\x1c", "\x7f", "\u200b", "\u180e", "\ufffd", "\ufeff", "<|endoftext|", "_", "__"),
]


@cache
def _by_category() -> list[list[str]]:
    """All characters by general category, unassigned ones too; surrogates are none."""
    found = defaultdict(list)
    for point in range(sys.maxunicode + 1):
        found[unicodedata.category(chr(point))].append(chr(point))
    del found["Cs"]
    return [found[name] for name in sorted(found)]


def _soup(source: random.Random) -> Iterator[str]:
    pieces = [*SOUP, *_MORE, *SPACES, *SPACES]
    categories = _by_category()
    while True:
        kind = source.random()
        if kind < 0.55:
            yield from source.choices(pieces, k=3)
        elif kind < 0.75:
            yield source.choice(source.choice(categories))
        elif kind < 0.85:
            yield source.choice(source.choice(categories)) * source.randrange(1, 9)
        elif kind < 0.95:
            yield source.choice(SPACES) * source.randrange(1, 9)
        else:  # some letters of one block, as in a word
            first = source.choice(source.choice(categories))
            last = min(ord(first) + 24, sys.maxunicode)
            word = [chr(source.randint(ord(first), last)) for _ in range(6)]
            yield "".join(c for c in word if not "\ud800" <= c <= "\udfff")


@cache
def soups(number: int, seed: int = 2) -> list[str]:
    """Random texts in which the classes that patterns tell apart meet; the same in every run."""
    source = random.Random(seed)
    pieces = _soup(source)
    return ["".join(islice(pieces, source.randrange(1, 25))) for _ in range(number)]
