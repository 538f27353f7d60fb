"""Texts in parts: batches and streams of them give what one call gives for each."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_tokenizers, cases, special_texts, texts

import digram
from digram import SpecialToken

NAMES = ["<a>", "<|end|>"]
parts = st.lists(
    texts
    | special_texts.map("".join)
    | texts.map(str.encode)
    | st.sampled_from(NAMES).map(SpecialToken),
    max_size=4,
)
batches = st.lists(parts | parts.map(tuple) | texts, max_size=5)
rules: st.SearchStrategy[Any] = st.sampled_from(["text", "parse", {"<a>"}])


@cases(200)
@given(any_tokenizers, batches, rules, st.sampled_from([0.0, 0.4]), st.integers(0, 2**64 - 1))
def test_a_batch_gives_what_one_call_gives(
    tok: digram.Tokenizer, batch: list[Any], special: Any, dropout: float, seed: int
) -> None:
    tok = tok.with_special_tokens([name for name in NAMES if name not in tok.special_tokens])
    options: dict[str, Any] = {"special": special, "dropout": dropout}
    expected = [
        tok.encode(text, seed=(seed + i) % 2**64, **options) for i, text in enumerate(batch)
    ]
    options["seed"] = seed
    assert tok.encode_batch(batch, **options) == expected
    assert tok.encode_batch(batch, threads=3, **options) == expected
    flat = tok.encode_batch(batch, out="numpy", **options)
    ends = flat.offsets.tolist()
    assert len(ends) == len(batch) + 1
    assert [flat.ids[a:b].tolist() for a, b in pairwise(ends)] == expected
    arrow = tok.encode_batch(batch, out="arrow", **options)
    assert tok.decode_batch(arrow) == tok.decode_batch(expected)
    assert len(arrow) == len(batch)
    assert [*tok.encode_iter(iter(batch), **options)] == expected
    streamed = tok.encode_iter(iter(batch), out="numpy", **options)
    assert [ids.tolist() for ids in streamed] == expected
    counts = [tok.count(text, special=special) for text in batch]
    assert tok.count_batch(batch, special=special) == counts
    assert tok.count_batch(batch, special=special, out="numpy").tolist() == counts


def test_long_ones_on_all_threads() -> None:
    tok = digram.train("the cat sat on the mat", max_merges=9, special_tokens=["<s>"])
    text = "the cat sat on the mat " * 20_000
    batch: list[Any] = [
        [SpecialToken("<s>"), text, SpecialToken("<s>"), "x", b"y"],
        text,
        [text] * 2,
    ] * 3
    expected = [tok.encode(one) for one in batch]
    assert tok.encode_batch(batch) == expected
    assert tok.count_batch(batch) == [*map(len, expected)]
    assert [*tok.encode_iter(batch * 2)] == expected * 2


def test_faults_name_the_text() -> None:
    tok = digram.train("abc <>", max_merges=0, unit="char", special_tokens=["<s>"])
    cases: list[tuple[Any, Any, str]] = [
        (
            ["a", ["b", "x"]],
            digram.InvalidTextError,
            r"^texts\[1\]: 'x' .* at character 1 is in no",
        ),
        (
            ["a", "b", [SpecialToken("<t>")]],
            digram.SpecialTokenError,
            r"^texts\[2\]: there is no special",
        ),
        ([["a", 3]], TypeError, r"^texts\[0\]: text\[1\] is str or bytes, not int"),
        ([["a"], 3], TypeError, r"^texts\[1\] is str or bytes, not int"),
        ([["a"], ["a", ["b"]]], TypeError, r"^texts\[1\]: text\[1\] is str or bytes, not list"),
        (["a", SpecialToken("<s>")], TypeError, r"^texts\[1\] is str or bytes, not SpecialToken"),
        (["a", ["\ud800"]], digram.InvalidTextError, r"^texts\[1\]: text\[0\]"),
    ]
    for batch, error, message in cases:
        for call in (tok.encode_batch, tok.count_batch, lambda batch: [*tok.encode_iter(batch)]):
            with pytest.raises(error, match=message):
                call(batch)
    with pytest.raises(digram.DigramError, match=r"^texts\[1\]: the text holds the special token"):
        tok.encode_batch(["a", ["b", "<s>"]], special="raise")
    assert tok.encode_batch([[], (), [""]]) == [[], [], []]
    assert tok.encode_batch(np.array(["a", "b"], object)) == [[3], [4]]
