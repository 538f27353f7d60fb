"""A long call that Ctrl-C comes into: how long it goes on, in seconds of the processor.

    .venv/bin/python tests/faults/interrupted.py "encode_batch to arrays" many 1 cold

in a process of its own, since NumPy is loaded once in each. See `test_interrupts_matrix.py`.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import digram

SIZE = 24_000_000
"""Bytes of text, with which most calls take some tenths of a second. A call that is done before the
interrupt comes is made again with twice as much."""

MOST = 16 * SIZE

AFTER = 0.1
"""Seconds after which Ctrl-C comes."""

SOON = 0.25
"""Seconds after which it is served: 0.2 are promised. Two threads together take twice as many."""

ROUNDS = 5

TOK = digram.train("low lower lowest newer ", vocab_size=270, pretokenizer="cl100k")
SPECIAL = TOK.with_special_tokens(["new"])
ONE = "low newest, 12 of them! "
PLAIN: dict[str, Any] = {"pretokenizer": "cl100k", "progress": False}


def calls(
    texts: list[str], chunks: list[str], threads: int
) -> dict[str, tuple[Callable[[], Any], Callable[[Any], object]]]:
    """By name what is made before, and the call."""

    def given() -> list[str]:
        return texts

    def ids() -> list[list[int]]:
        return TOK.encode_batch(texts, threads=2)

    told: dict[str, Any] = {"threads": threads}
    return {
        "encode_batch": (given, lambda t: TOK.encode_batch(t, **told)),
        "encode_batch to arrays": (given, lambda t: TOK.encode_batch(t, out="numpy", **told)),
        "encode_batch to Arrow": (given, lambda t: TOK.encode_batch(t, out="arrow", **told)),
        "dropout": (given, lambda t: TOK.encode_batch(t, dropout=0.1, seed=1, **told)),
        "special": (given, lambda t: SPECIAL.encode_batch(t, special="parse", **told)),
        "count_batch": (given, lambda t: TOK.count_batch(t * 4, **told)),
        "count_batch to arrays": (given, lambda t: TOK.count_batch(t * 4, out="numpy", **told)),
        "call": (given, lambda t: TOK(t, **told)),
        "offsets": (lambda: TOK(texts).encodings, lambda found: [one.offsets for one in found]),
        "encode_iter": (given, lambda t: list(TOK.encode_iter(t, **told))),
        "encode_iter to arrays": (given, lambda t: list(TOK.encode_iter(t, out="numpy", **told))),
        "stream": (lambda: chunks, lambda c: list(TOK.encode_stream(c))),
        "stream to arrays": (lambda: chunks, lambda c: list(TOK.encode_stream(c, out="numpy"))),
        "decode_batch": (ids, lambda found: TOK.decode_batch(found * 2, **told)),
        "decode_bytes_batch": (ids, lambda found: TOK.decode_bytes_batch(found * 2, **told)),
        "decode_batch of Arrow": (
            lambda: TOK.encode_batch(texts * 4, out="arrow"),
            lambda found: TOK.decode_batch(found, **told),
        ),
        "count_pretokens": (given, lambda t: digram.count_pretokens(t * 2, **PLAIN, **told)),
        "train": (given, lambda t: digram.train(t * 2, vocab_size=300, **PLAIN, **told)),
        "train unigram": (
            given,
            lambda t: digram.train(t * 2, vocab_size=60, model="unigram", progress=False, **told),
        ),
        "extend": (given, lambda t: digram.extend(TOK, t * 2, add=5, progress=False, **told)),
        "evaluate": (given, lambda t: digram.evaluate(TOK, t, **told)),
        "audit": (given, lambda t: digram.audit(TOK, t, **told)),
        "pretokenize": (given, lambda t: [TOK.pretokenize(text) for text in t * 2]),
        "chunks": (given, lambda t: [TOK.chunks(text, 8, overlap=2) for text in t]),
        "intervals": (given, lambda t: [TOK.intervals(text) for text in t * 4]),
    }


class NumPyLoading:
    """Finds NumPy, and keeps when it was loaded: an interrupt waits for that, as NumPy could not be
    loaded again, and how long it takes is the machine's.
    """

    done = 0.0

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "numpy":
            return None
        spec = PathFinder.find_spec(name, path, target)
        assert spec is not None
        assert spec.loader is not None
        execute = spec.loader.exec_module

        def timed(module: ModuleType) -> None:
            execute(module)
            self.done = time.process_time()

        spec.loader.exec_module = timed  # type: ignore[method-assign]
        return spec


def main() -> None:
    loading = NumPyLoading()
    sys.meta_path.insert(0, loading)
    name, texts_, threads_, numpy_ = sys.argv[1:]
    if numpy_ == "warm":
        TOK.encode_batch(["a"], out="numpy")
        # What a call imports is loaded. An interrupt inside `exec`, which makes data classes, would
        # give the process the exit status of a signal, although it is caught.
        make, call = calls(["low"], ["low"], 1)[name]
        with contextlib.suppress(digram.DigramError):
            call(make())
    else:
        assert "numpy" not in sys.modules
    threads = int(threads_)

    def made(size: int) -> tuple[Any, Callable[[Any], object]]:
        texts = [ONE] * (size // len(ONE)) if texts_ == "many" else [ONE * (size // len(ONE))]
        chunks = texts if texts_ == "many" else [ONE * (1 << 16)] * (size // (len(ONE) << 16))
        make, call = calls(texts, chunks, threads)[name]
        return make(), call

    # The first array call of a process cannot be made again.
    size = SIZE if numpy_ == "warm" else 4 * SIZE
    argument, call = made(size)

    is_running = False

    def interrupt(*_: object) -> None:
        # The call may be done at the moment at which the signal comes.
        if is_running:
            raise KeyboardInterrupt

    signal.signal(signal.SIGPROF, interrupt)
    lates: list[float] = []
    # NumPy is loaded once, so that there is one round. A machine with much to do may be late once.
    while len(lates) < (1 if numpy_ == "cold" else ROUNDS) and min(lates, default=9.0) > SOON:
        began = time.process_time()
        is_running = True
        signal.setitimer(signal.ITIMER_PROF, AFTER)
        try:
            call(argument)
            is_running = False
        except KeyboardInterrupt:
            lates.append(time.process_time() - max(began + AFTER, loading.done))
        else:
            signal.setitimer(signal.ITIMER_PROF, 0)
            if size == MOST or numpy_ == "cold":
                sys.exit(f"it was done after {time.process_time() - began:.2f} s")
            size *= 2
            argument, call = made(size)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    assert TOK.decode(TOK.encode("low newest")) == "low newest"
    assert TOK.encode_batch(["low"], out="numpy").ids.tolist() == TOK.encode("low")
    print(min(lates))


if __name__ == "__main__":
    main()
