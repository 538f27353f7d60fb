"""Why a pretoken was cut out: the alternative that matched, found by another engine of patterns."""

from __future__ import annotations

import pytest
import regex
import vocabularies
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases, soups, texts

from digram import Pretokenizer, Regex
from digram.analysis.explain.cuts import Cut, alternatives, cuts
from digram.pretokenizers.pretokenizer import NAMED

SINGLE = [name for name, one in NAMED.items() if len(one.patterns) == 1]


def why(text: str, pretokenizer: Pretokenizer) -> list[Cut]:
    """The cuts of a text."""
    spans, at = [], 0
    for piece in pretokenizer.splitter().split(text):
        spans.append((at, at + len(piece.encode())))
        at = spans[-1][1]
    return cuts(text.encode(), spans, pretokenizer)


@cases(300)
@given(st.sampled_from(SINGLE), soups | texts)
def test_the_first_alternative_that_matches(name: str, text: str) -> None:
    pretokenizer = Pretokenizer(name)
    (pattern,) = pretokenizer.patterns
    parts = alternatives(pattern)
    assert parts is not None
    assert "|".join(parts) == pattern
    matches = {match.start(): match for match in regex.finditer(pattern, text)}
    at = 0
    for piece, cut in zip(
        pretokenizer.splitter().split(text), why(text, pretokenizer), strict=True
    ):
        match = matches.get(at)
        if match is None:
            assert cut in (Cut(0, between=True), Cut())
        else:
            assert match[0] == piece
            first = next(n for n, one in enumerate(parts) if regex.match(one, text, pos=at))
            assert (cut.split, cut.alternative, cut.pattern) == (0, first, parts[first])
        at += len(piece)


@pytest.mark.parametrize("name", vocabularies.SAMPLES)
def test_every_pretokenizer_has_a_reason(name: str) -> None:
    pretokenizer = vocabularies.SAMPLES[name].pretokenizer
    for text in vocabularies.texts(20):
        pieces = pretokenizer.splitter().split(text)
        for piece, cut in zip(pieces, why(text, pretokenizer), strict=True):
            if cut == Cut():
                assert piece == text
            elif cut.alternative is not None:
                assert cut.split is not None
                assert (alternatives(pretokenizer.patterns[cut.split]) or [])[
                    cut.alternative
                ] == cut.pattern


def test_several_splits() -> None:
    found = why("Room 1234, ok", Pretokenizer([Regex(r"\p{N}{1,3}"), Regex(r"\s+")]))
    assert found == [
        Cut(1, between=True),
        Cut(1, 0, r"\s+"),
        Cut(0, 0, r"\p{N}{1,3}"),
        Cut(0, 0, r"\p{N}{1,3}"),
        Cut(1, between=True),
        Cut(1, 0, r"\s+"),
        Cut(1, between=True),
    ]


def test_digits_come_first() -> None:
    found = why("a 1234", Pretokenizer("gpt2", digits="threes_from_right"))
    assert [cut.pattern for cut in found][2:] == ["threes_from_right"] * 2


def test_the_whole_text() -> None:
    assert why("a b", Pretokenizer(None)) == [Cut()]
    assert why("", Pretokenizer("gpt2")) == []
    assert Cut().to_dict() == {
        "split": None, "alternative": None, "pattern": None, "between": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("a", ["a"]),
        ("a|b", ["a", "b"]),
        ("a|", ["a", ""]),
        (r"a\|b|c", [r"a\|b", "c"]),
        ("(a|b)|[|]|c", ["(a|b)", "[|]", "c"]),
        ("[]|]|a", ["[]|]", "a"]),
        ("[^]|]|a", ["[^]|]", "a"]),
        (r"[\]|]|a", [r"[\]|]", "a"]),
        ("[[a|b]&&[^|]]|c", ["[[a|b]&&[^|]]", "c"]),
        ("(?i:a|b)|c", ["(?i:a|b)", "c"]),
        ("(?i)a|b", None),
        ("a|(?s-m)b", None),
        ("(?![a|b])c|d", ["(?![a|b])c", "d"]),
        ("(?=a|b)c|d", ["(?=a|b)c", "d"]),
        ("(?=ab)c|d", None),
        ("c|d(?<!ab)", None),
    ],
)
def test_alternatives(pattern: str, parts: list[str] | None) -> None:
    assert alternatives(pattern) == parts
