"""Objects with a state, used by several threads, and by signal handlers amid a call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import digram
from digram import _core

TOK = digram.train("low lower lowest newer ", vocab_size=270, pretokenizer="cl100k")
TEXT = "low newest, 12 of them! " * 200_000
IDS = TOK.encode_batch([TEXT], out="numpy").ids
Calls = tuple[Callable[[int], object], Callable[[], object]]
"""Work of some length, and a short call of the same object."""


@pytest.fixture
def handler() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Has a handler do something again and again."""
    before = signal.getsignal(signal.SIGPROF)

    def begin(work: Callable[[], object]) -> None:
        signal.signal(signal.SIGPROF, lambda *_: work())
        signal.setitimer(signal.ITIMER_PROF, 0.02, 0.01)

    yield begin
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


def decoder() -> Calls:
    decoder = TOK.decoder()
    return lambda times: decoder.extend(np.tile(IDS, times)), lambda: decoder.push(97)


def counter() -> Calls:
    counter = TOK.counter()
    return lambda times: counter.append(TEXT * times), lambda: counter.append("low")


def stream() -> Calls:
    stream = TOK._stream(None, 1 << 30)
    return lambda times: stream.push_numpy(TEXT * times), lambda: stream.push_numpy("low")


OBJECTS = {"decoder": decoder, "counter": counter, "stream": stream}


@pytest.mark.parametrize("name", OBJECTS)
def test_a_handler_that_comes_back_is_told(
    name: str, handler: Callable[[Callable[[], object]], None]
) -> None:
    """It would wait for the call that waits for it.

    A call asks for signals every 40 ms, so the work is doubled until it lasts longer.
    """
    told: list[BaseException] = []
    for doubled in range(7):
        work, back = OBJECTS[name]()

        def come_back(back: Callable[[], object] = back) -> None:
            try:
                back()
            except digram.DigramError as error:
                told.append(error)

        handler(come_back)
        work(4 << doubled)
        if told:
            break
    assert told, "no handler ran during a call"
    assert str(told[0]).startswith(f"a signal handler used this {name} during a call"), told
    back()


@pytest.mark.parametrize("name", OBJECTS)
def test_threads_take_turns(name: str) -> None:
    """A thread that waits for another gives up the GIL, which that one needs."""
    work, back = OBJECTS[name]()
    errors: list[BaseException] = []

    def long() -> object:
        return work(4)

    def run(call: Callable[[], object]) -> None:
        try:
            for _ in range(2):
                call()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,), daemon=True) for call in (long, back) * 2]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 60
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    assert not errors


def test_a_separator_is_not_empty() -> None:
    with pytest.raises(digram.OptionError, match="the separator must not be empty"):
        _core.cut(bytearray(b"held"), b"block", b"")


def test_what_is_written_to_while_it_is_hashed_is_read_once() -> None:
    """Its digest is that of some bytes that were there, and nothing is read beyond them."""
    data = bytearray(8 << 20)
    plain = _core.Blake3()
    plain.update(bytes(data))
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            data[:] = bytes(len(data))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            found = _core.Blake3()
            found.update(memoryview(data))
            assert found.hexdigest() == plain.hexdigest()
    finally:
        stop.set()
        writer.join()


def test_a_digest_is_the_same_of_any_object() -> None:
    data = os.urandom(1_000_003)
    digests = set()
    for given in (data, bytearray(data), memoryview(data), memoryview(bytearray(data))):
        found = _core.Blake3()
        found.update(given)
        digests.add(found.hexdigest())
    assert len(digests) == 1
    with pytest.raises(BufferError, match="one after the other"):
        _core.Blake3().update(memoryview(data)[::2])
    with pytest.raises(TypeError):
        _core.Blake3().update("text")  # type: ignore[arg-type]


def in_a_child(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs code with a tokenizer `tok` and a text that all threads share."""
    code = f"""
import os, resource, digram
tok = digram.train("low lower lowest", vocab_size=260, pretokenizer="cl100k")
text = "low newest, 12 of them! " * 50_000
{code}
"""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment},
    )


EVERYTHING = """
expected = [tok.encode_batch([text], threads=1)[0], tok.count_batch([text], threads=1)[0]]
def threads():
    lines = open("/proc/self/status").read().split("\\n")
    return int(next(line for line in lines if line.startswith("Threads")).split()[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux")
def test_without_threads_fewer_do_the_work() -> None:
    """A user's processes and threads are counted together, so that a limit of one leaves none."""
    done = in_a_child(
        EVERYTHING
        + """
def everything():
    assert [tok.encode(text), tok.count(text)] == expected
    assert tok.encode_batch([text] * 2, threads=8, out="numpy").ids.tolist() == expected[0] * 2
    assert tok.decode_batch([expected[0]] * 50, threads=8) == [text] * 50
    assert tok([text, text], threads=8)[1].ids == expected[0]
    digram.train([text] * 2, vocab_size=300, threads=8, progress=False)
everything()  # whoever it will be may not read the files of all modules
if os.geteuid() == 0:
    os.setgroups([])
    os.setuid(54321)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
import threading
try:
    threading.Thread(target=print).start()
    raise SystemExit("there are threads")
except RuntimeError:
    pass
everything()
print("done")
"""
    )
    assert done.stdout == "done\n", done.stderr[-3000:]
    assert "panicked" not in done.stderr


COUNTED = """
import threading, time
most, done = [], threading.Event()
def look():
    while not done.is_set():
        most.append(threads())
        time.sleep(0.0005)
watcher = threading.Thread(target=look)
watcher.start()
for _ in range(3):
    tok.encode(text * 8)
    tok.count(text * 8)
    tok.encode_batch([text] * 8)
    digram.count_pretokens([text] * 8, pretokenizer="cl100k", progress=False)
done.set()
watcher.join()
print(max(most) - 2)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux")
@pytest.mark.parametrize(("told", "most"), [("1", 0), ("2", 2)])
def test_the_environment_says_how_many_threads(told: str, most: int) -> None:
    done = in_a_child(EVERYTHING + COUNTED, DIGRAM_THREADS=told)
    assert done.returncode == 0, done.stderr[-2000:]
    # A thread that has ended is counted for a moment more, beside the next one.
    assert int(done.stdout) <= most


def test_how_many_threads_is_asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DIGRAM_THREADS", raising=False)
    free = _core.default_threads()
    assert free >= 1
    for told in ("1", " 7 "):
        monkeypatch.setenv("DIGRAM_THREADS", told)
        assert _core.default_threads() == int(told)
    monkeypatch.setenv("DIGRAM_THREADS", "")
    assert _core.default_threads() == free


CALLS: dict[str, Callable[[], Any]] = {
    "encode": lambda: TOK.encode(TEXT),
    "encode_batch": lambda: TOK.encode_batch(["low"]),
    "count": lambda: TOK.count(TEXT),
    "count_batch": lambda: TOK.count_batch(["low"]),
    "decode_batch": lambda: TOK.decode_batch([[97]]),
    "decode_bytes_batch": lambda: TOK.decode_bytes_batch([[97]]),
    "call": lambda: TOK(TEXT),
    "count_pretokens": lambda: digram.count_pretokens(["low"], progress=False),
    "train": lambda: digram.train("low low", vocab_size=258, progress=False),
    "estimate_training": lambda: digram.estimate_training("1 GB", 1_000),
}


@pytest.mark.parametrize("told", ["0", "-1", "many", "1.5", "x" * 500, "²"])
@pytest.mark.parametrize("call", CALLS)
def test_what_is_no_number_of_threads_is_told(
    call: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIGRAM_THREADS", told)
    with pytest.raises(
        digram.OptionError, match=r"DIGRAM_THREADS=.* is not a number of threads"
    ) as error:
        CALLS[call]()
    assert len(str(error.value)) < 300
