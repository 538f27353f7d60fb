"""A long call that another thread stops, as a server does for a client that left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import digram
from digram._core import Stopper

TEXT = "".join(f"{n} sheep and {n * n} goats\n" for n in range(100_000))
TOK = digram.train(TEXT[:20_000], vocab_size=400)
IDS = TOK.encode(TEXT)

CALLS: dict[str, Callable[[], Any]] = {
    "encode": lambda: TOK.encode(TEXT),
    "encode on threads": lambda: TOK.encode_batch([TEXT] * 4, threads=2),
    "count": lambda: TOK.count(TEXT),
    "decode": lambda: TOK.decode(IDS),
    "offsets": lambda: TOK(TEXT).offsets,
    "evaluate": lambda: digram.evaluate(TOK, [TEXT], progress=False),
    "train": lambda: digram.train(TEXT, vocab_size=2000, progress=False),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_is_stopped(call: Callable[[], Any]) -> None:
    stopper, begun, ended = Stopper(), threading.Event(), list[BaseException]()

    def work() -> None:
        try:
            with stopper:
                while True:  # else a fast machine is done before it is stopped
                    begun.set()
                    call()
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    begun.wait()
    assert not stopper.is_stopped
    stopper.stop()
    thread.join(60)
    assert stopper.is_stopped
    assert [type(error) for error in ended] == [KeyboardInterrupt]


def test_nothing_else_is_stopped() -> None:
    stopper = Stopper()
    stopper.stop()
    assert TOK.encode(TEXT) == IDS  # not in its block
    with stopper, pytest.raises(KeyboardInterrupt):
        TOK.encode(TEXT)
    assert TOK.encode(TEXT) == IDS  # and the tokenizer is as it was
    with Stopper():
        assert TOK.encode(TEXT) == IDS
        found: list[list[int]] = []
        with stopper:  # of this thread, not of others
            thread = threading.Thread(target=lambda: found.append(TOK.encode(TEXT)))
            thread.start()
            thread.join()
    assert found == [IDS]
