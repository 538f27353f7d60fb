"""Possessive repetitions match as in Python's `re`, or are refused."""

from __future__ import annotations

import random
import re

import pytest

from digram import PatternError, Pretokenizer, Regex, pretokenize

ATOMS = ["a", "b", "[ab]", "[^a]", "[^ab]", "c", "[0-9]", " "]
REPEATS = ["", "+", "*", "?", "{1,3}", "++", "*+", "?+", "{1,3}+", "{2}+"]
ENCODINGS = {
    "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "r50k_base": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
}


def pieces(pattern: str, text: str) -> list[str]:
    found, at = [], 0
    for match in re.finditer(pattern, text):
        if match.end() > match.start():
            found += [text[at : match.start()], match[0]]
            at = match.end()
    return [piece for piece in [*found, text[at:]] if piece]


def test_random_patterns() -> None:
    """4,000 patterns, of which more than 1,000 are accepted, on 30 texts each."""
    rng = random.Random(3)
    accepted = refused = 0
    for _ in range(4_000):
        parts = [
            "".join(rng.choice(ATOMS) + rng.choice(REPEATS) for _ in range(rng.randrange(1, 4)))
            + rng.choice(["", "", "", "$"])
            for _ in range(rng.randrange(1, 4))
        ]
        pattern = "|".join(parts)
        if rng.random() < 0.2:
            pattern = f"(?:{pattern})c"
        if not re.search(r"[+*?}]\+", pattern):
            continue
        try:
            splitter = Pretokenizer(Regex(pattern)).splitter()
        except PatternError:
            refused += 1
            continue
        accepted += 1
        for _ in range(30):
            text = "".join(rng.choices("aabbc1 ", k=rng.randrange(12)))
            assert splitter.split(text) == pieces(pattern, text), (pattern, text)
    assert accepted > 1_000
    assert refused > 500


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_patterns_of_published_encodings_are_accepted(encoding: str) -> None:
    pattern = ENCODINGS[encoding]
    plain = re.sub(r"([+*?]|\{1,3\})\+", r"\1", pattern)
    for text in ["It's 12345 naïve\n\n  words,,\n end  ", "", "  ", "a\n b1234'LL", "你好 ٣٣٣٣"]:
        assert pretokenize(text, Regex(pattern)) == pretokenize(text, Regex(plain))


@pytest.mark.parametrize("pattern", ["a++a", "[ab]*+b", "(?:ab)++", "(?:a++b?)+", "a?+."])
def test_what_could_use_a_character_that_is_given_back_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="a possessive quantifier"):
        Pretokenizer(Regex(pattern))


def test_many_possessive_repetitions_are_one_mark() -> None:
    pattern = "|".join(f"{letter}++" for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP")
    assert pretokenize("aabbccZZ", Regex(pattern)) == ["aa", "bb", "cc", "ZZ"]
