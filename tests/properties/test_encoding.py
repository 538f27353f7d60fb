"""Encoding obeys the reference on any text under any merges, and keeps its laws."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    Ties,
    Vocabulary,
    any_bytes,
    any_tokenizers,
    cases,
    long_texts,
    over,
    sentences,
    small_corpora,
    special_soups,
    special_texts,
    texts,
    ties,
    tokenizers,
    trained_reference,
    vocabularies,
    whole_text_tokenizers,
)
from vocabularies import bpe

import digram
from digram import reference
from digram.pretokenizers.pretokenizer import resolve
from digram.vocab.definition import Definition


@cases(600)
@given(vocabularies(), over("abcd", 24) | long_texts)
def test_any_merges_over_bytes(vocabulary: Vocabulary, text: str) -> None:
    tok = digram.Tokenizer(vocabulary.definition)
    expected = reference.encode(text.encode(), vocabulary.merges)
    assert tok.encode(text) == tok.encode(text.encode()) == expected


PARTS = "aé€".encode()


@cases(400)
@given(
    vocabularies(alphabet=PARTS, size=24),
    over("aé€", 12) | over(PARTS.decode("latin-1"), 24).map(lambda text: text.encode("latin-1")),
    st.integers(1, 6),
)
def test_any_merges_over_parts_of_characters(
    vocabulary: Vocabulary, text: str | bytes, times: int
) -> None:
    """Tokens that begin and end inside characters, on text that may not be UTF-8 itself."""
    data = times * (text.encode() if isinstance(text, str) else text)
    tok = digram.Tokenizer(vocabulary.definition)
    assert tok.encode(data) == reference.encode(data, vocabulary.merges)


@cases(300)
@given(vocabularies(alphabet=b"a"), st.integers(0, 300), over("ab", 4))
def test_runs(vocabulary: Vocabulary, times: int, end: str) -> None:
    text = "a" * times + end
    tok = digram.Tokenizer(vocabulary.definition)
    assert tok.encode(text) == reference.encode(text.encode(), vocabulary.merges)


@cases(300)
@given(vocabularies(ignore_merges=True), over("abc", 8))
def test_a_whole_pretoken_where_merges_are_ignored(vocabulary: Vocabulary, text: str) -> None:
    """A pretoken that is a token is that token; all others are merged as ever."""
    tok = digram.Tokenizer(vocabulary.definition)
    tokens = vocabulary.definition.tokens
    expected = reference.encode(text.encode(), vocabulary.merges)
    if text.encode() in tokens:
        expected = [tokens.index(text.encode())]
    assert tok.encode(text) == expected


@cases(250)
@given(vocabularies())
def test_unreachable_tokens_do_not_encode_to_themselves(vocabulary: Vocabulary) -> None:
    tokens = enumerate(vocabulary.definition.tokens)
    expected = [n for n, t in tokens if t and reference.encode(t, vocabulary.merges) != [n]]
    assert list(digram.Tokenizer(vocabulary.definition).unreachable()) == expected


@cases(300)
@given(small_corpora, ties, st.integers(0, 12), texts)
def test_characters(corpus: list[str], ties: Ties, merges: int, text: str) -> None:
    """The first unknown character is the error, with its place in characters."""
    base = reference.characters(corpus)
    trained = trained_reference(corpus, "char", base, ties, {"max_merges": merges})
    tok = digram.train(corpus, unit="char", pretokenizer=None, ties=ties, max_merges=merges)
    unknown = [place for place, c in enumerate(text) if c.encode() not in base]
    if unknown:
        with pytest.raises(digram.InvalidTextError) as caught:
            tok.encode(text)
        assert caught.value.index == unknown[0]
        text = "".join(c for c in text if c.encode() in base)
    expected = reference.encode(reference.symbols(text, base), trained.merges)
    assert tok.encode(text) == expected
    assert tok.decode(expected) == text


@cases(250)
@given(small_corpora, ties, st.integers(0, 12), texts, st.sampled_from(["bytes", "<unk>"]))
def test_characters_that_training_did_not_see(
    corpus: list[str], ties: Ties, merges: int, text: str, fallback: str
) -> None:
    """They become their bytes or the unknown token; the runs between them are merged alone."""
    bytes_ = reference.BYTES if fallback == "bytes" else []
    base = [*bytes_, *reference.characters(corpus)]
    number = {token: n for n, token in enumerate(base)}  # of equal tokens the character's
    trained = trained_reference(corpus, "char", base, ties, {"max_merges": merges})
    on_unknown: Any = "bytes" if fallback == "bytes" else digram.SpecialToken(fallback)
    tok = digram.train(
        corpus,
        unit="char",
        pretokenizer=None,
        ties=ties,
        max_merges=merges,
        on_unknown=on_unknown,
    )
    expected: list[int] = []
    run: list[int] = []
    for character in [*text, None]:
        token = None if character is None else character.encode()
        if token in number and token not in bytes_[128:] and character in "".join(corpus):
            run.append(number[token])
            continue
        expected += reference.encode(run, trained.merges)
        run = []
        if token is not None:
            expected += list(token) if bytes_ else [tok.special_tokens[fallback]]
    assert tok.encode(text) == expected
    if bytes_:
        assert tok.decode(expected) == text


@cases(250)
@given(small_corpora, ties, st.integers(0, 16), st.sampled_from(["byte", "char"]))
def test_a_training_text_is_as_training_left_it(
    corpus: list[str], ties: Ties, merges: int, unit: Any
) -> None:
    base = reference.BYTES if unit == "byte" else reference.characters(corpus)
    trained = trained_reference(corpus, unit, base, ties, {"max_merges": merges})
    tok = digram.train(corpus, unit=unit, pretokenizer=None, ties=ties, max_merges=merges)
    final = {tok.decode(word): list(word) for word, _ in trained.words}
    for text in filter(None, corpus):
        assert tok.encode(text) == final[text]


@cases(300)
@given(any_tokenizers)
def test_every_learned_token_encodes_to_itself(tok: digram.Tokenizer) -> None:
    """As one pretoken; a published split may cut the text of a token, as it is not its context."""
    whole = digram.Tokenizer(replaced(tok.definition, pretokenizer=resolve(None)))
    for id_ in range(tok.vocab_size):
        assert whole.encode(tok.id_to_token(id_)) == [id_]
        assert tok.token_to_id(tok.id_to_token(id_)) == id_
    assert not tok.unreachable()


def replaced(definition: Definition, **changes: Any) -> Definition:
    fields = {name: getattr(definition, name) for name in Definition.__slots__}
    return Definition(**{**fields, **changes})


@cases(500)
@given(any_tokenizers, texts)
def test_text_comes_back(tok: digram.Tokenizer, text: str) -> None:
    ids = tok.encode(text)
    assert tok.decode(ids) == tok.decode(ids, errors="strict") == text
    assert tok.encode(text.encode()) == ids


@cases(300)
@given(any_tokenizers, any_bytes)
def test_bytes_come_back(tok: digram.Tokenizer, data: bytes) -> None:
    ids = tok.encode(data)
    assert tok.decode_bytes(ids) == b"".join(tok.tokens(ids)) == data
    assert tok.decode(ids) == data.decode("utf-8", errors="replace")


@cases(300)
@given(any_tokenizers, st.lists(st.integers(0, 400), max_size=12))
def test_decoding_any_ids(tok: digram.Tokenizer, ids: list[int]) -> None:
    """Invalid UTF-8 becomes U+FFFD as in Python, or is an error; an unknown id always is one."""
    known = [id_ for id_ in ids if id_ < tok.vocab_size]
    if known != ids:
        with pytest.raises(digram.TokenIdError) as caught:
            tok.decode(ids)
        assert caught.value.index == next(n for n, i in enumerate(ids) if i >= tok.vocab_size)
    data = b"".join(tok.id_to_token(id_) for id_ in known)
    table = [tok.id_to_token(id_) for id_ in range(tok.vocab_size)]
    assert tok.decode_bytes(known) == data
    assert tok.decode(known) == data.decode(errors="replace") == reference.decode(known, table)
    if data.decode(errors="ignore").encode() == data:
        assert tok.decode(known, errors="strict") == data.decode()
    else:
        with pytest.raises(digram.InvalidTextError):
            tok.decode(known, errors="strict")
    for dtype in (np.uint16, np.int64, ">i4"):
        assert tok.decode_bytes(np.array(known, dtype)) == data


@cases(250)
@given(whole_text_tokenizers, long_texts | texts, st.integers(0, 300), st.integers(0, 300))
def test_a_slice_of_a_valid_encoding_is_valid(
    tok: digram.Tokenizer, text: str, start: int, end: int
) -> None:
    part = tok.encode(text)[start:end] if end > start else tok.encode(text)[:end]
    assert tok.encode(tok.decode_bytes(part)) == part


@cases(250)
@given(whole_text_tokenizers, st.lists(st.integers(0, 15), min_size=1, max_size=6))
def test_an_encoding_is_valid_if_each_pair_of_neighbours_is(
    tok: digram.Tokenizer, choices: list[int]
) -> None:
    usual = [*b"abc", *range(256, tok.vocab_size)]
    ids = [usual[choice % len(usual)] for choice in choices]

    def valid(ids: list[int]) -> bool:
        return tok.encode(tok.decode_bytes(ids)) == ids

    assert valid(ids) == all(valid(list(pair)) for pair in pairwise(ids))


def tokenize(text: bytes, merge_rules: list[tuple[bytes, bytes]]) -> list[bytes]:
    """Each rule once, in order, from left to right."""
    tokens = [text[n : n + 1] for n in range(len(text))]
    for left, right in merge_rules:
        merged, at = list[bytes](), 0
        while at < len(tokens):
            found = tokens[at : at + 2] == [left, right]
            merged.append(left + right if found else tokens[at])
            at += 2 if found else 1
        tokens = merged
    return tokens


@cases(400)
@given(whole_text_tokenizers, over("abc", 24) | long_texts | sentences)
def test_each_rule_once_in_order_is_the_same(tok: digram.Tokenizer, text: str) -> None:
    assert tok.tokens(tok.encode(text)) == tokenize(text.encode(), tok.merges)


@cases(250)
@given(small_corpora, ties, st.integers(0, 8), st.integers(0, 8), over("abc", 24) | sentences)
def test_more_merges_only_coarsen(
    corpus: list[str], ties: Ties, fewer: int, more: int, text: str
) -> None:
    small, large = (
        digram.train(corpus, pretokenizer=None, ties=ties, max_merges=n)
        for n in (fewer, fewer + more)
    )
    fine, coarse = (
        set(accumulate(map(len, tok.tokens(tok.encode(text))))) for tok in (small, large)
    )
    assert coarse <= fine


@cases(250)
@given(tokenizers("gpt2", "o200k", "whitespace"), texts, texts, st.integers(1, 40))
def test_a_text_is_its_pretokens(tok: digram.Tokenizer, one: str, other: str, times: int) -> None:
    """Nothing is merged over a border, and each pretoken is encoded as if it stood alone."""
    text = (one + " " + other + "\n") * times + one
    merges = {(left, right): whole for left, right, whole in bpe(tok.definition).merges}
    pretokens = tok.pretokenize(text)
    alone = {p: reference.encode(p.encode(), merges) for p in set(pretokens)}
    assert tok.encode(text) == [id_ for pretoken in pretokens for id_ in alone[pretoken]]
    assert pretokens == digram.pretokenize(text, tok.pretokenizer)


@cases(250)
@given(
    any_tokenizers,
    special_texts,
    st.lists(special_soups | texts, max_size=6),
    st.sampled_from(["text", "parse"]),
    st.sampled_from([None, 1, 2, 3]),
)
def test_a_batch_is_its_texts(
    plain: digram.Tokenizer, special: list[str], batch: list[str], how: Any, threads: int | None
) -> None:
    tok = plain.with_special_tokens(special)
    expected = [tok.encode(text, special=how) for text in batch]
    assert tok.encode_batch(batch, special=how, threads=threads) == expected
    assert tok.encode_batch([t.encode() for t in batch], special=how, threads=threads) == expected
    flat = tok.encode_batch(batch, special=how, threads=threads, out="numpy")
    assert (flat.ids.dtype.name, flat.offsets.dtype.name) == ("uint32", "uint64")
    assert [flat.ids[a:b].tolist() for a, b in pairwise(flat.offsets.tolist())] == expected
    assert tok.decode_batch(expected, threads=threads) == [tok.decode(ids) for ids in expected]


@cases(40)
@given(any_tokenizers, st.lists(texts, min_size=1, max_size=6), st.integers(2, 5))
def test_a_large_batch_on_several_threads(
    tok: digram.Tokenizer, batch: list[str], threads: int
) -> None:
    """Large enough (over 128 KiB) that the core does hand it out."""
    once = [tok.encode(text) for text in batch]
    size = sum(len(text.encode()) for text in batch)
    times = min(200_000 // max(size, 1) + 1, 20_000)
    many = tok.encode_batch(batch * times, threads=threads)
    assert many == once * times
    assert tok.decode_batch(many, threads=threads) == batch * times


@cases(150)
@given(any_tokenizers, texts, texts)
def test_a_lone_surrogate_is_named_on_every_path(
    tok: digram.Tokenizer, before: str, after: str
) -> None:
    text = before + "\udc80" + after
    paths: list[Any] = [
        tok.encode,
        tok.count,
        tok.pretokenize,
        lambda text: tok.encode_batch(["fine", text]),
        lambda text: digram.pretokenize(text, "gpt2"),
        lambda text: digram.train(text, max_merges=1),
        lambda text: digram.train(["fine", text], max_merges=1, unit="char"),
    ]
    for path in paths:
        with pytest.raises(digram.InvalidTextError) as caught:
            path(text)
        assert caught.value.index == len(before)
