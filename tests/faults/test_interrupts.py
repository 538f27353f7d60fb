"""Ctrl-C stops whatever a tokenizer does with much text, soon, and what is left works as before.

All times are of the processor, so that a machine with other work to do changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import repeat
from typing import Any

import pytest

import digram

pytestmark = pytest.mark.alone

AFTER = 0.05
"""Seconds after which Ctrl-C comes."""
SOON = 0.25
"""Seconds after which it is served: 0.2 are promised. Two threads together take twice as many."""

TOK = digram.train("low lower lowest newer ", vocab_size=270, pretokenizer="cl100k")
WHOLE = digram.train("low" * 50, vocab_size=262, pretokenizer=None)
TEXT = "low newest, 12 of them! " * 500_000


def endless() -> str:
    """What `WHOLE` separator is empty."""
    return "low" * 4_000_000


def looked_at() -> digram.Encoding:
    """Its places are known, so that making the objects is all that is left."""
    encoding = TOK(TEXT)
    assert encoding.char_to_token(0) == 0
    assert encoding.word_to_tokens(0) is not None
    return encoding


# What is made before, and the call.
CALLS: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "pretokenize": (lambda: TEXT * 3, TOK.pretokenize),
    "pretokenize bytes": ((TEXT * 3).encode, TOK.pretokenize),
    "encode": (lambda: TEXT * 4, TOK.encode),
    "encode without a cut": (endless, WHOLE.encode),
    "encode with dropout": (lambda: TEXT, lambda text: TOK.encode(text, dropout=0.1, seed=1)),
    "encode_batch": (lambda: [TEXT] * 16, lambda texts: TOK.encode_batch(texts, out="numpy")),
    "encode_stream": (lambda: [TEXT * 8], lambda chunks: list(TOK.encode_stream(chunks))),
    "offsets": (lambda: TOK(TEXT), lambda encoding: encoding.offsets),
    "offsets, found before": (looked_at, lambda encoding: encoding.offsets),
    "word_ids, found before": (looked_at, lambda encoding: encoding.word_ids),
    "count": (lambda: TEXT * 16, TOK.count),
    "count_batch": (lambda: [TEXT] * 16, TOK.count_batch),
    "fits": (lambda: TEXT * 8, lambda text: TOK.fits(text, 10**9)),
    "truncate": (endless, lambda text: WHOLE.truncate(text, 1_000_000)),
    "truncate left": (endless, lambda text: WHOLE.truncate(text, 1_000_000, side="left")),
    "chunks": (lambda: TEXT, lambda text: TOK.chunks(text, 512, overlap=64)),
    "intervals": (lambda: TEXT * 8, TOK.intervals),
    "counter": (lambda: TEXT * 8, lambda text: TOK.counter(text).count),
    "compile a regex": (
        lambda: digram.Regex("(?:a?){1,6000}b"),
        lambda regex: digram.pretokenize("a", regex),
    ),
    "decode": (lambda: repeat(97, 50_000_000), TOK.decode),
    "decode_batch": (lambda: repeat([97] * 20, 5_000_000), TOK.decode_batch),
    "decode_bytes_batch": (lambda: repeat([97] * 20, 5_000_000), TOK.decode_bytes_batch),
}


def interrupted(call: Callable[[], object], after: float, alarm: Callable[[float], None]) -> None:
    """Holds a call to it that it ends soon after Ctrl-C, in one of five rounds."""

    def run() -> None:
        try:
            call()
        finally:
            alarm(0)

    lates: list[float] = []
    while len(lates) < 5 and min(lates, default=SOON) >= SOON:
        alarm(after)
        started = time.process_time()
        with pytest.raises(KeyboardInterrupt):
            run()
        lates.append(time.process_time() - started - after)
    assert min(lates) < SOON, f"{min(lates):.2f} s after Ctrl-C"


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c(name: str, alarm: Callable[[float], None]) -> None:
    make, call = CALLS[name]
    argument = make()
    interrupted(lambda: call(argument), AFTER, alarm)
    assert TOK.decode(TOK.encode("low newest")) == WHOLE.decode(WHOLE.encode("low newest"))


@pytest.mark.parametrize("after", [0.1, 0.4])
def test_ctrl_c_while_languages_take_turns(after: float, alarm: Callable[[float], None]) -> None:
    """While their corpus is laid out, and amid the merges."""
    words = " ".join(f"{number * 7919 % 1_000_003:06}lowest" for number in range(150_000))
    counts = digram.count_pretokens(words, pretokenizer="whitespace")
    languages = {str(number): counts for number in range(4)}
    options: dict[str, Any] = {"vocab_size": 900_000, "pretokenizer": "whitespace"}
    interrupted(lambda: digram.train_fair(languages, progress=False, **options), after, alarm)


@pytest.mark.parametrize("after", [0.05, 0.3, 1.0])
def test_ctrl_c_while_merging_from_disk(after: float, alarm: Callable[[float], None]) -> None:
    """While the corpus is written, while a first round is chosen, and amid the rounds."""
    words = " ".join(f"{number * 7919 % 1_000_003:06}lowest" for number in range(150_000))
    counts = digram.count_pretokens(words, pretokenizer="whitespace")
    options: dict[str, Any] = {"vocab_size": 30_000, "memory_limit": "24 MiB", "progress": False}
    interrupted(lambda: digram.train(counts, **options), after, alarm)
