"""`digram.explain`: each step is what the reference does, and the last one what `encode` gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
import vocabularies
from hypothesis import given
from strategies import (
    Vocabulary,
    any_bytes,
    any_tokenizers,
    cases,
    long_texts,
    over,
    special_soups,
    texts,
)
from strategies import vocabularies as any_vocabularies

import digram
from digram import SpecialToken, SpecialTokenError, Tokenizer
from digram.analysis import explain
from digram.analysis.explain import Merging

TOKENIZERS = {name: Tokenizer(one) for name, one in vocabularies.SAMPLES.items()}


def check(one: Merging, merges: dict[tuple[bytes, bytes], int]) -> None:
    """Go through the steps of a pretoken by the definition: the lowest rank, at the first place."""
    state = one.first
    assert b"".join(state) == one.pretoken
    for step, shown in zip(one.steps, one.states, strict=False):
        places = sorted(
            (merges[pair], at) for at, pair in enumerate(pairwise(state)) if pair in merges
        )
        assert step.before == shown == state
        assert [(c.merge.rank, at) for c in step.candidates for at in c.places] == places
        assert (step.merge.rank, step.place) == places[0]
        left, right = state[step.place : step.place + 2]
        assert (step.merge.left, step.merge.right, step.merge.token) == (left, right, left + right)
        state = [*state[: step.place], left + right, *state[step.place + 2 :]]
        assert step.after == state
    assert not [pair for pair in pairwise(state) if pair in merges]
    assert state == one.tokens


@cases(300)
@given(any_vocabularies(), over("abcd", 24) | long_texts)
def test_any_merges(vocabulary: Vocabulary, text: str) -> None:
    tok = Tokenizer(vocabulary.definition)
    found = digram.explain(tok, text)
    assert found.ids == tok.encode(text)
    # By ids, of which several merges may make the same: the reference's way at each step.
    ranks = {pair: rank for rank, pair in enumerate(vocabulary.merges)}
    for one in found.pretokens:
        state = [*one.pretoken]
        for step in one.steps:
            places = sorted((ranks[p], at) for at, p in enumerate(pairwise(state)) if p in ranks)
            assert (step.merge.rank, step.place) == places[0]
            state[step.place : step.place + 2] = [step.merge.id]
        assert state == one.ids
        assert not [pair for pair in pairwise(state) if pair in ranks]


@cases(250)
@given(any_tokenizers, texts | any_bytes)
def test_any_text(tok: Tokenizer, text: str | bytes) -> None:
    found = digram.explain(tok, text)
    data = text.encode() if isinstance(text, str) else text
    assert (found.text, found.ids) == (data, tok.encode(text))
    assert b"".join(one.pretoken for one in found.pretokens) == data
    assert [one.pretoken for one in found.pretokens] == tok.pretokenize(data)
    merges = {pair: rank for rank, pair in enumerate(tok.merges)}
    for one in found.pretokens:
        check(one, merges)
        assert data[one.start :].startswith(one.pretoken)
    counts = [merge.count for merge in tok.merge_log]
    assert all(s.merge.count == counts[s.merge.rank] for p in found.pretokens for s in p.steps)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_every_kind_of_vocabulary(name: str) -> None:
    tok = TOKENIZERS[name]
    for text in vocabularies.texts(8):
        try:
            ids = tok.encode(text, special="parse")
        except digram.InvalidTextError:  # a character that this one does not know
            with pytest.raises(digram.InvalidTextError):
                digram.explain(tok, text, special="parse")
            continue
        found = digram.explain(tok, text, special="parse")
        assert found.ids == ids
        assert b"".join(one.pretoken for one in found.pretokens) == text.encode()
        assert json.loads(json.dumps(found.to_dict()))["ids"] == ids
        assert str(found)
        assert found._repr_html_()


@cases(200)
@given(special_soups)
def test_special_tokens_stand_between(text: str) -> None:
    tok = TOKENIZERS["holes"]
    found = digram.explain(tok, text, special="parse")
    assert found.ids == tok.encode(text, special="parse")
    special = [one.pretoken.decode() for one in found.pretokens if one.how == "special"]
    assert special == [tok.id_to_token(id).decode() for id in found.ids if id in (257, 300)]
    assert all(not one.steps for one in found.pretokens if one.how == "special")
    assert all(one.how == "merges" for one in digram.explain(tok, text).pretokens)


def test_special_tokens_are_not_allowed_here() -> None:
    with pytest.raises(SpecialTokenError):
        digram.explain(TOKENIZERS["holes"], "a<a>", special="raise")


def test_whole_pretokens() -> None:
    tok = TOKENIZERS["whole pretokens"]
    taken, joined = digram.explain(tok, "xyzzy banan").pretokens
    assert (taken.how, taken.steps, taken.tokens) == ("whole", [], [b"xyzzy"])
    assert joined.how == "merges"
    assert "uses such pretokens whole (ignore_merges), though merges do not lead to it" in str(
        digram.explain(tok, "xyzzy")
    )
    led = digram.explain(tok, "banan").pretokens[0]
    assert (led.how, [step.merge.token for step in led.steps]) == (
        "whole",
        [b"an", b"an", b"anan", b"banan"],
    )
    assert "Merges lead to the same:" in str(digram.explain(tok, "banan"))


def test_what_is_not_known_joins_nothing() -> None:
    tok = digram.train(
        "<unk>ab", unit="char", on_unknown=SpecialToken("?"), pretokenizer=None, max_merges=3
    )
    one = digram.explain(tok, "aé<unk>").pretokens[0]
    assert one.tokens == tok.tokens(tok.encode("aé<unk>"))
    assert b"?" in one.first


def test_a_step_is_worked_out_by_itself() -> None:
    tok = digram.train("banana", max_merges=2, pretokenizer=None)
    (one,) = digram.explain(tok, "banana").pretokens
    last = one.steps[-1]
    assert (last.number, last.before, last.after) == (
        2,
        [b"b", b"an", b"an", b"a"],
        [b"ban", b"an", b"a"],
    )
    assert last.to_dict() == one.to_dict()["steps"][-1]
    assert [(c.merge.rank, c.places) for c in one.steps[0].candidates] == [(0, (1, 3))]


def test_no_text() -> None:
    found = digram.explain(TOKENIZERS["gpt2"], "")
    assert (found.ids, found.pretokens, str(found)) == ([], [], "0 bytes, 0 pretokens, 0 tokens")
    assert repr(found) == "<digram.Explanation: 0 pretokens, 0 merges, 0 tokens>"


def test_long_pretokens_are_shown_in_part() -> None:
    tok = digram.train("a" * 1000, max_merges=9, pretokenizer=None)
    found = digram.explain(tok, "a" * 3000)
    shown = str(found)
    more = len(found.pretokens[0].steps) - 60
    assert f"... {more:,} more merges" in shown
    assert len(shown) < 60_000
    assert f"... {more:,} more merges" in found._repr_html_()


def test_a_published_vocabulary(shared_data: Callable[[str], Path]) -> None:
    path = shared_data("vocabs/cl100k_base.tiktoken")
    tok = digram.load(path, encoding="cl100k_base")
    text = "The tokenizer's 12345 naïve words: 曖昧 <|endoftext|>"
    found = digram.explain(tok, text, special="parse")
    assert found.ids == tok.encode(text, special="parse")
    merges = {pair: rank for rank, pair in enumerate(tok.merges)}
    for one in found.pretokens[:-1]:
        if one.how == "merges":
            check(one, merges)
    assert {one.how for one in found.pretokens} == {"merges", "special"}
    assert all(s.merge.count is None for one in found.pretokens for s in one.steps)
    assert isinstance(found, explain.Explanation)
