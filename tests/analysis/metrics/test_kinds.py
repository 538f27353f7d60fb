"""What kind of text a piece is, against Unicode's own property of scripts and piece by piece."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_bytes, cases, texts

from digram.analysis.metrics.kinds import _SCRIPTS, OTHER, OTHER_SCRIPTS, WORDS, Kinds, kind_of


@cases(150)
@given(st.lists(texts.map(str.encode) | any_bytes, max_size=6))
def test_all_pieces_at_once_are_what_each_is(pieces: list[bytes]) -> None:
    pieces = [piece for piece in pieces if piece]
    ends = np.cumsum([0, *map(len, pieces)])
    kinds = Kinds()
    found = kinds.of(np.frombuffer(b"".join(pieces), np.uint8), ends[:-1], ends[1:])
    assert [kinds.names[number] for number in found.tolist()] == [*map(kind_of, pieces)]


@cases(150)
@given(texts)
def test_every_text_has_the_kind_of_its_characters(text: str) -> None:
    """By patterns over properties of Unicode, in another engine."""
    kind, letters = kind_of(text.encode()), regex.findall(r"[\p{L}\p{M}]", text)
    digits = regex.search(r"\p{N}", text) is not None
    if letters:
        inner = regex.search(r"\p{Ll}\p{Lu}", text) is not None
        mixed = kind == "identifiers" and (digits or inner or "_" in text)
        assert mixed or kind.startswith("words, ")
    elif digits:
        assert kind == ("identifiers" if "_" in text else "numbers")
    elif regex.fullmatch(r"\p{White_Space}*", text):
        assert kind == "white space"
    else:
        assert kind == "punctuation"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (" the", "words, Latin"),
        ("don't", "words, Latin"),
        ("naïve", "words, Latin"),
        ("HTTP", "words, Latin"),
        ("e\u0301", "words, Latin"),
        ("ｆｕｌｌ", "words, Latin"),
        ("iPad中文", "words, Han"),
        ("日本の", "words, Han"),
        ("のX線", "words, Hiragana"),
        (" дом2", "words, Cyrillic"),
        ("हिन्दी", "words, Devanagari"),
        ("ߒߞߏ", "words, N'Ko"),
        ("ᱥᱟᱱ", "words, other scripts"),
        ("getItem", "identifiers"),
        ("größerAls", "identifiers"),
        ("_name", "identifiers"),
        ("utf8", "identifiers"),
        ("été_2", "identifiers"),
        ("1_000", "identifiers"),
        (" 3.14", "numbers"),
        ("٣½", "numbers"),
        ("__", "punctuation"),
        ("...\n", "punctuation"),
        ("🙂", "punctuation"),
        ("\x1c", "punctuation"),
        ("\u3000\r\n", "white space"),
    ],
)
def test_examples(text: str, kind: str) -> None:
    assert kind_of(text.encode()) == kind


def test_parts_of_characters_are_other_bytes() -> None:
    assert kind_of("中".encode()[:2]) == kind_of(b"a\xff") == OTHER


def test_scripts_are_those_of_unicode() -> None:
    """A name tells the script of all but some hundred letters, and of a few it tells another."""
    known = {"Nko" if name == "N'Ko" else name: name for name in _SCRIPTS.values()}
    listed = regex.compile("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in known))
    wrong, missed, every = [], 0, 0
    for code in range(0x30000):
        character = chr(code)
        if unicodedata.category(character)[0] == "L":
            words, _, script = kind_of(character.encode()).partition(", ")
            match = listed.match(character)
            expected = known[match.lastgroup or ""] if match else OTHER_SCRIPTS
            assert words == WORDS
            every += 1
            if script == OTHER_SCRIPTS != expected:
                missed += 1  # modifiers, old forms
            elif script != expected:
                wrong.append(unicodedata.name(character))
    assert every > 100_000
    assert missed < 1_000
    assert len(wrong) < 10, wrong  # as HALFWIDTH KATAKANA VOICED SOUND MARK, which is common
