"""What no text becomes: proofs against all short texts, and a text for all the rest."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache

import pytest
import vocabularies as samples
from hypothesis import given
from hypothesis import strategies as st
from strategies import Vocabulary, any_tokenizers, cases, vocabularies
from vocabularies import bpe

import digram
from digram.analysis.audit.reach import Reach, reach
from digram.pretokenizers.pretokenizer import resolve
from digram.vocab.definition import Definition

NAMES = ["gpt2", "cl100k", "o200k", "deepseek-v3", "whitespace", None]
# Each with the characters whose texts are all tried: of some the vocabulary has parts alone.
ALPHABETS: dict[bytes, str] = {
    b"ay:": "ay:",
    b" a1": " a1",
    b"a\n /": "a\n /",
    b"'reA": "'reA",
    b"12 ": "12 ",
    "aé".encode(): "aéàĩ",
    "é€".encode(): "é€\u20a9\u24ac",
    "🙂".encode(): "🙂🙁😂",
}


@cache
def all_texts(alphabet: str) -> list[str]:
    """Every text up to some length, and at least a thousand."""
    sizes = range(1, next(n for n in range(9) if len(alphabet) ** n > 800) + 1)
    return ["".join(letters) for n in sizes for letters in itertools.product(alphabet, repeat=n)]


def becoming(tok: digram.Tokenizer, texts: list[str] | list[bytes]) -> set[int]:
    """The tokens that some of the texts become."""
    return {*tok.encode_batch(texts, out="numpy").ids.tolist()}


def in_order(definition: Definition) -> bool:
    """Whether no merge makes a part of one that came before it."""
    made = [new for _, _, new in bpe(definition).merges]
    return not any(
        part in made[rank:]
        for rank, merge in enumerate(bpe(definition).merges)
        for part in merge[:2]
    )


def check(tok: digram.Tokenizer, found: Reach) -> None:
    """Each token is in one class, and what is reached has a text that shows it."""
    ordinary = {id for id, token in enumerate(tok.definition.tokens) if token is not None}
    ordinary -= {*tok.special_tokens.values()}
    classes = [found.unreachable, found.bytes_only, found.undecided]
    others = [id for ids in classes for id in ids]
    assert len({*others}) == len(others)
    assert {*others} <= ordinary
    assert not found.witnesses.keys() & {*others}
    for id in ordinary - {*others}:
        text = found.witnesses.get(id, tok.id_to_token(id)).decode()
        assert id in tok.encode(text)
    for id in found.bytes_only:
        with pytest.raises(UnicodeDecodeError):
            tok.id_to_token(id).decode()


@cases(120)
@given(st.data(), st.sampled_from([*ALPHABETS]), st.sampled_from(NAMES), st.booleans())
def test_no_short_text_becomes_an_unreachable_token(
    data: st.DataObject, letters: bytes, name: str | None, ignore_merges: bool
) -> None:
    vocabulary: Vocabulary = data.draw(vocabularies(letters, ignore_merges))
    definition = replace(vocabulary.definition, pretokenizer=resolve(name))
    tok = digram.Tokenizer(definition)
    found = reach(tok, 1)
    check(tok, found)
    texts = all_texts(ALPHABETS[letters])
    assert not becoming(tok, texts) & {*found.unreachable, *found.bytes_only}
    parts = [
        text.encode()[start : len(text.encode()) - stop]
        for text in texts[:500]
        for start in (0, 1)
        for stop in (0, 1)
    ]
    assert not becoming(tok, parts) & {*found.unreachable}
    if letters.isascii() and in_order(definition):
        assert not found.undecided


@cases(120)
@given(any_tokenizers, st.sampled_from(NAMES))
def test_trained_under_one_pretokenizer_used_under_another(
    tok: digram.Tokenizer, name: str | None
) -> None:
    other = digram.Tokenizer(replace(tok.definition, pretokenizer=resolve(name)))
    found = reach(other, 1)
    check(other, found)
    assert not becoming(other, samples.texts(200)) & {*found.unreachable, *found.bytes_only}


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_samples(name: str) -> None:
    """All settings: characters as units, bytes as their fallback, whole pretokens, holes."""
    tok = digram.Tokenizer(samples.SAMPLES[name])
    found = reach(tok, 1)
    check(tok, found)
    if tok.on_unknown != "error" or tok.unit == "byte":
        assert not becoming(tok, samples.texts(500)) & {*found.unreachable, *found.bytes_only}


def test_own_patterns_are_never_told_to_be_unreachable_by_what_they_cut() -> None:
    tok = digram.train("play: " * 9, max_merges=6, pretokenizer="whitespace")
    own = digram.Tokenizer(replace(tok.definition, pretokenizer=resolve(digram.Regex(r"\w+"))))
    found = reach(own, 1)
    check(own, found)
    assert tok.tokens(found.undecided) == [b"play:", b" play:"]
    assert found.unreachable == ()
