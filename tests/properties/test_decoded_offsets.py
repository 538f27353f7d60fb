"""The offsets of ids in their decoded text, against the reference, for tokenizers of every kind."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
import vocabularies
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_tokenizers, cases, texts

import digram
from digram import Matching, OptionError, SpecialToken, TokenIdError, reference


def forms_of(tok: digram.Tokenizer, ids: list[int]) -> list[bytes]:
    """What each id adds to the decoded bytes, from decoding ever longer beginnings."""
    decoded = [tok.decode_bytes(ids[:number]) for number in range(len(ids) + 1)]
    return [after[len(before) :] for before, after in pairwise(decoded)]


def check(tok: digram.Tokenizer, ids: list[int]) -> None:
    forms, text = forms_of(tok, ids), tok.decode(ids)
    found = tok.offsets(ids)
    assert found == reference.offsets(forms)
    assert max((stop for _, stop in found), default=0) == len(text)
    whole, in_bytes = tok.decode_bytes(ids), tok.offsets(ids, unit="bytes")
    assert [whole[start:stop] for start, stop in in_bytes] == forms
    units = text.encode("utf-16-le")
    for (start, stop), (first, last) in zip(found, tok.offsets(ids, unit="utf16"), strict=True):
        assert units[2 * first : 2 * last].decode("utf-16-le") == text[start:stop]


BROKEN = st.lists(
    st.sampled_from([0x41, 0x80, 0xA0, 0xC3, 0xE2, 0xED, 0xF0, 0x9F, 0x99, 0xFF]), max_size=9
)


@cases(400)
@given(any_tokenizers, texts, BROKEN)
def test_offsets_are_those_of_the_reference(
    tok: digram.Tokenizer, text: str, broken: list[int]
) -> None:
    check(tok, [*tok.encode(text), *broken, *tok.encode(text)])


def wordpiece(*, cleanup: bool) -> digram.Definition:
    names = [" low", "er", " do", " not", " .", " n't", " 's", "\u00e9", " ' ", "!", " ?", " "]
    return digram.Definition(
        tokens=[None, None, *(name.encode() for name in names)],
        model=digram.WordPieceModel(max_word_chars=100),
        pretokenizer=digram.Pretokenizer("whitespace"),
        special_tokens={"[UNK]": 0, "[CLS]": 1},
        unit="char",
        on_unknown=SpecialToken("[UNK]"),
        strip_first_space=True,
        cleanup=cleanup,
    )


def first_space() -> digram.Definition:
    tok = digram.train("low low lower", max_merges=4, special_tokens=["<s>"], pretokenizer=None)
    return replace(tok.definition, strip_first_space=True)


def unigram() -> digram.Definition:
    pieces = ["l", "o", "w", " ", " low", "\u00e9", "\U0001f642", " \u00e9"]
    tokens = [None, *(piece.encode() for piece in pieces)]
    return digram.Definition(
        tokens=tokens,
        model=digram.UnigramModel([None, *[-2.0] * 8], unknown=-20.0, addition="double"),
        pretokenizer=digram.Pretokenizer(None),
        special_tokens={"<unk>": 0},
        unit="char",
        on_unknown=SpecialToken("<unk>"),
        strip_first_space=True,
    )


KINDS = vocabularies.SAMPLES | {
    "wordpiece": wordpiece(cleanup=False),
    "cleaned wordpiece": wordpiece(cleanup=True),
    "first space": first_space(),
    "unigram": unigram(),
}


@pytest.mark.parametrize("name", KINDS)
def test_ids_of_a_model_have_offsets(name: str) -> None:
    """Any ids, in an order that no text gives."""
    tok = digram.Tokenizer(KINDS[name])
    rng = random.Random(name)
    known = sorted(tok.vocab.values())
    always = {text for text, one in tok.matching.items() if one.always}
    special = {id for text, id in tok.special_tokens.items() if text not in always}
    for _ in range(150):
        ids = rng.choices([*known, *special], k=rng.randrange(9))
        check(tok, ids)
        kept = [id for id in ids if id not in special]
        found = tok.offsets(ids, skip_special_tokens=True)
        of_kept = [span for span, id in zip(found, ids, strict=True) if id not in special]
        assert of_kept == tok.offsets(kept)
        assert all(a == b for (a, b), id in zip(found, ids, strict=True) if id in special)


def test_special_tokens_that_are_always_found_stay() -> None:
    tok = digram.train("low", max_merges=0, special_tokens=["<s>", "<x>"])
    tok = digram.Tokenizer(replace(tok.definition, matching={"<x>": Matching(always=True)}))
    assert tok.offsets([256, 257, 97], skip_special_tokens=True) == [(0, 0), (0, 3), (3, 4)]


def test_refusals() -> None:
    tok = digram.train("low", max_merges=0, special_tokens=["<s>"])
    with pytest.raises(TokenIdError, match=r"ids\[1\]"):
        tok.offsets([97, 1000])
    with pytest.raises(TokenIdError, match=r"ids\[1\]"):
        tok.offsets([256, 1000], skip_special_tokens=True)
    with pytest.raises(OptionError, match="unit='words'"):
        tok.offsets([97], unit="words")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unit is a str"):
        tok.offsets([97], unit=1)  # type: ignore[arg-type]
    assert tok.offsets([]) == []
