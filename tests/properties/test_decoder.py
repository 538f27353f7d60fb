"""A decoder gives, piece by piece, what `decode` gives at once, and gives it as soon as it can."""

from __future__ import annotations

import doctest
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_bytes, any_tokenizers, cases, texts

import digram
from digram import _core

BROKEN = st.lists(
    st.sampled_from([0x41, 0x80, 0x82, 0xA0, 0xAC, 0xC3, 0xE0, 0xE2, 0xED, 0xF0, 0x9F, 0xF4, 0xFF]),
    max_size=12,
)
"""Ids of bytes that begin, continue and break characters in every way."""
SIZES = st.lists(st.integers(0, 5), max_size=20)


def pieces(ids: list[int], sizes: list[int]) -> list[list[int]]:
    """`ids` cut into pieces of these sizes, and the rest."""
    ends = [0]
    for size in sizes:
        ends.append(min(len(ids), ends[-1] + size))
    return [ids[start:end] for start, end in pairwise([*ends, len(ids)])]


@cases(500)
@given(any_tokenizers, BROKEN | any_bytes.map(list), texts, SIZES)
def test_the_texts_join_to_the_whole(
    tok: digram.Tokenizer, ids: list[int], text: str, sizes: list[int]
) -> None:
    ids = ids + tok.encode(text) + ids
    decoder = tok.decoder()
    several = [decoder.extend(piece) for piece in pieces(ids, sizes)]
    assert "".join(several) + decoder.finish() == tok.decode(ids)
    one_by_one = [decoder.push(id_) for id_ in ids]
    assert "".join(one_by_one) + decoder.finish() == tok.decode(ids)
    assert decoder.finish() == ""


SPECIAL = digram.train(
    "the cat sat", max_merges=6, special_tokens=["<s>", "</s>"], reserve={"image": 3}
)
MIXED = st.lists(st.integers(0, SPECIAL.vocab_size - 1) | st.integers(262, 266), max_size=12)


@cases(400)
@given(st.sampled_from([SPECIAL, digram.shrink(SPECIAL, 264)]), st.lists(MIXED), SIZES)
def test_special_tokens_are_left_out(
    tok: digram.Tokenizer, batch: list[list[int]], sizes: list[int]
) -> None:
    batch = [[id for id in ids if id < tok.vocab_size] for ids in batch]
    special = {*tok.special_tokens.values()}
    plain = [[id for id in ids if id not in special] for ids in batch]
    skip: Any = {"skip_special_tokens": True}
    for ids, rest in zip(batch, plain, strict=True):
        for form in (ids, tuple(ids), np.array(ids, np.int64), iter(ids)):
            assert tok.decode(form, **skip) == tok.decode(rest)
        assert tok.decode_bytes(ids, **skip) == tok.decode_bytes(rest)
        assert tok.decode(ids, skip_special_tokens=False) == tok.decode(ids)
        decoder = tok.decoder(**skip)
        joined = "".join(decoder.extend(piece) for piece in pieces(ids, sizes))
        assert joined + decoder.finish() == tok.decode(rest)
        assert "".join(map(decoder.push, ids)) + decoder.finish() == tok.decode(rest)
    flat = np.array([id for ids in batch for id in ids], np.uint32)
    offsets = np.cumsum([0, *map(len, batch)]).astype(np.uint64)
    for many in (batch, digram.FlatIds(flat, offsets)):
        assert tok.decode_batch(many, **skip) == tok.decode_batch(plain)


def test_what_is_no_id_has_its_place_among_all() -> None:
    holes = digram.Tokenizer(SPECIAL.definition).with_special_tokens({"<far>": 300})
    end = SPECIAL.special_tokens["</s>"]
    for wrong in (280, 301, 2**40, -1):
        ids = [end, 97, end, wrong]
        calls: list[Callable[[], object]] = [
            lambda: holes.decode(ids, skip_special_tokens=True),  # noqa: B023
            lambda: holes.decode_bytes(ids, skip_special_tokens=True),  # noqa: B023
            lambda: holes.decoder(skip_special_tokens=True).extend(ids),  # noqa: B023
        ]
        for call in calls:
            with pytest.raises(digram.TokenIdError, match=rf"ids\[3\] = {wrong} ") as caught:
                call()
            assert caught.value.index == 3
        with pytest.raises(digram.TokenIdError, match=rf"batch\[1\]: ids\[3\] = {wrong} "):
            holes.decode_batch([[97], ids], skip_special_tokens=True)
    with pytest.raises(digram.InvalidTextError, match="byte 1"):
        holes.decode([97, end, 0xFF], errors="strict", skip_special_tokens=True)
    wrong_kind: Any = "yes"
    calls = [
        lambda: holes.decode([97], skip_special_tokens=wrong_kind),
        lambda: holes.decode_bytes([97], skip_special_tokens=wrong_kind),
        lambda: holes.decode_batch([[97]], skip_special_tokens=wrong_kind),
        lambda: holes.decoder(skip_special_tokens=wrong_kind),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"^skip_special_tokens is True or False, not 'yes'"):
            call()
    one: Any = np.True_
    assert holes.decode([97, end], skip_special_tokens=one) == "a"


BEGINNINGS = {
    encoded[:size]
    for encoded in (chr(code).encode() for code in range(0x80, 0x110000, 64) if code // 0x800 != 27)
    for size in range(1, len(encoded))
}
"""The bytes that some character begins with; the last byte of a character is not needed for it."""


def certain(data: bytes) -> bytes:
    """`data` without the beginning of a character that may still be finished."""
    held = [size for size in (1, 2, 3) if data[-size:] in BEGINNINGS and size <= len(data)]
    return data[: len(data) - max(held, default=0)]


@cases(500)
@given(BROKEN)
def test_a_text_is_given_as_soon_as_it_is_certain(ids: list[int]) -> None:
    decoder = digram.train("", max_merges=0).decoder()
    text = ""
    for number, id_ in enumerate(ids, start=1):
        text += decoder.push(id_)
        assert text == certain(bytes(ids[:number])).decode(errors="replace")


@cases(400)
@given(any_tokenizers, BROKEN, texts)
def test_strict_raises_where_decode_does(
    tok: digram.Tokenizer, broken: list[int], text: str
) -> None:
    """As soon as no further ids can mend it, and with the same words."""
    ids = tok.encode(text) + broken
    decoder = tok.decoder(errors="strict")
    given_ = ""
    for number, id_ in enumerate(ids, start=1):
        try:
            expected = certain(tok.decode_bytes(ids[:number])).decode()
        except UnicodeDecodeError:
            with pytest.raises(digram.InvalidTextError) as caught:
                decoder.push(id_)
            break
        given_ += decoder.push(id_)
        assert given_ == expected
    else:
        if given_ == tok.decode(ids):
            assert decoder.finish() == ""
            return
        with pytest.raises(digram.InvalidTextError) as caught:
            decoder.finish()
    with pytest.raises(digram.InvalidTextError) as whole:
        tok.decode(ids, errors="strict")
    assert str(caught.value) == str(whole.value)
    assert caught.value.index == whole.value.index


def test_what_is_given_for_ids_is_told() -> None:
    tok = digram.train("any text", max_merges=0)
    one: Any = 65
    for call in (tok.decode, tok.decode_bytes, tok.tokens, tok.decoder().extend):
        with pytest.raises(TypeError, match=r"not int; put one id into a list: \[65\]"):
            call(one)
    with pytest.raises(TypeError, match="ids is a sequence of integers, not None"):
        tok.decode(None)  # type: ignore[arg-type]
    decoder = tok.decoder()
    for wrong, remedy in (
        ("a", "not str; encode gives the ids of a text"),
        (b"a", "not bytes; encode gives the ids of a text"),
        ([65], "not list; extend takes several ids"),
    ):
        with pytest.raises(TypeError, match=f"push takes one token id, {remedy}"):
            decoder.push(wrong)  # type: ignore[arg-type]


def test_a_decoder_shows_what_it_holds_back() -> None:
    decoder = digram.train("any text", max_merges=0).decoder()
    assert repr(decoder) == "<digram.Decoder: nothing held back>"
    decoder.push(0xE2)
    assert repr(decoder) == r"<digram.Decoder: 1 byte held back, b'\xe2'>"
    decoder.push(0x82)
    assert repr(decoder) == r"<digram.Decoder: 2 bytes held back, b'\xe2\x82'>"
    decoder.push(0xAC)
    assert repr(decoder) == "<digram.Decoder: nothing held back>"


@cases(300)
@given(any_tokenizers, st.lists(st.integers(0, 300), max_size=8))
def test_a_call_that_raises_takes_nothing(tok: digram.Tokenizer, ids: list[int]) -> None:
    decoder = tok.decoder()
    given_ = decoder.push(0xE2)
    for bad in (tok.vocab_size, 2**40, -1):
        with pytest.raises(digram.TokenIdError):
            decoder.push(bad)
        with pytest.raises(digram.TokenIdError) as caught:
            decoder.extend([65, bad])
        assert caught.value.index == 1
    for wrong in (True, 1.0, "a"):
        with pytest.raises(TypeError):
            decoder.push(wrong)  # type: ignore[arg-type]
    known = [id_ for id_ in ids if id_ < tok.vocab_size]
    given_ += decoder.extend(np.array(known, np.uint32)) + decoder.finish()
    assert given_ == tok.decode([0xE2, *known])
    with pytest.raises(digram.OptionError):
        tok.decoder(errors="ignore")  # type: ignore[arg-type]


def test_one_decoder_under_several_threads_loses_nothing() -> None:
    tok = digram.train("", max_merges=0)
    decoder = tok.decoder()
    found: list[str] = []

    def work() -> None:
        found.append(decoder.extend([97] * 50_000))
        found.extend(decoder.push(98) for _ in range(500))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    joined = "".join(found) + decoder.finish()
    assert (joined.count("a"), joined.count("b"), len(joined)) == (200_000, 2_000, 202_000)


@cases(300)
@given(
    any_tokenizers,
    st.lists(BROKEN | any_bytes.map(list), max_size=8),
    st.sampled_from([None, 1, 3]),
    st.integers(1, 4_000),
)
def test_decoding_in_every_way_is_the_same(
    tok: digram.Tokenizer, batch: list[list[int]], threads: int | None, times: int
) -> None:
    """Lists, tuples, arrays and flat ids; few, and enough for several threads and waves."""
    batch = batch * min(times, 60_000 // (sum(map(len, batch)) + 1))
    expected = [b"".join(tok.tokens(ids)).decode(errors="replace") for ids in batch]
    offsets = np.cumsum([0, *map(len, batch)]).astype(np.uint64)
    flat = digram.FlatIds(np.array([id_ for ids in batch for id_ in ids], np.uint32), offsets)
    assert tok.decode_batch(batch, threads=threads) == expected
    assert tok.decode_batch(flat, threads=threads) == expected
    assert tok.decode_batch(map(tuple, batch), threads=threads) == expected
    for ids, text in list(zip(batch, expected, strict=True))[:4]:
        assert tok.decode(ids) == tok.decode(np.array(ids, np.int64)) == text
        assert tok.decode(np.array(ids * 2, np.uint32)[::2]) == tok.decode((ids * 2)[::2])


LONG = ["-" * size for size in (14, 15, 16, 17, 40, 300)]


@pytest.mark.parametrize("place", [0, 1, 63, 64, 65, 255, 256, 1_000, 40_000])
def test_long_tokens_and_wrong_ids_at_every_place(place: int) -> None:
    tok = digram.train(LONG * 2, max_merges=40, pretokenizer=None, special_tokens=["<" * 20])
    longest = tok.special_tokens["<" * 20]
    ids = tok.encode("\n".join(LONG) * (place // 60 + 1) + "x" * place)
    ids.insert(place, longest)
    assert tok.decode(ids) == b"".join(tok.tokens(ids)).decode()
    for bad in (tok.vocab_size, 2**32, -1):
        wrong = [*ids[:place], bad, *ids[place:]]
        ways: list[object] = [wrong, tuple(wrong), np.array(wrong, np.int64), iter(wrong)]
        for way in ways:
            with pytest.raises(digram.TokenIdError) as caught:
                tok.decode(way)  # type: ignore[arg-type]
            assert caught.value.index == place
        with pytest.raises(digram.TokenIdError, match=r"^batch\[1\]: ") as caught:
            tok.decode_batch([ids, wrong])
        assert caught.value.index == place
    mixed = [np.int64(id_) if n % 70 == 69 else id_ for n, id_ in enumerate(ids)]
    assert tok.decode(mixed) == tok.decode(ids)
    with pytest.raises(TypeError, match=f"ids.{place}. = True is a bool"):
        tok.decode([*ids[:place], True, *ids[place:]])


def test_the_examples_of_the_compiled_classes_run() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [test for test in finder.find(_core.Decoder, "Decoder", module=False) if test.examples]
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in found:
        runner.run(test)
    assert runner.summarize() == (0, runner.tries)
    assert len(found) >= 4, [test.name for test in found]
