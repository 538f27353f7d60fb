"""Columns of a terminal: as wcwidth has them where it has an opinion, and a cluster is one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digram.drawing import columns, isolated

cells = pytest.importorskip("rich.cells")


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("", 0),
        ("abc", 3),
        ("中文", 4),
        ("e\u0301", 1),
        ("👨\u200d👩\u200d👧", 2),
        ("👨\u200d👩\u200d👧a", 3),
        ("🇩🇪", 2),
        ("👍🏽", 2),
        ("❤", 1),
        ("❤\ufe0f", 2),
        ("한", 2),
        ("\u1112\u1161\u11ab", 2),
        ("ไทย", 3),
        ("ที่", 1),
        ("עברית", 5),
        ("\u2068עב\u2069", 2),
        ("\x1b[48;5;153mab\x1b[0m", 2),
        ("ｱ", 1),
        ("Ａ", 2),
        ("⟨E4…⟩", 5),
    ],
)
def test_columns(text: str, wide: int) -> None:
    assert columns(text) == wide


@given(st.characters(min_codepoint=32))
def test_single_characters_are_as_wide_as_for_others(character: str) -> None:
    if unicodedata.category(character)[0] in "CM" or not _is_settled(character):
        return
    assert columns(character) == cells.cell_len(character)


def _is_settled(character: str) -> bool:
    """Not what versions of Unicode differ in, or marks that some draw by themselves."""
    name = unicodedata.name(character, "")
    return bool(name) and not ("HANGUL JUNG" in name or "HANGUL JONG" in name or "FILLER" in name)


@given(st.text(st.sampled_from("ab עבא1(中"), max_size=12))
def test_columns_add_up(text: str) -> None:
    assert columns(text) == sum(map(columns, text)) == columns(isolated(text))


def test_only_what_needs_it_is_isolated() -> None:
    assert isolated("naïve 中文") == "naïve 中文"
    assert isolated("אב") == "\u2068אב\u2069"
    assert isolated("א=1", "left to right") == "\u2066א=1\u2069"
