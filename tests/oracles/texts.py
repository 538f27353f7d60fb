"""The texts on which programs are compared: real documents, and random Unicode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from digram.analysis.verification import TextGenerator

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


@cache
def soups(number: int, seed: int = 2) -> list[str]:
    """Random texts in which the classes that patterns tell apart meet; the same in every run."""
    return [*TextGenerator().texts(number, seed)]
