"""`tok.vocab` is the mapping that `token_to_id` and `tokens` say, whatever the vocabulary."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from strategies import any_tokenizers, cases, vocabularies

import digram

HELD = [
    digram.train("low low lower", max_merges=4, special_tokens=["<s>", "lo"], reserve={"i": 2}),
    digram.train("low low", max_merges=2, special_first=True, special_tokens=["<s>"]),
    digram.train("low low", max_merges=2, pad_to_multiple=64),
    digram.train("abca é", max_merges=2, unit="char", on_unknown="bytes"),
    digram.train("abca é", max_merges=2, unit="char", on_unknown=digram.SpecialToken("<unk>")),
    digram.prune(digram.train("low lower low", max_merges=5), "w", remove=2, compact=False)[0],
    digram.train("a", max_merges=0).with_special_tokens({"<far>": 300}),
    digram.train("low low lower", max_merges=4, picky=0.9),
]


def check(tok: digram.Tokenizer) -> None:
    expected: dict[bytes, int] = {}
    for id in range(tok.vocab_size):
        try:
            token = tok.id_to_token(id)
        except digram.TokenIdError:  # a hole
            continue
        found = tok.token_to_id(token)
        assert found is not None
        expected.setdefault(token, found)
    assert dict(tok.vocab) == expected
    assert tok.vocab == expected
    assert [*tok.vocab] == [*expected]
    assert [*tok.vocab.values()] == [*expected.values()]
    assert len(tok.vocab) == len(expected)
    for token, id in expected.items():
        assert tok.vocab[token] == id
        assert token in tok.vocab
        assert tok.id_to_token(id) == token


@cases(150)
@given(any_tokenizers)
def test_of_trained_ones(tok: digram.Tokenizer) -> None:
    check(tok)


@cases(100)
@given(vocabularies().map(lambda one: digram.Tokenizer(one.definition)))
def test_of_ones_that_nobody_trained(tok: digram.Tokenizer) -> None:
    check(tok)


@pytest.mark.parametrize("tok", HELD)
def test_of_holes_special_and_equal_tokens(tok: digram.Tokenizer) -> None:
    check(tok)


def test_it_is_a_mapping_that_nobody_changes() -> None:
    tok = HELD[0]
    assert isinstance(tok.vocab, Mapping)
    vocab: Any = tok.vocab
    with pytest.raises(TypeError):
        vocab[b"x"] = 1
    with pytest.raises(TypeError):
        del vocab[b"low"]
    assert vocab["low"] == vocab[b"low"] == tok.token_to_id("low")
    assert "low" in vocab
    assert vocab.get(b"no such token") is None
    for unknown in (b"no such token", 97, None):
        assert unknown not in vocab
        with pytest.raises(KeyError):
            vocab[unknown]
    assert copy.copy(vocab) == pickle.loads(pickle.dumps(vocab)) == vocab
    few = digram.train("ab", max_merges=0, unit="char")
    assert repr(few.vocab) == "<digram.Vocabulary: 2 tokens {b'a': 0, b'b': 1}>"
    assert repr(vocab).endswith(r"{b'\x00': 0, b'\x01': 1, b'\x02': 2, ...}>")


def test_it_is_that_of_hugging_face(tmp_path: Any) -> None:
    import tokenizers

    tok = digram.train("abca é", max_merges=2, unit="char", on_unknown=digram.SpecialToken("<unk>"))
    tok.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json")).get_vocab()
    assert {token.decode(): id for token, id in tok.vocab.items()} == theirs
