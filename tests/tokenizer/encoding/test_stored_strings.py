"""`str` objects of every form: ids are those of the UTF-8 bytes, and no UTF-8 form is kept."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram

TOK = digram.train(
    ["the café's naïve plan", "日本語の日本語", "🙂🙂 日本 é", "low lower"] * 3,
    vocab_size=300,
    pretokenizer="gpt4",
)
FORMS = ["naïve café", "日本語 and low", "🙂 日本 é", "ascii low", "", "é", "日", "🙂"]
LONG = ["é" * 5_000, "日本" * 70_000, "low “lower” 🙂 " * 9_000, "é" * 70_000]


def repr_of(text: str) -> str:
    return f"{text[:12]!a}…{len(text)}"


def fresh(text: str) -> str:
    """A copy whose UTF-8 form was never computed."""
    return text[:1] + text[1:]


class Named(str):
    """A subclass, which stores its characters elsewhere."""


@pytest.mark.parametrize("threads", [1, 2])
def test_ids_are_those_of_the_bytes(threads: int) -> None:
    texts = FORMS + LONG
    expected = [TOK.encode(text.encode()) for text in texts]
    assert TOK.encode_batch([fresh(text) for text in texts], threads=threads) == expected
    assert TOK.encode_batch([Named(text) for text in texts], threads=threads) == expected
    counts = [len(ids) for ids in expected]
    assert TOK.count_batch([fresh(text) for text in texts], threads=threads) == counts
    arrays = TOK.encode_batch([fresh(text) for text in texts], out="numpy", threads=threads)
    assert arrays.ids.tolist() == [id for ids in expected for id in ids]


@pytest.mark.parametrize("text", FORMS + LONG, ids=repr_of)
def test_ids_of_one_text_are_those_of_the_bytes(text: str) -> None:
    expected = TOK.encode(text.encode())
    assert TOK.encode(fresh(text)) == TOK.encode(Named(text)) == expected
    assert TOK.count(fresh(text)) == TOK.count(Named(text)) == len(expected)
    assert TOK.encode([fresh(text)]) == TOK.encode((text.encode(),)) == expected


@cases(300)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=90), st.integers(1, 300))
def test_ids_of_any_text_are_those_of_the_bytes(text: str, times: int) -> None:
    expected = TOK.encode((text * times).encode())
    assert TOK.encode(fresh(text * times)) == expected
    assert TOK.count(fresh(text * times)) == len(expected)


@cases(300)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=90), max_size=9))
def test_ids_of_any_texts_are_those_of_the_bytes(texts: list[str]) -> None:
    found = TOK.encode_batch([fresh(text) for text in texts], threads=1)
    assert found == [TOK.encode(text.encode()) for text in texts]


def test_random_choices_are_those_of_the_bytes() -> None:
    found = TOK.encode_batch([fresh(text) for text in FORMS], dropout=0.5, seed=3)
    assert found == TOK.encode_batch([text.encode() for text in FORMS], dropout=0.5, seed=3)


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="how CPython stores a str")
@pytest.mark.parametrize("text", [*FORMS[:3], LONG[0]], ids=["Latin-1", "UCS-2", "UCS-4", "long"])
def test_no_other_form_is_kept(text: str) -> None:
    text = fresh(text)
    before = sys.getsizeof(text)
    TOK.encode_batch([text], threads=1)
    TOK.count_batch([text], threads=2)
    TOK.encode(text)
    TOK.count(text)
    assert sys.getsizeof(text) == before


def test_a_form_that_is_kept_already_is_used() -> None:
    text = fresh(FORMS[1])
    TOK.token_to_id(text)
    assert TOK.encode_batch([text]) == [TOK.encode(text)] == [TOK.encode(FORMS[1].encode())]


@pytest.mark.parametrize("call", [TOK.encode_batch, TOK.count_batch])
@pytest.mark.parametrize("start", ["", "é", "日" * 33, "🙂" * 40, "é" * 40_000])
def test_a_surrogate_is_an_error_with_its_place(
    call: Callable[[list[str]], object], start: str
) -> None:
    with pytest.raises(digram.InvalidTextError, match=r"texts\[1\] has a lone surrogate") as caught:
        call(["low", f"{start}\ud800é"])
    assert caught.value.index == len(start)


@pytest.mark.parametrize("call", [TOK.encode, TOK.count])
@pytest.mark.parametrize("start", ["", "é", "日" * 33, "🙂" * 40, "é" * 40_000, "日 " * 200_000])
def test_a_surrogate_in_one_text_is_an_error_with_its_place(
    call: Callable[[str], object], start: str
) -> None:
    with pytest.raises(digram.InvalidTextError, match=r"^the text has a lone surrogate") as caught:
        call(f"{start}\ud800é")
    assert caught.value.index == len(start)
    assert call(fresh(start)) == call(start)


def test_the_two_arrays_of_a_batch_are_decoded() -> None:
    ids, offsets = TOK.encode_batch(FORMS, out="numpy")
    assert TOK.decode_batch((ids, offsets)) == FORMS
    assert TOK.decode_batch((ids, ids)) == [TOK.decode(ids)] * 2


def test_a_special_token_is_found_at_its_character() -> None:
    chat = TOK.with_special_tokens(["<|end|>"])
    with pytest.raises(digram.SpecialTokenError, match=r"texts\[0\].*at character 3") as caught:
        chat.encode_batch([fresh("日本é<|end|>")], special="raise")
    assert caught.value.index == 3
    with pytest.raises(digram.SpecialTokenError, match=r"at character 70003") as caught:
        chat.encode(fresh("日本é" + "é" * 70_000 + "<|end|>"), special="raise")
    assert caught.value.index == 70_003
    assert chat.encode(fresh("日本é<|end|>"), special="parse")[-1:] == chat.encode(
        "<|end|>", special="parse"
    )
