"""Patterns that depend on the next character match as in Python's `re`, also behind long runs."""

from __future__ import annotations

import random
import re

import pytest

from digram import PatternError, Pretokenizer, Regex, _core, pretokenize

ATOMS = ["[ab]", "[^c]", r"\s", "a", "b", " ", r"\n", r"[\n ]", "[abc]", "é", "[aé]"]
REPEATS = ["", "+", "+", "*", "?", "{1,3}", "+?"]
NEXT = ["", "(?=a)", "(?!b)", r"(?!\S)", r"(?=\n)", r"(?![^\n])", "(?=[aé])", "$"]


def pieces(pattern: str, text: str) -> list[str]:
    found, at = [], 0
    for match in re.finditer(pattern.replace("$", r"\Z"), text):
        if match.end() > match.start():
            found += [text[at : match.start()], match[0]]
            at = match.end()
    return [piece for piece in [*found, text[at:]] if piece]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("[ab]+(?=a)", "aaabc", ["aa", "abc"]),
        (r"\s+(?![^\n])", "\n\n\n  ab", ["\n\n", "\n  ab"]),
        ("[aé]+(?=é)", "aéééac", ["aéé", "éac"]),
    ],
)
def test_a_run_that_matched_before_its_last_character(
    pattern: str, text: str, expected: list[str]
) -> None:
    assert pretokenize(text, Regex(pattern)) == expected
    assert pretokenize(text + "x" * 99, Regex(pattern))[0] == expected[0]


def test_random_patterns() -> None:
    """More than 1,500 patterns on 30 texts each."""
    rng = random.Random(6)
    accepted = 0
    for _ in range(3_000):
        branches = [
            "".join(rng.choice(ATOMS) + rng.choice(REPEATS) for _ in range(rng.randrange(1, 4)))
            + rng.choice(NEXT)
            for _ in range(rng.randrange(1, 4))
        ]
        pattern = "|".join(branches)
        try:
            splitter = Pretokenizer(Regex(pattern)).splitter()
        except PatternError:
            continue
        if _core.pattern_facts(pattern)[0]:  # `re` goes on otherwise after a match of nothing
            continue
        accepted += 1
        for _ in range(30):
            runs = (rng.choice("abcé \n") * rng.choice([1, 1, 2, 3, 70]) for _ in range(6))
            text = "".join(runs)
            assert splitter.split(text) == pieces(pattern, text), (pattern, text)
    assert accepted > 1_500
