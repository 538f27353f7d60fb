"""A pretokenizer cuts where the `regex` package says, and loses nothing, whatever the bytes."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import Any

import regex
from hypothesis import given
from hypothesis import strategies as st
from strategies import SOUP, any_bytes, cases, concatenations, sentences, soups, texts

import digram
from digram.pretokenizers.pretokenizer import NAMED, Pretokenizer

names = st.sampled_from(sorted(NAMED))
numbers = concatenations(["1", "23", "456", "7890", "a", " ", ",", "½", "٣", "\n", "é"], 10)
any_texts = soups | texts | sentences | numbers

DIGITS = {
    "individual": r"\p{N}",
    "threes_from_left": r"\p{N}{1,3}",
    "threes_from_right": r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))",
}
OWN = [r"\w+", r"[^\s]+|\s+", r"\p{L}+|\p{N}", r"a|ab|[^a]", r"(?i:ab)", r" ?[ab]+", r"\s+(?!\S)"]


def split(text: str, patterns: Sequence[str]) -> list[str]:
    """Each pattern cuts every piece; what lies between two matches is a piece as well."""
    pieces = [text] if text else []
    for pattern in patterns:
        found: list[str] = []
        for piece in pieces:
            at = 0
            for match in regex.finditer(pattern, piece):
                found += [piece[at : match.start()], match[0]]
                at = match.end()
            found.append(piece[at:])
        pieces = [piece for piece in found if piece]
    return pieces


@cases(1000)
@given(names, any_texts)
def test_published_patterns_cut_as_the_regex_package_does(name: str, text: str) -> None:
    assert digram.pretokenize(text, name) == split(text, NAMED[name].patterns)


@cases(250)
@given(names | st.none(), st.sampled_from(sorted(DIGITS)), numbers | any_texts)
def test_digits_are_cut_before_the_pattern(name: str | None, digits: Any, text: str) -> None:
    """Runs of digits stand apart from what surrounds them, so that no pattern joins them again."""
    patterns = NAMED[name].patterns if name else ()
    expected = split(text, [DIGITS[digits], *patterns])
    assert digram.pretokenize(text, Pretokenizer(name, digits=digits)) == expected


@cases(250)
@given(
    st.lists(st.sampled_from(OWN), max_size=3),
    concatenations(["a", "b", " ", "A", "1", "c", "  ", "é", "\n"], 12),
)
def test_patterns_of_ones_own(patterns: list[str], text: str) -> None:
    """In sequence; the gaps between matches become pretokens."""
    own = Pretokenizer([digram.Regex(pattern) for pattern in patterns])
    assert digram.pretokenize(text, own) == split(text, patterns)


any_pretokenizers = st.builds(
    Pretokenizer,
    names | st.none() | st.sampled_from(OWN).map(digram.Regex),
    digits=st.none() | st.sampled_from(sorted(DIGITS)),
)


@cases(250)
@given(any_pretokenizers, any_texts)
def test_pretokens_join_to_the_text(pretokenizer: Pretokenizer, text: str) -> None:
    pretokens = digram.pretokenize(text, pretokenizer)
    assert "".join(pretokens) == text
    assert all(pretokens)
    assert digram.pretokenize(text.encode(), pretokenizer) == [p.encode() for p in pretokens]


def decoded(data: bytes) -> list[tuple[str, bytes]]:
    """Each character with the bytes it stands for; U+FFFD stands for what is not UTF-8."""
    found: list[tuple[str, bytes]] = []
    at = 0

    def replace(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        invalid.append((error.start, error.end))
        return "\ufffd", error.end

    invalid: list[tuple[int, int]] = []
    codecs.register_error("digram-test", replace)
    text = data.decode("utf-8", errors="digram-test")
    for character in text:
        width = len(character.encode())
        if invalid and invalid[0][0] == at:
            start, end = invalid.pop(0)
            width = end - start
        found.append((character, data[at : at + width]))
        at += width
    return found


messy_bytes = any_bytes | st.builds(
    lambda text, start, end: text.encode()[start : len(text.encode()) - end] + text.encode()[end:],
    concatenations(SOUP, 6),
    st.integers(0, 3),
    st.integers(0, 3),
)


@cases(500)
@given(any_pretokenizers, messy_bytes)
def test_any_bytes_are_cut_as_their_replacement_characters(
    pretokenizer: Pretokenizer, data: bytes
) -> None:
    characters = decoded(data)
    expected: list[bytes] = []
    at = 0
    for pretoken in digram.pretokenize("".join(c for c, _ in characters), pretokenizer):
        end = at + len(pretoken)
        expected.append(b"".join(part for _, part in characters[at:end]))
        at = end
    assert digram.pretokenize(data, pretokenizer) == expected
    assert b"".join(expected) == data
