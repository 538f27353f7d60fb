"""Alternatives that begin alike match as backtracking finds them, one after the other."""

from __future__ import annotations

import random

import pytest
import regex
from tokenizers import Regex as TheirRegex
from tokenizers.pre_tokenizers import Split

from digram import Regex, pretokenize

ATOMS = ["a", "b", "[ab]", "c", "[^a]", " ", "(?:a|ab)", "(?:ab?|b)"]
REPEATS = ["", "", "*", "+", "?", "*?", "??", "{1,2}"]
KNOWN = ["xa?ab|xa?", "xa*ab|xa*", "(?:x(?:a|ab)c|x(?:a|ab))b?", " *[0-9]*| *a|x", "xa??|xa??b"]


def some(rng: random.Random, most: int) -> str:
    return "".join(rng.choice(ATOMS) + rng.choice(REPEATS) for _ in range(rng.randrange(most + 1)))


def found(pattern: str, text: str) -> list[str]:
    """The pieces that matches of the `regex` package cut."""
    pieces, at = [], 0
    for match in regex.finditer(pattern, text, flags=regex.VERSION1):
        pieces += [text[at : match.start()], match[0]]
        at = match.end()
    return [piece for piece in [*pieces, text[at:]] if piece]


@pytest.mark.parametrize("pattern", KNOWN)
def test_known(pattern: str) -> None:
    pattern = f"(?:{pattern})b|b"  # so that it cannot match nothing
    split = Split(TheirRegex(pattern), "isolated")
    for text in ("xab", "xaab", "xabcb", "xabb", " 1a b", "aab xaabab"):
        expected = found(pattern, text)
        assert pretokenize(text, Regex(pattern)) == expected
        assert [piece for piece, _ in split.pre_tokenize_str(text)] == expected


def test_random_patterns() -> None:
    """2,000 patterns with alternatives that begin alike, on 20 texts each."""
    rng = random.Random(5)
    differently = 0
    for _ in range(2_000):
        start = f"x{some(rng, 2)}"
        branches = [start + some(rng, 2) for _ in range(rng.randrange(2, 4))]
        pattern = "|".join(branches)
        if rng.random() < 0.3:
            pattern = f"(?:{pattern}){rng.choice(['c', 'b?', '+'])}"
        once = f"{start}(?:{'|'.join(branch[len(start) :] for branch in branches)})"
        split = Split(TheirRegex(pattern), "isolated")
        for _ in range(20):
            text = "".join(rng.choices("aaabbcx x", k=rng.randrange(14)))
            expected = found(pattern, text)
            assert pretokenize(text, Regex(pattern)) == expected, (pattern, text)
            assert [piece for piece, _ in split.pre_tokenize_str(text)] == expected
            differently += expected != found(once, text)
    assert differently > 100  # what the start matches depends on the alternative
