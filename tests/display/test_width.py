"""Columns of a terminal: as others count them, and what is drawn as one is counted as one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digram.display import columns, isolated

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


# Blocks in which all versions of Unicode agree.
BLOCKS = [
    (0x20, 0x7E), (0xA1, 0xAC), (0xAE, 0x17F), (0x391, 0x3A1), (0x400, 0x47F), (0x5D0, 0x5EA),
    (0x621, 0x63A), (0x905, 0x939), (0xE01, 0xE3A), (0x1E00, 0x1F15), (0x3041, 0x3096),
    (0x30A1, 0x30FA), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3), (0xFF01, 0xFF60), (0x1F600, 0x1F64F),
]  # fmt: skip


def test_single_characters_are_as_wide_as_for_others() -> None:
    for first, last in BLOCKS:
        for code in range(first, last + 1):
            assert columns(chr(code)) == cells.cell_len(chr(code)), hex(code)


@given(st.text(st.sampled_from("ab עבא1(中"), max_size=12))
def test_columns_add_up(text: str) -> None:
    assert columns(text) == sum(map(columns, text)) == columns(isolated(text))


def test_only_what_needs_it_is_isolated() -> None:
    assert isolated("naïve 中文") == "naïve 中文"
    assert isolated("אב") == "\u2068אב\u2069"
    assert isolated("א=1", "left to right") == "\u2066א=1\u2069"
