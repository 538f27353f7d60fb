"""The two facts that tell what a pretokenizer cuts, on texts in which all classes meet."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases, soups, texts

import digram
from digram.analysis.audit.uncut import can_end, can_start, decides, is_cut
from digram.pretokenizers.pretokenizer import NAMED, Digits, Pretokenizer, resolve

PRETOKENIZERS = [
    Pretokenizer(name, digits=digits)
    for name in [*NAMED, None]
    for digits in (None, *get_args(Digits))
]


@cases(300)
@given(soups | texts, st.sampled_from(PRETOKENIZERS))
def test_a_pretoken_is_one_pretoken_alone(text: str, pretokenizer: Pretokenizer) -> None:
    split = pretokenizer.splitter().split
    for pretoken in split(text):
        assert split(pretoken) == [pretoken]


@cases(300)
@given(soups | texts, st.sampled_from(PRETOKENIZERS), st.data())
def test_no_part_of_a_pretoken_is_told_to_be_cut(
    text: str, pretokenizer: Pretokenizer, data: st.DataObject
) -> None:
    split = pretokenizer.splitter().split
    for pretoken in split(text):
        start = data.draw(st.integers(0, len(pretoken) - 1))
        stop = data.draw(st.integers(start + 1, len(pretoken)))
        part = pretoken[start:stop].encode()
        assert not is_cut(split, part), (pretoken, part)
        assert start > 0 or can_start(split, part)
        assert stop < len(pretoken) or can_end(split, part)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("gpt2", "play:", True),
        ("gpt2", " 12", False),
        ("cl100k", " 12", True),
        ("cl100k", "1234", True),
        ("o200k", "e'", False),  # we're
        ("gpt2", "e'", True),
        ("o200k", "\n/", False),  # !\n/
        ("cl100k", "\n/", True),
        ("o200k", "aA", True),
        ("o200k", "中A", False),  # 中Aa
        ("cl100k", "  a", True),
        ("whitespace", "a b", True),
        ("whitespace", " ab", False),
    ],
)
def test_what_is_cut(name: str, text: str, expected: bool) -> None:
    assert is_cut(resolve(name).splitter().split, text.encode()) == expected


def test_patterns_of_ones_own_are_not_decided() -> None:
    assert all(map(decides, PRETOKENIZERS))
    assert not decides(Pretokenizer(digram.Regex(r"\w+")))
