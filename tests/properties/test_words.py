"""WordLevel and models of the longest token obey the reference, and keep the laws of tokenizers."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram.pretokenizers import SPACED_WORDS
from digram.reference import whole_words as reference

UNKNOWN = "[UNK]"
LETTERS = "ab é日😀"
words = st.text("abé日😀", min_size=1, max_size=3)
vocabularies = st.lists(words, min_size=1, max_size=12, unique=True)
texts = st.text(LETTERS, max_size=30)


def of_words(names: list[str], *, splits: bool) -> digram.Tokenizer:
    tokens: list[bytes | None] = [None, *(f" {name}".encode() for name in names)]
    return digram.Tokenizer(
        digram.Definition(
            tokens=tokens,
            model=digram.WordLevelModel(splits=splits),
            pretokenizer=digram.Pretokenizer(None, normalizer=None if splits else SPACED_WORDS),
            special_tokens={UNKNOWN: 0},
            unit="char",
            on_unknown=digram.SpecialToken(UNKNOWN),
            strip_first_space=not splits,
        )
    )


def check(tok: digram.Tokenizer, text: str, ids: list[int]) -> None:
    assert tok.encode(text) == ids
    assert tok.count(text) == len(ids)
    assert tok.encode_batch([text, "", text]) == [ids, [], ids]
    assert [id for chunk in tok.encode_stream([*text]) for id in chunk] == ids
    assert pickle.loads(pickle.dumps(tok)) == tok
    assert len(tok(text).offsets) == len(ids)


@cases(150)
@given(vocabularies, texts)
def test_whole_words(names: list[str], text: str) -> None:
    tok = of_words(names, splits=False)
    ids = {name: number for number, name in enumerate(names, 1)}
    expected = reference.word_level(text.split(), ids, 0)
    check(tok, text, expected)
    assert [text[start:end] for start, end in tok(text).offsets] == text.split()
    spelled = [UNKNOWN if id == 0 else names[id - 1] for id in expected]
    assert tok.decode(expected) == " ".join(spelled)


@cases(150)
@given(vocabularies, texts)
def test_words_of_a_text_that_is_not_split(names: list[str], text: str) -> None:
    tok = of_words(names, splits=True)
    ids = {f" {name}": number for number, name in enumerate(names, 1)}
    check(tok, text, reference.words_of(text, ids, 0))
    spans = tok(text).offsets
    assert "".join(text[start:end] for start, end in spans) == text


@cases(150)
@given(
    st.lists(st.binary(min_size=2, max_size=5), max_size=12, unique=True),
    st.binary(max_size=40),
    st.data(),
)
def test_the_longest_token(more: list[bytes], text: bytes, data: st.DataObject) -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), *more]
    tok = digram.Tokenizer(
        digram.Definition(
            tokens=[*tokens], model=digram.GreedyModel(), pretokenizer=digram.Pretokenizer(None)
        )
    )
    text += b"".join(data.draw(st.lists(st.sampled_from(tokens), max_size=6)))
    ids = reference.greedy(text, {token: id for id, token in enumerate(tokens)})
    assert tok.encode(text) == ids
    assert tok.decode_bytes(ids) == text
    assert [id for chunk in tok.encode_stream([bytes([b]) for b in text]) for id in chunk] == ids


@cases(60)
@given(st.lists(words, min_size=1, max_size=30), st.integers(2, 12), st.integers(1, 3))
def test_training(corpus: list[str], size: int, least: int) -> None:
    tok = digram.train(
        " ".join(corpus),
        model="wordlevel",
        vocab_size=size,
        min_frequency=least,
        special_tokens=[UNKNOWN],
        special_first=True,
    )
    expected = reference.train_word_level(
        corpus, size, min_frequency=least, special_tokens=[UNKNOWN]
    )
    found = [token.decode().removeprefix(" ") for token in tok.vocab if token is not None]
    assert found == expected


def test_a_word_without_a_token_is_an_error_if_there_is_no_unknown_token() -> None:
    tok = digram.Tokenizer(
        digram.Definition(
            tokens=[b" low"],
            model=digram.WordLevelModel(),
            pretokenizer=digram.Pretokenizer(None, normalizer=SPACED_WORDS),
            unit="char",
        )
    )
    assert tok.encode("low low") == [0, 0]
    with pytest.raises(digram.InvalidTextError, match='the word "lower" at character 4 is no'):
        tok.encode("low lower")
