"""Decoded texts are the objects that Python would make; lists are read as Python would."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import digram
from digram import FlatIds, InvalidTextError, TokenIdError

BYTES = digram.train("any text", max_merges=0)
NARROW = st.text(st.characters(max_codepoint=0xFF), max_size=150)
TEXTS = st.text(max_size=150) | NARROW | st.text("aé語\U0001f642", max_size=300)
PIECES = st.sampled_from([b"a" * 64, b"\x80", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f", b"\xff"])
DATA = st.lists(TEXTS.map(str.encode) | PIECES, max_size=6).map(b"".join)


class Index(int):
    """A subclass is not read where it is stored."""


@given(st.lists(DATA, max_size=5))
@example([b"", b"a", "é".encode(), "日".encode(), "\U0010ffff".encode(), b"\xf4\x90\x80\x80"])
def test_texts_are_those_of_python(batch: list[bytes]) -> None:
    expected = [data.decode(errors="replace") for data in batch]
    lists = [list(data) for data in batch]
    ids = np.frombuffer(b"".join(batch), np.uint8).astype(np.uint32)
    offsets = np.cumsum([0, *map(len, batch)]).astype(np.uint64)
    results = [
        BYTES.decode_batch(lists, threads=1),
        BYTES.decode_batch(lists, threads=2),
        BYTES.decode_batch(FlatIds(ids, offsets), threads=1),
        BYTES.decode_batch(FlatIds(ids.astype(np.int64), offsets), threads=1),
        BYTES.decode_batch([np.array(one, np.uint32) for one in lists], threads=1),
        [BYTES.decode(one) for one in lists],
        [BYTES.decode(np.array(one * 2, np.uint32)[: len(one)]) for one in lists],
        [BYTES.decode(np.repeat(np.array(one, np.uint32), 2)[::2]) for one in lists],
        [BYTES.decode([Index(id) for id in one]) for one in lists],
    ]
    for texts in results:
        assert texts == expected
        # The same width, hash and UTF-8 form as Python's own.
        assert list(map(sys.getsizeof, texts)) == list(map(sys.getsizeof, expected))
        assert list(map(hash, texts)) == list(map(hash, expected))
        assert [text.encode() for text in texts] == [text.encode() for text in expected]
    assert [BYTES.decode_bytes(one) for one in lists] == batch
    assert BYTES.decode_bytes_batch(lists, threads=1) == batch
    assert BYTES.decode_bytes_batch(lists, threads=2) == batch
    assert BYTES.decode_bytes_batch(FlatIds(ids, offsets), threads=1) == batch
    assert BYTES.decode_bytes_batch(FlatIds(ids.astype(np.int64), offsets), threads=2) == batch
    for one, data in zip(lists, batch, strict=True):
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            with pytest.raises(InvalidTextError, match=f"at byte {error.start} "):
                BYTES.decode(one, errors="strict")
        else:
            assert BYTES.decode(one, errors="strict") == text


@pytest.mark.parametrize("size", [900, 20_000, 140_000, 5_000_000])
def test_texts_of_many_megabytes_are_those_of_python(size: int) -> None:
    """For these, pages of memory are provided before they are written."""
    kinds = ["plain text, ", "des étés, ", "日本語 ", "a \U0001f642 "]
    batch = [
        (kind * size)[: size + place] for place, kind in enumerate(kinds * (2_000_000 // size))
    ]
    batch = batch or [kind * (size // len(kind)) for kind in kinds[:2]]
    data = [text.encode() for text in batch]
    assert sum(map(len, data)) > 8_000_000
    offsets = np.cumsum([0, *map(len, data)]).astype(np.uint64)
    flat = FlatIds(np.frombuffer(b"".join(data), np.uint8).astype(np.uint32), offsets)
    lists = [list(one) for one in data]
    for threads in [1, 2]:
        for ids in [flat, lists]:
            assert BYTES.decode_batch(ids, threads=threads) == batch
            assert BYTES.decode_bytes_batch(ids, threads=threads) == data
    assert [BYTES.decode(ids) for ids in lists[:4]] == batch[:4]
    assert [BYTES.decode_bytes(ids) for ids in lists[:4]] == data[:4]


@given(
    st.lists(st.integers(0, 255), max_size=80),
    st.sampled_from([-1, -300, 256, 2**30, 2**30 + 1, 2**32, 2**32 + 65, 2**64, -(2**64)]),
    st.integers(0, 80),
)
def test_numbers_that_are_no_ids_are_refused(ids: list[int], wrong: int, place: int) -> None:
    place = min(place, len(ids))
    ids = [*ids[:place], wrong, *ids[place:]]
    with pytest.raises(TokenIdError) as error:
        BYTES.decode(ids)
    assert error.value.index == place
    with pytest.raises(TokenIdError, match=r"batch\[1\]"):
        BYTES.decode_batch([[65], ids], threads=1)
    with pytest.raises(TokenIdError, match=r"batch\[1\]"):
        BYTES.decode_bytes_batch([[65], ids], threads=2)


@pytest.mark.parametrize("wrong", [True, 1.0, "a", None, np.float64(1)])
def test_objects_that_are_no_ids_are_refused(wrong: Any) -> None:
    for before in [0, 1, 30, 100]:
        with pytest.raises(TypeError, match=rf"ids\[{before}\]"):
            BYTES.decode([*[65] * before, wrong, 66])
    assert BYTES.decode([65, np.uint32(66), 0, Index(67)]) == "AB\0C"


def test_bytes_are_not_a_kind_of_errors() -> None:
    with pytest.raises(TypeError, match="errors is a str, not NoneType"):
        BYTES.decode_batch([[65]], errors=None)  # type: ignore[arg-type]


def test_a_list_may_change_while_it_is_read() -> None:
    class Changing:
        def __index__(self) -> int:
            ids.clear()
            return 65

    ids: list[Any] = [66, Changing(), *range(97, 120)]
    with pytest.raises(IndexError):
        BYTES.decode(ids)


def test_errors_of_later_waves_name_their_sequence() -> None:
    many = [[65] * 10] * 5_000
    with pytest.raises(TokenIdError, match=r"batch\[5000\]"):
        BYTES.decode_batch([*many, [66, 256]], threads=1)
    with pytest.raises(TokenIdError, match=r"batch\[5000\]"):
        BYTES.decode_batch([*many, [66, 256]], threads=1, skip_special_tokens=True)
    ids = np.full(50_002, 65, np.uint32)
    ids[-1] = 256
    offsets = np.array([*range(0, 50_001, 10), 50_002], np.uint64)
    with pytest.raises(TokenIdError, match=r"batch\[5000\]"):
        BYTES.decode_batch(FlatIds(ids, offsets), threads=1)
    with pytest.raises(InvalidTextError, match=r"batch\[5000\]"):
        BYTES.decode_batch([*many, [0xFF, 0xFF]], threads=1, errors="strict")
