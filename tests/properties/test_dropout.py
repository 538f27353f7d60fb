"""Dropout is what the reference says, a function of its arguments, and as likely as it says."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    Vocabulary,
    any_tokenizers,
    cases,
    long_texts,
    over,
    small_corpora,
    special_soups,
    special_texts,
    texts,
    tokenizers,
    vocabularies,
)
from vocabularies import bpe

import digram
from digram import reference
from digram.tokenizer import stream

dropouts = st.sampled_from([0.0, 0.05, 0.1, 0.5, 0.9, 1.0]) | st.floats(0, 1)
seeds = st.integers(0, 2**64 - 1) | st.integers(0, 9)


@cases(500)
@given(vocabularies(), over("abc", 24) | long_texts, dropouts, seeds)
def test_any_merges(vocabulary: Vocabulary, text: str, dropout: float, seed: int) -> None:
    tok = digram.Tokenizer(vocabulary.definition)
    chance = reference.numbers(seed)
    expected = reference.encode_with_dropout(text.encode(), vocabulary.merges, dropout, chance)
    assert tok.encode(text, dropout=dropout, seed=seed) == expected


def by_words(
    tok: digram.Tokenizer, words: list[Any], merges: Any, dropout: float, seed: int
) -> list[int]:
    chance = reference.numbers(seed)
    return [
        id_
        for word in words
        for id_ in reference.encode_with_dropout(word, merges, dropout, chance)
    ]


@cases(300)
@given(tokenizers("gpt2", "o200k", "whitespace"), texts, dropouts, seeds)
def test_the_pretokens_of_a_text(
    tok: digram.Tokenizer, text: str, dropout: float, seed: int
) -> None:
    merges = {(left, right): whole for left, right, whole in bpe(tok.definition).merges}
    words = [pretoken.encode() for pretoken in tok.pretokenize(text)]
    expected = by_words(tok, words, merges, dropout, seed)
    assert tok.encode(text, dropout=dropout, seed=seed) == expected
    assert tok.encode(text.encode(), dropout=dropout, seed=seed) == expected
    assert tok.decode(expected) == text


@cases(300)
@given(small_corpora, texts, st.sampled_from(["bytes", "token", "error"]), dropouts, seeds)
def test_characters(
    corpus: list[str], text: str, on_unknown: str, dropout: float, seed: int
) -> None:
    """The runs of known characters are the words; the others are as they are without dropout."""
    rule: Any = digram.SpecialToken("<unk>") if on_unknown == "token" else on_unknown
    tok = digram.train(corpus, unit="char", pretokenizer=None, max_merges=8, on_unknown=rule)
    merges = {(left, right): whole for left, right, whole in bpe(tok.definition).merges}
    singles = {c: tok.encode(c) for c in set("".join(corpus))}
    expected, chance, word = list[int](), reference.numbers(seed), list[int]()
    for c in [*text, None]:
        if c in singles:
            word += singles[c]
            continue
        expected += reference.encode_with_dropout(word, merges, dropout, chance)
        word = []
        if c is None:
            break
        if on_unknown == "error":
            with pytest.raises(digram.InvalidTextError) as caught:
                tok.encode(text, dropout=dropout, seed=seed)
            assert caught.value.index == next(n for n, c in enumerate(text) if c not in singles)
            return
        expected += tok.encode(c)
    assert tok.encode(text, dropout=dropout, seed=seed) == expected


@cases(300)
@given(
    any_tokenizers,
    special_texts,
    st.lists(special_soups | texts, max_size=6),
    st.sampled_from(["text", "parse"]),
    st.sampled_from([None, 1, 3]),
    dropouts,
    seeds,
    st.sampled_from([1, 3_000]),
)
def test_a_batch_is_its_texts(
    plain: digram.Tokenizer,
    special: list[str],
    batch: list[str],
    how: Any,
    threads: int | None,
    dropout: float,
    seed: int,
    times: int,
) -> None:
    """Text i has the seed that is i higher, on any number of threads."""
    tok = plain.with_special_tokens(special)
    batch = batch * min(times, 40_000 // (sum(map(len, batch)) + 1) + 1)
    options: dict[str, Any] = {"special": how, "dropout": dropout}
    expected = [
        tok.encode(text, seed=(seed + i) % 2**64, **options) for i, text in enumerate(batch)
    ]
    assert tok.encode_batch(batch, seed=seed, threads=threads, **options) == expected
    flat = tok.encode_batch(batch, seed=seed, threads=threads, out="numpy", **options)
    assert flat.ids.tolist() == [id_ for ids in expected for id_ in ids]
    for text, ids in list(zip(batch, expected, strict=True))[:6]:
        assert tok.decode(ids) == text


@cases(200)
@given(
    any_tokenizers,
    special_texts,
    st.lists(special_soups | texts, max_size=9),
    st.sampled_from(["text", "parse"]),
    st.integers(1, 4),
    st.sampled_from([1, 20, 1 << 22]),
    dropouts,
    seeds,
)
def test_any_number_of_texts_are_one_batch(
    plain: digram.Tokenizer,
    special: list[str],
    batch: list[str],
    how: Any,
    most_texts: int,
    most_length: int,
    dropout: float,
    seed: int,
) -> None:
    """However many texts are taken at a time."""
    tok = plain.with_special_tokens(special)
    options: dict[str, Any] = {"special": how, "dropout": dropout, "seed": seed}
    expected = tok.encode_batch(batch, **options)
    with pytest.MonkeyPatch.context() as few:
        few.setattr(stream, "BATCH_TEXTS", most_texts)
        few.setattr(stream, "BATCH_LENGTH", most_length)
        assert list(tok.encode_iter(iter(batch), **options)) == expected
        arrays = tok.encode_iter(iter(batch), out="numpy", **options)
        assert [array.tolist() for array in arrays] == expected


@cases(300)
@given(vocabularies(ignore_merges=True), over("ab", 16), seeds)
def test_none_and_all(vocabulary: Vocabulary, text: str, seed: int) -> None:
    """Without dropout it is `encode`, whole pretokens included; with all of it, nothing merges."""
    tok = digram.Tokenizer(vocabulary.definition)
    assert tok.encode(text, dropout=0) == tok.encode(text, dropout=0.0, seed=seed)
    assert tok.encode(text, dropout=0) == tok.encode(text)
    assert tok.encode(text, dropout=1, seed=seed) == list(text.encode())


@cases(200)
@given(any_tokenizers, special_texts, st.lists(texts, max_size=4), dropouts, seeds)
def test_parts_are_one_text(
    plain: digram.Tokenizer, special: list[str], parts: list[str], dropout: float, seed: int
) -> None:
    tok = plain.with_special_tokens(["<|0|>", *(s for s in special if s)])
    mixed: list[Any] = []
    for part in parts:
        mixed += [part, digram.SpecialToken("<|0|>")]
    text = "".join(part + "<|0|>" for part in parts)
    options: dict[str, Any] = {"dropout": dropout, "seed": seed}
    only = tok.encode(text, special={"<|0|>"}, **options)
    assert tok.encode(mixed, **options) == only


def test_frequencies_are_those_of_the_definition() -> None:
    """Of `ana` under (a, n), (an, a): no merge with p, one with (1-p)p, both with (1-p)²."""
    tok = digram.Tokenizer(
        digram.Definition(
            tokens=[*reference.BYTES, b"an", b"ana"],
            model=digram.BpeModel([(97, 110, 256), (256, 97, 257)]),
            pretokenizer=digram.Pretokenizer(None),
        )
    )
    times = 20_000
    for p in (0.1, 0.5, 0.8):
        found = Counter(map(tuple, tok.encode_batch(["ana"] * times, dropout=p, seed=1)))
        likely = {(97, 110, 97): p, (256, 97): (1 - p) * p, (257,): (1 - p) ** 2}
        assert found.keys() == likely.keys()
        for ids, chance in likely.items():
            sigma = math.sqrt(times * chance * (1 - chance))
            assert abs(found[ids] - times * chance) < 5 * sigma, (p, ids)


def test_two_places_are_dropped_independently() -> None:
    """Of `abab` under (a, b): both are dropped with p², then none is left; see the paper."""
    tok = digram.Tokenizer(
        digram.Definition(
            tokens=[*reference.BYTES, b"ab"],
            model=digram.BpeModel([(97, 98, 256)]),
            pretokenizer=digram.Pretokenizer(None),
        )
    )
    p, times = 0.6, 20_000
    found = Counter(map(tuple, tok.encode_batch(["abab"] * times, dropout=p, seed=2)))
    likely = {
        (97, 98, 97, 98): p * p,
        (256, 97, 98): (1 - p) * p,
        (97, 98, 256): p * (1 - p) * p,
        (256, 256): (1 - p) * (1 - p) + p * (1 - p) * (1 - p),
    }
    for ids, chance in likely.items():
        sigma = math.sqrt(times * chance * (1 - chance))
        assert abs(found[ids] - times * chance) < 5 * sigma, ids


def test_more_dropout_makes_more_tokens() -> None:
    text = "she sells sea shells by the sea shore; the shells she sells are sea shells. " * 4
    tok = digram.train(text, max_merges=60, pretokenizer="gpt2")
    means = []
    for p in (0.0, 0.1, 0.3, 0.6, 0.9, 1.0):
        batch = tok.encode_batch([text] * 50, dropout=p, seed=3)
        means.append(sum(map(len, batch)) / 50)
    assert means == sorted(means)
    assert len(set(means)) == len(means)
    assert (means[0], means[-1]) == (tok.count(text), len(text.encode()))


def test_errors() -> None:
    tok = digram.train("ab", max_merges=1)
    for wrong in (-0.1, 1.1, math.nan, math.inf):
        with pytest.raises(digram.OptionError, match="is not a probability, from 0 to 1"):
            tok.encode("ab", dropout=wrong, seed=1)
        with pytest.raises(digram.OptionError):
            tok.encode_batch(["ab"], dropout=wrong, seed=1)
        with pytest.raises(digram.OptionError):
            tok.encode_iter(["ab"], dropout=wrong, seed=1)
    with pytest.raises(digram.OptionError, match="Pass seed=, and another one"):
        tok.encode("ab", dropout=0.1)
    with pytest.raises(digram.OptionError, match="Pass seed="):
        tok.encode_batch(["ab"], dropout=0.1)
    with pytest.raises(digram.OptionError, match="Pass seed="):
        tok.encode_iter(["ab"], dropout=0.1)
    for seed in (-1, 2**64):
        with pytest.raises(digram.OptionError, match="from 0 to 2"):
            tok.encode("ab", dropout=0.1, seed=seed)
        with pytest.raises(digram.OptionError, match="from 0 to 2"):
            tok.encode_iter(["ab"], dropout=0.1, seed=seed)
    assert tok.encode("ab", seed=7) == tok.encode("ab")
