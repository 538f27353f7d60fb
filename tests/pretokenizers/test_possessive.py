"""Possessive repetitions and atomic groups match as in Python's `re`, or are refused."""

from __future__ import annotations

import random
import re

import pytest

from digram import PatternError, Pretokenizer, Regex, _core, pretokenize

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
        for text in some_texts(rng):
            assert splitter.split(text) == pieces(pattern, text), (pattern, text)
    assert accepted > 1_000
    assert refused > 500


def some_texts(rng: random.Random) -> list[str]:
    return ["".join(rng.choices("aabbc1 ", k=rng.randrange(12))) for _ in range(30)]


def grouped(rng: random.Random, depth: int = 0) -> str:
    """A pattern with atomic groups."""

    def part() -> str:
        if depth < 2 and rng.random() < 0.4:
            opening = rng.choice(["(?>", "(?>", "(?:", "(?=", "(?!"])
            many = rng.choice(["", "", "+", "?"]) if opening[2] in ">:" else ""
            return f"{opening}{grouped(rng, depth + 1)}){many}"
        return rng.choice(ATOMS) + rng.choice(REPEATS[:5])

    branches = ("".join(part() for _ in range(rng.randrange(1, 4))) for _ in range(3))
    return "|".join([*branches][: rng.randrange(1, 4)])


def test_random_patterns_with_atomic_groups() -> None:
    """8,000 patterns, of which more than 600 are accepted, on 30 texts each."""
    rng = random.Random(4)
    accepted = refused = 0
    for _ in range(8_000):
        pattern = grouped(rng)
        if "(?>" not in pattern:
            continue
        try:
            splitter = Pretokenizer(Regex(pattern)).splitter()
        except PatternError as error:
            refused += "an atomic group" in str(error)
            continue
        if _core.pattern_facts(pattern)[0]:  # `re` goes on otherwise after a match of nothing
            continue
        accepted += 1
        for text in some_texts(rng):
            assert splitter.split(text) == pieces(pattern, text), (pattern, text)
    assert accepted > 600
    assert refused > 500


@pytest.mark.parametrize(
    ("pattern", "plain"),
    [
        (r"(?>\p{L}+)|(?>\s+)|.", r"\p{L}+|\s+|."),
        (r"(?>\r\n|[\n-\r])+", r"(?:\r\n|[\n-\r])+"),
        (r"(?>[^\r\n\p{L}]\p{L}+)(?!\p{L})", r"[^\r\n\p{L}]\p{L}+"),
        (r"(?i:(?>'s|'t))|(?>(?:\p{N}{3}))x", r"(?i:'s|'t)|\p{N}{3}x"),
        (r"[(?>]+", r"[(>?]+"),
    ],
)
def test_atomic_groups_that_change_nothing(pattern: str, plain: str) -> None:
    for text in ["It's 123x1 naïve\r\n\r\n  wor'Tds,,\n (?>)", "", "  ", "\r\r\n'T12 345x"]:
        assert pretokenize(text, Regex(pattern)) == pretokenize(text, Regex(plain))


@pytest.mark.parametrize("pattern", ["(?>a+)ab", "(?>a|ab)c", "(?>a+?)b", "(?:(?>a+)b?)+c"])
def test_atomic_groups_that_may_change_something_are_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match=r"an atomic group \(\?>...\) is supported only if"):
        Pretokenizer(Regex(pattern))
    with pytest.raises(PatternError, match="an atomic group is not supported in a look-behind"):
        Pretokenizer(Regex(f"(?<=(?>a+))b|{pattern}"))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_patterns_of_published_encodings_are_accepted(encoding: str) -> None:
    pattern = ENCODINGS[encoding]
    plain = re.sub(r"([+*?]|\{1,3\})\+", r"\1", pattern)
    for text in ["It's 12345 naïve\n\n  words,,\n end  ", "", "  ", "a\n b1234'LL", "你好 ٣٣٣٣"]:
        assert pretokenize(text, Regex(pattern)) == pretokenize(text, Regex(plain))


@pytest.mark.parametrize("pattern", ["a++a", "[ab]*+b", "(?:ab)++a", "(?:a++b?)+c", "a?+."])
def test_what_could_use_a_character_that_is_given_back_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="a possessive quantifier"):
        Pretokenizer(Regex(pattern))


def test_many_possessive_repetitions_are_one_mark() -> None:
    pattern = "|".join(f"{letter}++" for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP")
    assert pretokenize("aabbccZZ", Regex(pattern)) == ["aa", "bb", "cc", "ZZ"]
