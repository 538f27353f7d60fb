"""What is shown of values of others: their repr is code of others, which may do anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import digram

TOK = digram.train("low lower lowest", vocab_size=260, pretokenizer="whitespace")


def shows(shown: Any) -> type[int]:
    """A class of integers with such a repr: a value, or an exception that is raised."""

    def show(_self: int) -> Any:
        if isinstance(shown, BaseException):
            raise shown
        return shown

    return type("I", (int,), {"__repr__": show, "__str__": show})


REPRS: dict[str, Any] = {
    "characters of two bytes": "é" * 60,
    "characters of four bytes": "🙂" * 500,
    "one more than is shown": "é" * 81,
    "very long": "x" * 10**6,
    "surrogates": "\ud800" * 90,
    "control characters": "\x1b[31m\n" * 20,
    "no str": 7,
    "nothing": "",
    "an exception": ValueError("no repr"),
    "no memory": MemoryError(),
}

SEQUENCES = digram.train_ids([[1, 2, 3] * 9], vocab_size=8)

CALLS: dict[str, Callable[[Any], object]] = {
    "decode": lambda value: TOK.decode([value]),
    "decode, after others": lambda value: TOK.decode([97, 98, value]),
    "decode of a tuple": lambda value: TOK.decode((value,)),
    "decode of an iterator": lambda value: TOK.decode(iter([97, value])),
    "decode of one": TOK.decode,
    "decode_bytes": lambda value: TOK.decode_bytes([value]),
    "decode_batch": lambda value: TOK.decode_batch([[97], [value]]),
    "tokens": lambda value: TOK.tokens([value]),
    "id_to_token": TOK.id_to_token,
    "merge_tree": lambda value: digram.merge_tree(TOK, value),
    "push": lambda value: TOK.decoder().push(value),
    "extend": lambda value: TOK.decoder().extend([value]),
    "seed": lambda value: TOK.encode("low", dropout=0.5, seed=value),
    "symbols": SEQUENCES.symbols,
    "decode_ids": lambda value: SEQUENCES.decode_ids([value]),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("shown", REPRS)
@pytest.mark.parametrize("number", [2**70, -1, 10**5000], ids=["2**70", "-1", "huge"])
def test_a_value_of_others_is_shown_cut(call: str, shown: str, number: int) -> None:
    value = shows(REPRS[shown])(number)
    with pytest.raises((digram.DigramError, TypeError)) as raised:
        CALLS[call](value)
    message = str(raised.value)
    assert len(message) < 500, len(message)
    assert not any(character < " " for character in message), message
    assert not any("\ud800" <= character <= "\udfff" for character in message), ascii(message)


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_in_a_repr_is_heard(call: str) -> None:
    with pytest.raises((KeyboardInterrupt, digram.DigramError, TypeError)):
        CALLS[call](shows(KeyboardInterrupt())(2**70))


def test_ctrl_c_in_a_repr_comes_through() -> None:
    value = shows(KeyboardInterrupt())(2**70)
    for call in ["decode", "tokens", "push", "seed"]:
        with pytest.raises(KeyboardInterrupt):
            CALLS[call](value)


def test_ctrl_c_in_an_index_comes_through() -> None:
    class Index:
        def __index__(self) -> int:
            raise KeyboardInterrupt

    for given in ([Index()], (Index(),)):
        with pytest.raises(KeyboardInterrupt):
            TOK.decode(given)


def test_eighty_characters_are_shown_whole() -> None:
    with pytest.raises(digram.TokenIdError, match=f"= {'é' * 80} is not"):
        TOK.decode([shows("é" * 80)(2**70)])
    with pytest.raises(digram.TokenIdError, match=f"= {'é' * 79}… is not"):
        TOK.decode([shows("é" * 81)(2**70)])


def test_the_first_unknown_id_ends_an_iterable_without_an_end() -> None:
    def endless() -> Any:
        yield 97
        while True:
            yield 300

    with pytest.raises(digram.TokenIdError, match=r"ids\[1\] = 300 is not in this vocabulary"):
        TOK.decode(endless())
    with pytest.raises(digram.TokenIdError, match=r"ids\[260\] = 260 is not"):
        TOK.decode(range(2**40))
    with pytest.raises(digram.TokenIdError, match=r"batch\[1\]: ids\[260\] = 260 is not"):
        TOK.decode_batch([[97], range(2**40)])
