"""Training for several languages gives what its definition gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    ALPHABETS,
    FAIR_TIES,
    any_bytes,
    cases,
    corpora,
    prose,
    small_corpora,
    with_runs,
)
from vocabularies import bpe

import digram
from digram import reference
from digram.reference import fair

Texts = list[list[str]]


def named(texts: list[Any]) -> dict[str, Any]:
    """The texts of languages, under names of which the order is not theirs."""
    return {f"language {-number}": one for number, one in enumerate(texts)}


def number(name: str | None) -> int | None:
    """The number of a language."""
    return None if name is None else -int(name.split()[1])


def words(texts: list[Any], pretokenizer: str | None) -> list[list[reference.Word]]:
    """The words of each language."""
    return [
        reference.words(
            [p.encode() for text in one for p in digram.pretokenize(text, pretokenizer)],
            reference.BYTES,
        )
        for one in texts
    ]


def check(tok: digram.Tokenizer, found: fair.Trained) -> None:
    """The tokenizer holds what the reference found."""
    record = tok.training
    assert record is not None
    assert record.languages is not None
    special = [text.encode() for text in tok.special_tokens]
    assert tok.tokens(range(tok.vocab_size)) == [*found.tokens, *special]
    assert [(left, right) for left, right, _ in bpe(tok.definition).merges] == [*found.merges]
    assert record.counts == found.counts == [merge.count for merge in tok.merge_log]
    assert [number(name) for name in record.languages] == found.languages
    assert [merge.language for merge in tok.merge_log] == record.languages
    assert record.stop_reason == found.stop_reason


several = st.integers(1, 4).flatmap(
    lambda languages: st.tuples(
        *[st.lists(st.one_of(small_corpora, prose), min_size=languages, max_size=languages)] * 2
    )
)
"""The texts of one to four languages, and texts to measure."""

limits = st.fixed_dictionaries(
    {
        "max_merges": st.sampled_from([0, 1, 5, 20, 60]),
        "min_frequency": st.sampled_from([1, 1, 2, 3]),
        "max_token_length": st.sampled_from([None, None, 2, 4]),
        "whole_characters": st.sampled_from([False, False, True]),
    }
)
windows = st.none() | st.tuples(
    st.sampled_from([1, 2, 5, 20]), st.sampled_from([0.1, 0.5, 1.0, 1.5, 2.0, 4.0])
)
"""Sizes with an alpha."""

measures = st.sampled_from(["dev", "ratios", "nothing"])


@cases(700)
@given(
    several,
    measures,
    limits,
    windows,
    st.sampled_from([0, 0, 1, 4, 30]),
    st.sampled_from(FAIR_TIES),
    st.sampled_from([None, "gpt2"]),
    st.lists(st.sampled_from([0.5, 1.0, 1.5, 3.0]), min_size=4, max_size=4),
)
def test_turns_are_as_defined(
    several: tuple[Texts, Texts],
    measure: str,
    limits: dict[str, int],
    window: tuple[int, float] | None,
    global_merges: int,
    ties: Any,
    pretokenizer: str | None,
    ratios: list[float],
) -> None:
    texts, dev = several
    ratios = ratios[: len(texts)]
    size, alpha = window or (None, None)
    options: dict[str, Any] = {**limits, "ties": ties, "global_merges": global_merges}
    found = fair.train(
        words(texts, pretokenizer),
        reference.BYTES,
        dev=words(dev, pretokenizer) if measure == "dev" else None,
        ratios=ratios if measure == "ratios" else None,
        window=size,
        alpha=alpha or 2.0,
        **options,
    )
    tok = digram.train_fair(
        named(texts),
        dev=named(dev) if measure == "dev" else None,
        ratios=named(ratios) if measure == "ratios" else None,
        window=size,
        alpha=alpha,
        pretokenizer=pretokenizer,
        **options,
    )
    check(tok, found)


@cases(150)
@given(
    st.lists(small_corpora, min_size=1, max_size=3), st.sampled_from(ALPHABETS), limits, measures
)
def test_characters_outside_the_alphabet_are_not_measured(
    texts: Texts, alphabet: str, limits: dict[str, int], measure: str
) -> None:
    base = [character.encode() for character in alphabet]
    corpora = [reference.words(one, base) for one in texts]
    dev = corpora[::-1] if measure == "dev" else None
    found = fair.train(corpora, base, dev=dev, **limits)  # type: ignore[arg-type]
    tok = digram.train_fair(
        named(texts),
        dev=None if dev is None else named(texts[::-1]),
        unit="char",
        alphabet=alphabet,
        on_unknown=digram.SpecialToken("<unk>"),
        pretokenizer=None,
        **limits,  # type: ignore[arg-type]
    )
    check(tok, found)


@cases(150)
@given(small_corpora, limits, st.sampled_from(FAIR_TIES))
def test_one_language_is_plain_training(corpus: list[str], limits: Any, ties: Any) -> None:
    plain = digram.train(corpus, pretokenizer="gpt2", ties=ties, **limits)
    fair = digram.train_fair({"en": corpus}, pretokenizer="gpt2", ties=ties, **limits)
    assert fair == plain
    assert fair.training is not None
    assert plain.training is not None
    assert fair.training.counts == plain.training.counts
    assert fair.training.stop_reason == plain.training.stop_reason


@cases(150)
@given(several, limits, st.sampled_from(FAIR_TIES))
def test_global_merges_alone_are_plain_training(
    several: tuple[Texts, Texts], limits: Any, ties: Any
) -> None:
    texts, dev = several
    options = {**limits, "pretokenizer": "gpt2", "ties": ties}
    plain = digram.train(named(texts), **options)
    fair = digram.train_fair(named(texts), dev=named(dev), global_merges=60, **options)
    assert fair.merge_log == plain.merge_log
    assert fair.training is not None
    assert plain.training is not None
    assert fair.training.stop_reason == plain.training.stop_reason
    assert fair.training.distinct_pretokens == plain.training.distinct_pretokens


@cases(100)
@given(several, limits, st.integers(2, 4))
def test_threads_and_counts_play_no_part(
    several: tuple[Texts, Texts], limits: Any, threads: int
) -> None:
    texts, dev = several
    options = {**limits, "pretokenizer": "gpt2"}
    seen: list[digram.Merge] = []
    one = digram.train_fair(named(texts), dev=named(dev), threads=1, **options)
    counts = [digram.count_pretokens(text, pretokenizer="gpt2") for text in texts]
    other = digram.train_fair(
        named(counts), dev=named(dev), threads=threads, on_merge=seen.append, **options
    )
    assert one == other
    assert one.merge_log == other.merge_log == seen


@cases(60)
@given(st.lists(st.lists(any_bytes, max_size=3), min_size=1, max_size=3), limits)
def test_any_bytes(texts: Any, limits: Any) -> None:
    corpora = [reference.words(one, reference.BYTES) for one in texts]
    found = fair.train(corpora, reference.BYTES, **limits)
    check(digram.train_fair(named(texts), pretokenizer=None, **limits), found)


corpora_of_runs = corpora(with_runs("ab"))


@cases(60)
@given(st.lists(corpora_of_runs, min_size=2, max_size=2), st.integers(1, 20))
def test_what_is_saved_and_made_smaller(
    tmp_path_factory: pytest.TempPathFactory, texts: Texts, merges: int
) -> None:
    tok = digram.train_fair(named(texts), max_merges=merges, pretokenizer="gpt2")
    path = tmp_path_factory.mktemp("fair") / "tokenizer.json"
    tok.save(path)
    again = digram.load(path)
    assert again == tok
    assert again.training == tok.training
    assert again.merge_log == tok.merge_log
    if len(tok.merges) > 1:
        small = digram.shrink(tok, 256 + len(tok.merges) - 1)
        assert small.merge_log == tok.merge_log[:-1]


def test_languages_without_text() -> None:
    tok = digram.train_fair({"a": "", "b": ""}, max_merges=5, unit="char")
    assert (tok.vocab_size, tok.merges) == (0, [])


RULES = digram.Rules(["iron"], units=["mg"], prefer=["th"], forbid=["at"], numbers="individual")
SOME = ["the cat, 5 mg of iron", "that iron mat 10mg", "paka na mbwa", "iron", "at the hat 77"]


@cases(60)
@given(texts=st.lists(st.sampled_from(SOME), min_size=1, max_size=6), merges=st.integers(0, 30))
def test_rules_for_one_language_are_those_of_ordinary_training(
    texts: list[str], merges: int
) -> None:
    options: dict[str, Any] = {"max_merges": merges, "rules": RULES, "pretokenizer": "gpt2"}
    plain = digram.train(texts, **options)
    assert digram.train_fair({"a": texts}, **options) == plain
    seen: list[digram.Merge] = []
    both = {"a": texts, "b": SOME}
    tok = digram.train_fair(both, dev=both, on_merge=seen.append, **options)
    assert tok.training is not None
    assert tok.merge_log[0].token == b"th"
    assert [one.language for one in tok.merge_log][:1] == [None]
    assert [(one.rank, one.token, one.language) for one in tok.merge_log[1:]] == [
        (one.rank, one.token, one.language) for one in seen
    ]
    assert digram.check_rules(tok, SOME).violated == 0
    assert b"at" not in tok.vocab
