"""Training that keeps characters whole obeys the reference, and every token obeys the rule."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    Ties,
    any_bytes,
    cases,
    corpora,
    limits,
    over,
    sized,
    ties,
    tokenizers,
    trained_reference,
    with_runs,
)

import digram
from digram import reference

characters = corpora(with_runs("é€è🙂 a"))
"""Characters of all lengths, some of which share bytes."""


def test_a_piece_is_what_stands_inside_a_character() -> None:
    whole = [chr(code).encode() for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    pieces = {
        token[start:end]
        for token in whole
        for start in range(len(token))
        for end in range(start + 1, len(token) + 1)
    }
    assert all(map(reference.keeps_characters, [*pieces][::40]))
    edges = [0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1]
    edges += [0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF]
    short = [bytes([a]) for a in edges]
    for _ in range(2):
        short += [token + bytes([edge]) for token in short for edge in edges]
    for token in {*short}:
        assert reference.keeps_characters(token) == (token in pieces or reference.is_text(token))


@cases(500)
@given(characters, ties, limits)
def test_training_is_what_the_reference_does(
    corpus: list[str], ties: Ties, limits: dict[str, int]
) -> None:
    options: dict[str, Any] = sized(limits, reference.BYTES) | {"whole_characters": True}
    words = reference.words([text.encode() for text in corpus], reference.BYTES)
    trained = reference.train(words, reference.BYTES, ties=ties, **options)
    tok = digram.train(corpus, pretokenizer=None, ties=ties, **options)
    assert [one.token for one in tok.merge_log] == trained.tokens[256:]
    assert [one.count for one in tok.merge_log] == trained.counts
    assert tok.training is not None
    assert tok.training.stop_reason == trained.stop_reason
    assert all(map(reference.keeps_characters, tok.tokens(range(256, len(tok)))))


@cases(200)
@given(st.lists(any_bytes, max_size=4), st.integers(0, 30))
def test_text_that_is_no_text_obeys_too(corpus: list[bytes], merges: int) -> None:
    tok = digram.train(corpus, pretokenizer=None, max_merges=merges, whole_characters=True)
    assert all(map(reference.keeps_characters, tok.tokens(range(256, len(tok)))))


@cases(250)
@given(tokenizers(None, "o200k"), characters, ties, st.integers(1, 20))
def test_a_tokenizer_grows_by_such_tokens_only(
    tok: digram.Tokenizer, corpus: list[str], ties: Ties, add: int
) -> None:
    """Also where those that are there cut characters."""
    pretokens = Counter(part for text in corpus for part in tok.pretokenize(text))
    alone = tok._uncut()
    words = [(alone.encode(text), count) for text, count in pretokens.items()]
    trained = reference.train(
        words,
        tok.tokens(range(tok.vocab_size)),
        max_merges=add,
        ties=ties,
        whole_characters=True,
    )
    grown, change = digram.extend(tok, corpus, add=add, ties=ties, whole_characters=True)
    assert grown.tokens(change.added) == trained.tokens[tok.vocab_size :]
    assert all(map(reference.keeps_characters, grown.tokens(change.added)))


@cases(100)
@given(characters, limits)
def test_characters_are_whole_anyway_where_they_are_the_units(
    corpus: list[str], limits: dict[str, int]
) -> None:
    base = reference.characters(corpus)
    trained = trained_reference(corpus, "char", base, "ids", limits)
    options: dict[str, Any] = sized(limits, base) | {"unit": "char", "pretokenizer": None}
    tok = digram.train(corpus, whole_characters=True, **options)
    assert tok.tokens(range(len(tok))) == trained.tokens


@cases(100)
@given(over("aé€🙂", 24), st.integers(1, 12), st.integers(0, 12))
def test_a_run_that_was_broken_off_goes_on_to_the_same(
    tmp_path_factory: pytest.TempPathFactory, text: str, merges: int, before: int
) -> None:
    folder = tmp_path_factory.mktemp("run")
    options: dict[str, Any] = {"pretokenizer": None, "whole_characters": True}
    digram.train(text, max_merges=min(before, merges), checkpoint=folder, **options)
    again = digram.train(text, max_merges=merges, checkpoint=folder, **options)
    assert again == digram.train(text, max_merges=merges, **options)


def test_a_checkpoint_knows_the_option(tmp_path: Any) -> None:
    digram.train("é è", max_merges=1, checkpoint=tmp_path / "run", whole_characters=True)
    with pytest.raises(digram.CheckpointError, match="whole_characters=True"):
        digram.train("é è", max_merges=1, checkpoint=tmp_path / "run")
