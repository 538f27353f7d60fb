"""Text in chunks, many texts in bounded memory, ids as Arrow data: the same ids as of the whole."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from itertools import chain, cycle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases, special_soups, texts

import digram
from digram.tokenizer import stream

CORPUS = "the cat, the dog and the 12345 birds; don't   they sing?\n\nヤマト語 hier wohl — <a> " * 3
TOKENIZERS = [
    digram.train(
        CORPUS, vocab_size=340, pretokenizer=pretokenizer, special_tokens=["<|end|>", "<|e", "<s>"]
    )
    for pretokenizer in ("cl100k", "o200k", "gpt2", "whitespace", digram.Regex(r"\b\w+\b|\W"), None)
]


def pieces(data: bytes, lengths: list[int]) -> Iterator[bytes]:
    at = 0
    for length in cycle(lengths):
        if at >= len(data):
            return
        yield data[at : at + length]
        at += length


@cases(250)
@given(
    st.sampled_from(TOKENIZERS),
    texts | special_soups,
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
    st.sampled_from(["text", "parse", {"<|end|>"}]),
)
def test_chunks_give_the_ids_of_the_whole(
    tok: digram.Tokenizer, text: str, lengths: list[int], special: Any
) -> None:
    expected = tok.encode(text, special=special)
    chunks = list(pieces(text.encode(), lengths))
    assert [*chain.from_iterable(tok.encode_stream(chunks, special=special))] == expected
    arrays = list(tok.encode_stream(chunks, special=special, out="numpy"))
    assert all(array.dtype == np.uint32 and len(array) for array in arrays)
    assert [int(id) for array in arrays for id in array] == expected
    marks = range(0, len(text), lengths[0])
    strings = [text[at : at + lengths[0]] for at in marks]
    assert [*chain.from_iterable(tok.encode_stream(strings, special=special))] == expected


def test_ids_come_before_the_text_ends() -> None:
    taken = 0

    def chunks() -> Iterator[str]:
        nonlocal taken
        for taken in range(1, 1001):  # noqa: B007
            yield "some words, and more "

    tok = TOKENIZERS[0]
    first = next(tok.encode_stream(chunks()))
    assert taken < 10
    assert first == tok.encode("some words, and more " * taken)[: len(first)]


def test_a_long_text_in_small_chunks_takes_little_memory() -> None:
    tok = TOKENIZERS[0]
    total = 0
    chunk = "some words, and more " * 50
    next(tok.encode_stream([chunk] * 3, out="numpy"))
    tracemalloc.start()
    for ids in tok.encode_stream((chunk for _ in range(5_000)), out="numpy"):
        total += len(ids)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == tok.count(chunk * 5_000)
    assert peak < 200_000  # 5 MB of text


def test_a_stream_that_would_hold_too_much_says_so() -> None:
    chunks = ["ok then ", *["a" * 100] * 50]
    with pytest.raises(digram.LimitExceededError, match="at byte 7 of the stream"):
        list(TOKENIZERS[0].encode_stream(chunks, limit=1000))
    assert list(TOKENIZERS[0].encode_stream(chunks, limit=10_000))


def test_errors_of_streams() -> None:
    tok = TOKENIZERS[0]
    with pytest.raises(TypeError, match="several pieces"):
        tok.encode_stream("text")
    with pytest.raises(digram.OptionError, match="out='arrow'"):
        tok.encode_stream(["a"], out="arrow")  # type: ignore[call-overload]
    with pytest.raises(digram.OptionError, match="limit=0"):
        tok.encode_stream(["a"], limit=0)
    with pytest.raises(digram.SpecialTokenError, match='"<x>"'):
        tok.encode_stream(["a"], special={"<x>"})
    with pytest.raises(digram.SpecialTokenError, match="byte 6"):
        list(tok.encode_stream(["éé", "ab<|en", "d|>"], special="raise"))
    with pytest.raises(digram.InvalidTextError, match="surrogate"):
        list(tok.encode_stream(["a", "\ud800"]))
    with pytest.raises(TypeError, match="text is str or bytes, not int"):
        list(tok.encode_stream(["a", 1]))  # type: ignore[list-item]
    ended = tok._stream(None, 100)
    ended.push(None)
    with pytest.raises(digram.OptionError, match="ended"):
        ended.push("a")


@pytest.mark.parametrize("out", ["list", "numpy"])
def test_each_text_has_its_ids(out: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "BATCH_LENGTH", 100)
    batch = [CORPUS[at : at + at % 37] for at in range(200)] + ["", "<s>"]
    for special in ("text", "parse"):
        found = TOKENIZERS[0].encode_iter(iter(batch), special=special, out=out, threads=2)
        expected = [TOKENIZERS[0].encode(text, special=special) for text in batch]
        assert [list(map(int, ids)) for ids in found] == expected
    assert list(TOKENIZERS[0].encode_iter([])) == []


def test_texts_are_taken_as_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "BATCH_LENGTH", 100)
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "some text"

    found = TOKENIZERS[0].encode_iter(endless())
    assert next(found) == next(found)
    assert taken == 12


def test_an_error_in_a_batch_names_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "BATCH_TEXTS", 4)
    texts = ["a"] * 5 + ["b<s>"]
    with pytest.raises(digram.SpecialTokenError, match=r"^texts\[1\]: the text holds") as caught:
        list(TOKENIZERS[0].encode_iter(texts, special="raise"))
    assert caught.value.__notes__ == ["in the batch that starts with text 4"]


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (digram.OptionError, {"threads": 0}),
        (digram.OptionError, {"out": "arrow"}),
        (digram.OptionError, {"special": "sometimes"}),
        (digram.SpecialTokenError, {"special": {"<x>"}}),
        (digram.OptionError, {"dropout": 2, "seed": 1}),
        (digram.OptionError, {"dropout": 0.1}),
        (TypeError, {"dropout": 0.1, "seed": "1"}),
    ],
)
def test_what_every_batch_would_refuse_is_refused_before_a_text_is_taken(
    error: type[Exception], options: dict[str, Any]
) -> None:
    source = iter(["a", "b"])
    with pytest.raises(error):
        TOKENIZERS[0].encode_iter(source, **options)
    assert list(source) == ["a", "b"]


def test_arrow_lists_hold_the_ids_and_own_their_memory() -> None:
    tok = TOKENIZERS[0]
    batch = ["the cat", "", "語 1", "<s>"]
    ids = tok.encode_batch(batch, special="parse", out="arrow")
    assert len(ids) == 4
    array = pa.array(ids)
    array.validate(full=True)
    assert array.type == pa.large_list(pa.field("item", pa.uint32(), nullable=False))
    table = pa.table(ids)
    expected = [tok.encode(text, special="parse") for text in batch]
    assert array.values.buffers()[1].address == pa.array(ids).values.buffers()[1].address
    ids.__arrow_c_stream__()  # capsules that nobody takes are freed
    ids.__arrow_c_array__()
    assert pa.DataType._import_from_c_capsule(ids.__arrow_c_schema__()) == array.type
    del ids
    gc.collect()
    assert array.to_pylist() == expected
    assert table.to_pydict() == {"ids": expected}
    assert pa.array(tok.encode_batch([], out="arrow")).to_pylist() == []


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(digram.OptionError, match="'list', 'numpy' or 'arrow'"):
        TOKENIZERS[0].encode_batch(["a"], out="torch")  # type: ignore[call-overload]


@pytest.mark.parametrize("tok", TOKENIZERS, ids=lambda tok: str(tok.pretokenizer.name))
def test_a_long_text_on_all_threads_is_the_same_text(tok: digram.Tokenizer) -> None:
    text = (CORPUS + "<|end|>") * 4_000
    assert len(text.encode()) > 1 << 19
    for special in ("text", "parse"):
        alone = tok.encode_batch([text], special=special, threads=1, out="numpy").ids
        for threads in (2, 3):
            shared = tok.encode_batch([text], special=special, threads=threads, out="numpy")
            assert np.array_equal(shared.ids, alone)
        assert tok.encode(text, special=special) == alone.tolist()
        assert tok.count(text, special=special) == len(alone)
        at = text.index("<|end|>", len(text) // 2)
    with pytest.raises(digram.SpecialTokenError, match=f"character {text.index('<|end|>')}\\."):
        tok.encode(text, special="raise")
    rest = text[:at].replace("<|end|>", "") + text[at:]
    with pytest.raises(digram.SpecialTokenError, match=f"character {rest.index('<|end|>')}\\."):
        tok.encode(rest, special="raise")
