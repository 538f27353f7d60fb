"""A tokenizer is a value: what it is made of decides all, and a change gives another."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    PROPERTIES,
    Ties,
    Vocabulary,
    cases,
    limits,
    sized,
    small_corpora,
    special_soups,
    special_texts,
    texts,
    ties,
    vocabularies,
)
from vocabularies import bpe, changed

import digram
from digram import reference
from digram.pretokenizers.pretokenizer import NAMED, resolve
from digram.vocab.definition import digest, packed
from digram.vocab.settings import OnUnknown


@st.composite
def tokenizers(draw: st.DrawFn) -> digram.Tokenizer:
    """A tokenizer of any kind that training makes."""
    unit = draw(st.sampled_from(["byte", "char"]))
    fallback: st.SearchStrategy[OnUnknown]
    fallback = st.sampled_from(["error", "bytes", digram.SpecialToken("<unk>")])
    special = draw(special_texts)
    return digram.train(
        draw(small_corpora),
        unit=unit,  # type: ignore[arg-type]
        on_unknown=draw(fallback) if unit == "char" else "error",
        pretokenizer=draw(st.none() | st.sampled_from(sorted(NAMED))),
        max_merges=draw(st.integers(0, 8)),
        special_tokens=special,
        special_first=draw(st.booleans()),
    )


def behaviour(tok: digram.Tokenizer, text: str) -> Any:
    """What can be seen of a tokenizer at a text."""
    try:
        ids = tok.encode(text, special="parse")
    except digram.InvalidTextError as error:
        return str(error), error.index
    return ids, tok.tokens(ids), tok.decode(ids), tok.count(text, special="parse")


@cases(200)
@given(tokenizers(), special_soups | texts)
def test_copies_are_equal_and_do_the_same(tok: digram.Tokenizer, text: str) -> None:
    made = [
        pickle.loads(pickle.dumps(tok)),
        copy.copy(tok),
        copy.deepcopy(tok),
        digram.Tokenizer(tok.definition),
    ]
    for other in made:
        assert other == tok
        assert hash(other) == hash(tok)
        assert other.digest == tok.digest
        assert other.definition == tok.definition
        assert other.merge_log == tok.merge_log
        assert other.training == tok.training
        assert behaviour(other, text) == behaviour(tok, text)


@cases(200)
@given(tokenizers(), st.data())
def test_what_changes_behaviour_changes_the_digest(
    tok: digram.Tokenizer, data: st.DataObject
) -> None:
    """And where it comes from does not."""
    definition = tok.definition
    same = digram.Tokenizer(replace(definition, training=None))
    assert same == tok
    assert (same.digest, hash(same)) == (tok.digest, hash(tok))
    assert same.training is None
    # The core packs the same bytes as plain values do.
    assert tok._model.packed() == packed(definition)
    assert tok.digest == digest(definition)
    free = tok.vocab_size
    changes: list[dict[str, Any]] = [
        {"ignore_merges": not bpe(definition).ignore_merges},
        {"pretokenizer": resolve("gpt2" if tok.pretokenizer.name != "gpt2" else None)},
        {"pretokenizer": digram.Pretokenizer("gpt2", digits="individual")},
        {"special_tokens": {**definition.special_tokens, "<new>": free}},
        {"tokens": [*definition.tokens, *[None] * (free - len(definition.tokens)), b"zzz"]},
    ]
    if bpe(definition).merges:
        changes.append({"merges": bpe(definition).merges[:-1]})
    if definition.unit == "byte":
        tokens = list(definition.tokens)
        shift = next(n for n, token in enumerate(tokens) if token == b"\x00")
        tokens[shift], tokens[shift + 1] = tokens[shift + 1], tokens[shift]
        changes.append({"tokens": tokens})
    other = digram.Tokenizer(changed(definition, **data.draw(st.sampled_from(changes))))
    assert other != tok
    assert other.digest != tok.digest


@cases(300)
@given(vocabularies(size=4), vocabularies(size=4))
def test_equal_means_equal_behaviour(one: Vocabulary, other: Vocabulary) -> None:
    left, right = digram.Tokenizer(one.definition), digram.Tokenizer(other.definition)
    same = one.definition == other.definition
    assert (left == right) is (left.digest == right.digest) is same
    assert len({left, right}) == 2 - same


@cases(250)
@given(small_corpora, ties, limits, special_texts, special_soups)
def test_special_tokens_added_later_are_as_if_trained_with(
    corpus: list[str], ties: Ties, limits: dict[str, int], special: list[str], text: str
) -> None:
    """The tokenizer they are added to stays as it was; ids go on from the highest one."""
    options = sized(limits, reference.BYTES)
    plain = digram.train(corpus, pretokenizer=None, ties=ties, **options)
    if "vocab_size" in options:
        options["vocab_size"] += len(special)
    trained = digram.train(corpus, pretokenizer=None, ties=ties, special_tokens=special, **options)
    before = plain.digest
    added = plain.with_special_tokens(special)
    assert (plain.digest, plain.special_tokens) == (before, {})
    assert added == trained
    assert added == plain.with_special_tokens(trained.special_tokens)
    one_by_one = plain
    for token in special:
        one_by_one = one_by_one.with_special_tokens([token])
    assert one_by_one == added
    assert (added == plain) is (not special)
    assert behaviour(added, text) == behaviour(trained, text)
    if special:
        with pytest.raises(digram.DigramError):
            added.with_special_tokens(special)


@cases(150)
@given(tokenizers())
def test_ids_and_tokens_lead_to_each_other(tok: digram.Tokenizer) -> None:
    ids = [n for n, token in enumerate(tok.definition.tokens) if token is not None]
    ids += tok.special_tokens.values()
    assert len(tok) == len(set(ids)) == len(ids)
    assert tok.vocab_size == max(ids, default=-1) + 1
    for text, id_ in tok.special_tokens.items():
        assert tok.id_to_token(id_) == text.encode()
    fallback = tok.definition.byte_ids or []
    for id_ in set(ids) - set(tok.special_tokens.values()) - set(fallback):
        token = tok.id_to_token(id_)
        if token.decode(errors="replace") not in tok.special_tokens:
            assert tok.token_to_id(token) == id_


@pytest.mark.parametrize(
    "name", ["encode", "count", "decode", "decode_bytes", "tokens", "intervals"]
)
def test_wrong_arguments_name_the_class_that_users_know(name: str) -> None:
    tok = digram.train("ab", max_merges=1)
    with pytest.raises(TypeError, match=rf"^Tokenizer\.{name}\(\) missing 1 required"):
        getattr(tok, name)()
    with pytest.raises(TypeError, match=rf"^Tokenizer\.{name}\(\) got an unexpected keyword"):
        getattr(tok, name)("ab", wrong=1)


def test_the_properties_are_many() -> None:
    """At least 25 properties and 20,000 cases, of those that this session has collected."""
    files = {"training", "encoding", "special", "pretokenizers", "tokenizer"}
    if not files <= {module for module, _ in PROPERTIES}:
        pytest.skip("only some of the properties were collected")
    assert len(PROPERTIES) >= 25
    assert sum(PROPERTIES.values()) >= 20_000
