"""What stands for each character: of tokens alone, and of those that share characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import soups

from digram.display import drawn, harmless, in_context, runs, visible
from digram.display.symbols import joined

FAMILY = "👨\u200d👩\u200d👧"
SHARED = re.compile(r"⟨(…?)([0-9A-F ]+)(?:…|=[^⟩]+)⟩")


def cut(text: str | bytes, *places: int) -> list[bytes]:
    """The bytes of a text, cut at these places."""
    data = text.encode() if isinstance(text, str) else text
    return [data[a:b] for a, b in pairwise([0, *places, len(data)])]


def shown(tokens: list[bytes]) -> list[str]:
    """Each token as it is drawn among the others."""
    return ["".join(one.text for one in parts) for parts in in_context(tokens)]


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (cut("中", 1), ["⟨E4…⟩", "⟨…B8 AD=中⟩"]),
        (cut("中", 1, 2), ["⟨E4…⟩", "⟨…B8…⟩", "⟨…AD=中⟩"]),
        (cut("🙂", 1, 2, 3), ["⟨F0…⟩", "⟨…9F…⟩", "⟨…99…⟩", "⟨…82=🙂⟩"]),
        (cut("a中b", 2), ["a⟨E4…⟩", "⟨…B8 AD=中⟩b"]),
        (cut("中文", 2, 4), ["⟨E4 B8…⟩", "⟨…AD=中⟩⟨E6…⟩", "⟨…96 87=文⟩"]),
        (cut("\u202e", 1), ["⟨E2…⟩", "⟨…80 AE=U+202E⟩"]),
        (cut("\u0301", 1), ["⟨CC…⟩", "⟨…81=◌\u0301⟩"]),
        # What is not a character, whatever stands around it.
        ([b"\xe4", b"a", b"\xb8\xad"], ["⟨E4⟩", "a", "⟨B8⟩⟨AD⟩"]),
        ([b"\xe4\xb8"], ["⟨E4⟩⟨B8⟩"]),
        ([b"\xed\xa0", b"\x80"], ["⟨ED⟩⟨A0⟩", "⟨80⟩"]),
        ([b"", b"\xe4", b"", b"\xb8\xad", b""], ["", "⟨E4…⟩", "", "⟨…B8 AD=中⟩", ""]),
        # Marks sit on a ring where they start a token.
        (cut("e\u0301", 1), ["e", "◌\u0301"]),
        (cut("क्षि", 3, 6, 9), ["क", "◌्", "ष", "◌ि"]),
        # Families, flags and skins that tokens take apart.
        (cut(FAMILY, 4), ["👨", "⟨U+200D⟩👩\u200d👧"]),
        (cut("🇩🇪", 4), ["⟨RI-D⟩", "⟨RI-E⟩"]),
        (cut("🇩🇪🇫🇷", 8), ["🇩🇪", "🇫🇷"]),
        (cut("👍🏽", 4), ["👍", "⟨U+1F3FD⟩"]),
        (cut("❤\ufe0f", 3), ["❤", "⟨U+FE0F⟩"]),
        (cut("1\ufe0f\u20e3"), ["1\ufe0f\u20e3"]),
        (cut("각\u1100\u1161\u11a8", 3, 6), ["각", "\u1100", "⟨U+1161⟩⟨U+11A8⟩"]),
    ],
)  # fmt: skip
def test_what_tokens_share(tokens: list[bytes], expected: list[str]) -> None:
    assert shown(tokens) == expected


@given(soups | st.text(max_size=12), st.lists(st.integers(0, 60), max_size=8))
def test_any_cut_of_any_text(text: str, places: list[int]) -> None:
    size = len(text.encode())
    tokens = cut(text, *sorted(min(place, size) for place in places))
    end = 0
    for token, parts in zip(tokens, in_context(tokens), strict=True):
        start, end = end, end + len(token)
        found = [SHARED.fullmatch(one.text) for one in parts if one.kind == "part"]
        told = [(bool(match[1]), bytes.fromhex(match[2])) for match in found if match is not None]
        assert len(told) == len(found)
        assert told == list(shares(text, start, end))
        breaks = [one.kind for one in parts].count("break")
        assert breaks == token.count(b"\n")


def shares(text: str, start: int, end: int) -> Iterator[tuple[bool, bytes]]:
    """The bytes between two places of each character that is there in part, by going through all;
    and whether they go on what stands before.
    """
    first = 0
    for character in text:
        data = character.encode()
        own = data[max(0, start - first) : max(0, end - first)]
        if b"" != own != data:
            yield first < start, own
        first += len(data)


@given(st.text(max_size=30))
def test_a_text_of_one_token_has_no_parts(text: str) -> None:
    parts = drawn(text.encode())
    assert not [one for one in parts if one.kind == "part"]
    assert "".join(one.text for one in parts) == visible(text.encode())
    plain = [one.text for one in joined(parts)]
    assert "".join(plain) == visible(text.encode())


def test_piles_of_marks_are_cut() -> None:
    shown = visible(("e" + "\u0301" * 100).encode())
    assert len(shown) < 250
    assert shown.startswith("e" + "\u0301" * 8 + "◌")


@given(st.text(max_size=20))
def test_nothing_moves_what_stands_around(text: str) -> None:
    """Each run that holds letters from right to left is closed in itself."""
    for run in runs(drawn(text.encode())):
        depth = 0
        for character in run.text:
            depth += (character in "\u2066\u2067\u2068") - (character == "\u2069")
            assert depth >= 0
            if unicodedata.bidirectional(character) in ("R", "AL", "AN"):
                assert depth == 1
        assert depth == 0


def test_names_and_patterns() -> None:
    assert harmless("my file\n\x1b]0;x\x07\u202e") == "my file↵␛]0;x␇⟨U+202E⟩"
    assert harmless("") == ""
    assert harmless("a  b ") == "a  b "
    assert harmless("\ud800") == "?"
