"""How often each id stands in texts, as the core counts it, against the ids themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import vocabularies
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_bytes, cases, texts

import digram

NAMES = [name for name in vocabularies.SAMPLES if name != "characters or an error"]
TOKENIZERS = {name: digram.Tokenizer(vocabularies.SAMPLES[name]) for name in NAMES}


def check(tok: digram.Tokenizer, batch: list[Any], special: Any = "text") -> None:
    """The histogram is that of the ids, on one thread and on two."""
    ids, offsets = tok.encode_batch(batch, out="numpy", special=special)
    for threads in (1, 2):
        rule = None if special == "text" else special
        times, lengths = tok._histogram_batch(batch, rule, threads)
        assert times.dtype == lengths.dtype == np.uint64
        assert times.tolist() == np.bincount(ids, minlength=tok.vocab_size).tolist()
        assert lengths.tolist() == np.diff(offsets).tolist()


@cases(200)
@given(st.lists(texts, max_size=5), st.sampled_from(NAMES))
def test_any_texts(batch: list[str], name: str) -> None:
    check(TOKENIZERS[name], batch)


@cases(50)
@given(st.lists(any_bytes, max_size=5))
def test_bytes_that_are_no_text(batch: list[bytes]) -> None:
    check(TOKENIZERS["gpt2"], batch)


@pytest.mark.parametrize("name", NAMES)
def test_texts_with_special_tokens(name: str) -> None:
    batch = vocabularies.texts(100)
    for special in ("text", "parse", set(list(TOKENIZERS[name].special_tokens)[:1])):
        check(TOKENIZERS[name], batch, special)


@pytest.mark.parametrize("name", ["gpt2", "no pretokenizer", "characters or bytes", "banana"])
def test_a_long_text_is_shared_among_threads(name: str) -> None:
    long = vocabularies.CORPUS * 1200  # 400 kB, more than a thread takes alone
    check(TOKENIZERS[name], [long])
    check(TOKENIZERS[name], ["a short one", long, "", "another", long[::-1]])


def test_nothing() -> None:
    tok = TOKENIZERS["gpt2"]
    nothing: list[list[str | bytes]] = [[], [""], ["", b""]]
    for batch in nothing:
        times, lengths = tok._histogram_batch(batch)
        assert (times.sum(), lengths.tolist()) == (0, [0] * len(batch))


def test_ids_above_the_tokens() -> None:
    tok = TOKENIZERS["holes"]  # a special token at 300, and holes before it
    times, _ = tok._histogram_batch(["<b>a<b>"], "parse")
    assert len(times) == tok.vocab_size == 301
    assert (times[300], times[97], times.sum()) == (2, 1, 3)


def test_an_error_names_the_text() -> None:
    tok = digram.Tokenizer(vocabularies.SAMPLES["characters or an error"])
    with pytest.raises(digram.InvalidTextError, match=r"texts\[1\]"):
        tok._histogram_batch(["low", "ж" * 3])
