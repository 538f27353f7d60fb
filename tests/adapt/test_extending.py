"""Continued BPE: old ids and merges stay, and what is learned is what the reference learns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import (
    any_corpora,
    any_tokenizers,
    cases,
    corpora,
    over,
    texts,
    ties,
    vocabularies,
    with_runs,
)
from vocabularies import bpe

import digram
from digram import reference

LIMITS: list[dict[str, Any]] = [
    {"add": 1},
    {"add": 7},
    {"add": 40},
    {"add": 40, "min_frequency": 2},
    {"add": 40, "max_token_length": 4},
    {"add": 40, "whole_characters": True},
]


def parts(tok: digram.Tokenizer, pretoken: str) -> list[list[int]]:
    """What the ids of a pretoken merge inside: all of them, but for what has no token."""
    unknown = set(tok.definition.byte_ids or [])
    if isinstance(tok.on_unknown, digram.SpecialToken):
        unknown.add(tok.special_tokens[tok.on_unknown.text])
    found: list[list[int]] = [[]]
    for id in alone(tok).encode(pretoken):
        if id in unknown:
            found.append([])
        else:
            found[-1].append(id)
    return found


def alone(tok: digram.Tokenizer) -> digram.Tokenizer:
    """The same without a pretokenizer: a pretoken is not cut again."""
    from dataclasses import replace

    return digram.Tokenizer(replace(tok.definition, pretokenizer=digram.Pretokenizer(None)))


def learned(
    tok: digram.Tokenizer, corpus: list[str], ties: str, limits: dict[str, Any]
) -> reference.Trained:
    """What the reference learns from a corpus as the tokenizer splits it."""
    pretokens = [pretoken for text in corpus for pretoken in tok.pretokenize(text)]
    words = [(part, n) for text, n in Counter(pretokens).items() for part in parts(tok, text)]
    base = [token or b"" for token in tok._model.tokens()]
    base += [b""] * (tok.vocab_size - len(base))
    rest = {name: number for name, number in limits.items() if name != "add"}
    return reference.train(words, base, ties=ties, max_merges=limits["add"], **rest)


def check(tok: digram.Tokenizer, corpus: list[str], ties: Any, limits: dict[str, Any]) -> None:
    expected = learned(tok, corpus, ties, limits)
    grown, change = digram.extend(tok, corpus, ties=ties, progress=False, **limits)
    new = bpe(grown.definition)
    old = bpe(tok.definition)
    assert new.merges[: len(old.merges)] == old.merges
    assert {(a, b): id for a, b, id in new.merges[len(old.merges) :]} == expected.merges
    assert grown.training is not None
    assert grown.training.counts[len(old.merges) :] == expected.counts
    assert grown.training.stop_reason == expected.stop_reason
    assert change.removed == []
    assert change.added == [*expected.merges.values()]
    assert grown.special_tokens == tok.special_tokens
    # Nothing that is new is unreachable.
    assert not {*grown.unreachable()} & {*change.added}


@cases(250)
@given(tok=any_tokenizers, corpus=any_corpora, ties=ties, limits=st.sampled_from(LIMITS))
def test_what_is_learned_is_what_the_reference_learns(
    tok: digram.Tokenizer, corpus: list[str], ties: Any, limits: dict[str, Any]
) -> None:
    check(tok, corpus, ties, limits)


@cases(150)
@given(
    vocabulary=st.booleans().flatmap(lambda ignore: vocabularies(ignore_merges=ignore)),
    corpus=corpora(with_runs("abc")),
    limits=st.sampled_from(LIMITS),
)
def test_from_vocabularies_that_nobody_trained(
    vocabulary: Any, corpus: list[str], limits: dict[str, Any]
) -> None:
    """Ids out of order, tokens that two merges make, tokens that none makes."""
    check(digram.Tokenizer(vocabulary.definition), corpus, "ids", limits)


@cases(100)
@given(
    before=corpora(with_runs("aé€")),
    corpus=corpora(with_runs("aéb€")),
    unknown=st.sampled_from(["bytes", digram.SpecialToken("<unk>")]),
    limits=st.sampled_from(LIMITS),
)
def test_from_characters(
    before: list[str], corpus: list[str], unknown: Any, limits: dict[str, Any]
) -> None:
    """What has no token is in no merge."""
    tok = digram.train(before, unit="char", max_merges=4, on_unknown=unknown, pretokenizer="gpt2")
    check(tok, corpus, "ids", limits)


@cases(200)
@given(
    corpus=any_corpora,
    ties=ties,
    first=st.integers(0, 12),
    more=st.integers(1, 12),
    pretokenizer=st.sampled_from([None, "gpt2", "whitespace"]),
)
def test_on_the_same_corpus_it_is_training_longer(
    corpus: list[str], ties: Any, first: int, more: int, pretokenizer: str | None
) -> None:
    options: dict[str, Any] = {"ties": ties, "pretokenizer": pretokenizer}
    tok = digram.train(corpus, max_merges=first, **options)
    whole = digram.train(corpus, max_merges=first + more, **options)
    grown, _ = digram.extend(tok, corpus, add=more, ties=ties)
    assert grown == whole
    assert grown.merge_log == whole.merge_log


@cases(250)
@given(
    tok=any_tokenizers | vocabularies().map(lambda one: digram.Tokenizer(one.definition)),
    corpus=any_corpora,
    text=texts | over("ab", 40),
)
def test_an_encoding_is_a_coarsening_of_the_one_before(
    tok: digram.Tokenizer, corpus: list[str], text: str
) -> None:
    grown, _ = digram.extend(tok, corpus, add=20)
    before, after = tok(text, offsets="bytes").offsets, grown(text, offsets="bytes").offsets
    assert {end for _, end in after} <= {end for _, end in before}
    assert grown.decode(grown.encode(text)) == text


def test_ids_that_pad_are_used_first() -> None:
    tok = digram.train("low low", max_merges=1, special_tokens=["<s>"], pad_to_multiple=64)
    assert tok.reserved["unused"] == range(258, 320)
    grown, change = digram.extend(tok, "low slow low slow", add=2)
    assert grown.tokens([258, 259]) == [b"low", b" s"]
    assert grown.vocab_size == 320
    assert grown.reserved["unused"].stop == 320
    assert grown.special_tokens["<s>"] == tok.special_tokens["<s>"]
    # What pads means nothing before and after.
    assert (change.added, change.removed, change.id_map[258]) == ([258, 259], [], -1)
    assert digram.extend(grown, "slower slower", add=1)[0].vocab_size == 320


def test_what_it_says_of_itself(tmp_path: Path) -> None:
    tok = digram.train("low low", max_merges=1)
    published = digram.Tokenizer(digram.Definition(**{**fields(tok), "training": None}))
    grown, change = digram.extend(published, ["low low low"], add=1)
    assert repr(change) == "<digram.Change: 257 ids became 258, 1 token added, 0 removed>"
    assert grown.training is not None
    assert grown.training.counts == [None, 3]
    assert [merge.count for merge in grown.merge_log] == [None, 3]
    assert grown.training.options["extends"] == tok.digest
    grown.save(tmp_path / "grown.json")
    again = digram.load(tmp_path / "grown.json")
    assert again == grown
    assert again.training == grown.training


def fields(tok: digram.Tokenizer) -> dict[str, Any]:
    definition = tok.definition
    return {name: getattr(definition, name) for name in definition.__slots__}


def test_counts_memory_and_checkpoints_give_the_same(tmp_path: Path) -> None:
    words = " ".join(f"{number * 7919 % 100_003:05}low" for number in range(60_000))
    tok = digram.train("low lower lowest 12 34 56", max_merges=9, pretokenizer="whitespace")
    expected, _ = digram.extend(tok, words, add=300)
    counts = digram.count_pretokens(words, pretokenizer="whitespace")
    assert digram.extend(tok, counts, add=300)[0] == expected
    assert digram.extend(tok, words, add=300, memory_limit="24 MiB")[0] == expected
    point = tmp_path / "point"
    assert digram.extend(tok, words, add=100, checkpoint=point)[0] == digram.shrink(
        expected, 265 + 100
    )
    said: list[digram.Merge] = []
    assert digram.extend(tok, words, add=300, checkpoint=point, on_merge=said.append)[0] == expected
    assert said == expected.merge_log[9:]
    with pytest.raises(digram.CheckpointError):
        digram.extend(digram.shrink(tok, 260), words, add=300, checkpoint=point)


def test_faults() -> None:
    tok = digram.train("low low", max_merges=1, unit="char")
    with pytest.raises(digram.OptionError, match="add=0"):
        digram.extend(tok, "low", add=0)
    with pytest.raises(digram.DigramError):
        digram.extend(tok, "slow", add=1)  # no token for s, and none that stands for it
    counts = digram.count_pretokens("low", pretokenizer="gpt2")
    with pytest.raises(digram.ConfigMismatchError):
        digram.extend(tok, counts, add=1)


@cases(60)
@given(tok=any_tokenizers, corpus=any_corpora, seed=st.integers(0, 99))
def test_embeddings_begin_as_means_of_what_a_token_was(
    tok: digram.Tokenizer, corpus: list[str], seed: int
) -> None:
    grown, change = digram.extend(tok, corpus, add=8)
    assume(change.added)
    plan = change.embedding_plan()
    old = np.random.default_rng(seed).normal(size=(tok.vocab_size, 3)).astype(np.float32)
    new = plan.apply(old)
    assert new.dtype == np.float32
    assert (plan.new_size, plan.old_size) == (grown.vocab_size, tok.vocab_size)
    assert (new[: tok.vocab_size] == old).all()
    for id in change.added:
        parts = tok.encode(grown.id_to_token(id))
        assert plan.row(id) == [(part, 1 / len(parts)) for part in parts]
        assert np.allclose(new[id], old[parts].mean(axis=0), atol=1e-6)


def test_embeddings_of_what_is_not_known() -> None:
    tok = digram.train("low low", max_merges=1)
    change = digram.Change.of(tok, tok.with_special_tokens({"<s>": 258}))
    assert (change.added, change.removed) == ([258], [])
    plan = change.embedding_plan()
    old = np.arange(257 * 2, dtype=np.float64).reshape(257, 2)
    assert plan.apply(old)[258].tolist() == [256.0, 257.0]  # the mean
    assert plan.apply(old, unknown=np.zeros(2))[257:].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    padded = np.concatenate([old, old])
    assert (plan.apply(padded)[:257] == old).all()
    with pytest.raises(digram.OptionError, match=r"\(256, 2\)"):
        plan.apply(old[:256])
    matrix = plan.matrix()
    assert matrix.shape == (259, 257)
    assert ((matrix @ old)[:257] == old).all()


def test_a_change_on_a_sample(shared_data: Callable[[str], Path]) -> None:
    text = shared_data("corpora/med.txt").read_text(encoding="utf-8")[:200_000]
    tok = digram.train(text[:20_000], vocab_size=400)
    _, change = digram.extend(tok, text, add=100)
    found = change.compare(text).total
    assert found.this == tok.count(text)
    assert found.other == change.after.count(text) < found.this
