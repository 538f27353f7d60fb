"""Reading ahead: in order, bounded, errors at their place, and gone when nobody wants more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import digram
from digram.corpus import Corpus
from digram.corpus.prefetch import Ahead
from digram.errors import DigramError


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "digram-reader"]


def gone(within: float = 2.0) -> bool:
    """Whether no thread reads any more, soon."""
    until = time.monotonic() + within
    while readers() and time.monotonic() < until:
        time.sleep(0.01)
    return not readers()


def test_items_come_in_order_and_at_most_two_are_made_before_they_are_asked_for() -> None:
    made = 0

    def items() -> Iterator[int]:
        nonlocal made
        for number in range(50):
            made += 1
            yield number

    with Ahead(items()) as ahead:
        assert made == 0
        for number in ahead:
            time.sleep(0.001)
            assert made <= number + 3
    assert made == 50
    assert gone()


def test_an_error_comes_at_its_place() -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2
        raise ZeroDivisionError("third")

    ahead = Ahead(items())
    assert [next(ahead), next(ahead)] == [1, 2]
    with pytest.raises(ZeroDivisionError, match="third"):
        next(ahead)
    assert list(ahead) == []
    assert gone()


@pytest.mark.parametrize("asked", [0, 1, 3])
def test_closing_ends_the_thread_and_the_iterator(asked: int) -> None:
    closed = threading.Event()

    def endless() -> Iterator[bytes]:
        try:
            while True:
                yield b"x" * 1000
        finally:
            closed.set()

    ahead = Ahead(endless())
    for _ in range(asked):
        next(ahead)
    begun = time.perf_counter()
    ahead.close()
    assert time.perf_counter() - begun < 10
    assert gone()
    assert closed.is_set() == bool(asked)
    assert list(ahead) == []


def test_an_iterator_that_is_dropped_ends_the_thread() -> None:
    ahead = Ahead(iter(range(10**9)))
    assert next(ahead) == 0
    assert readers()
    del ahead
    assert gone()


def test_one_whose_start_was_interrupted_is_dropped_silently() -> None:
    Ahead.__new__(Ahead).__del__()


@pytest.mark.parametrize("runs", [False, True])
def test_ctrl_c_while_the_thread_starts(monkeypatch: pytest.MonkeyPatch, runs: bool) -> None:
    """Ctrl-C reaches the main thread in `Thread.start`, before or after the new thread runs."""
    began = threading.Event()

    def items() -> Iterator[int]:
        began.set()
        yield 1

    class Interrupted(threading.Thread):
        def start(self) -> None:
            if runs:
                super().start()
                assert began.wait(10)
            raise KeyboardInterrupt

    monkeypatch.setattr(threading, "Thread", Interrupted)
    with pytest.raises(KeyboardInterrupt), Ahead(items()) as ahead:
        next(ahead)
    assert gone()


def test_a_signal_that_another_thread_received_is_served_while_one_waits() -> None:
    released = threading.Event()

    def slow() -> Iterator[int]:
        released.wait(30)
        yield 1

    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    with Ahead(slow()) as ahead:
        timer.start()
        begun = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            next(ahead)
        assert time.perf_counter() - begun < 10
        released.set()
    timer.join()


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        for number in range(3000):
            file.write(b'{"text": "%s %d"}\n' % (b"word " * 2000, number))
    return path


def test_a_pass_that_is_given_up_lets_go_of_its_file(large: Path) -> None:
    reading = Corpus.of(digram.files(large)).batches()
    next(reading)
    assert 0 < reading.done < large.stat().st_size
    reading.close()
    assert gone()
    opened = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
    assert str(large) not in opened


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_is_told_and_may_begin_anew(large: Path) -> None:
    reading = Corpus.of(digram.files(large)).batches()
    first = next(reading)
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        said = b""
        try:
            next(reading)
        except DigramError as error:
            said = str(error).encode()
        reading.close()
        counts = digram.count_pretokens(digram.files(large), threads=1)
        os.write(writable, said + b"|%d" % counts.documents)
        os._exit(0)
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        said, _, documents = pipe.read().rpartition(b"|")
    assert os.waitpid(child, 0)[1] == 0
    assert b"its reader is in the parent" in said
    assert documents == b"3000"
    rest = [text for batch in reading for text in batch]
    assert len(first) + len(rest) == 3000


# Counts a file again and again; or begins to read one and ends.
CHILD = """
import signal, sys, digram
from digram.corpus import Corpus
signal.signal(signal.SIGINT, signal.default_int_handler)  # some parents ignore it
digram.count_pretokens(digram.files(sys.argv[1]))  # all is imported
if sys.argv[2] == "end":
    reading = Corpus.of(digram.files(sys.argv[1])).batches()
    print(len(next(reading)), flush=True)
else:
    print("counting", flush=True)
    try:
        while True:
            digram.count_pretokens(digram.files(sys.argv[1]), threads=2)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def child(large: Path, what: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(large), what],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_process_may_end_in_the_midst_of_it(large: Path) -> None:
    with child(large, "end") as process:
        out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert int(out) > 0


@pytest.mark.parametrize("after", [0.02, 0.3])
def test_ctrl_c_while_files_are_read(large: Path, after: float) -> None:
    with child(large, "count") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "counting\n"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        begun = time.perf_counter()
        out, err = process.communicate(timeout=20)
        took = time.perf_counter() - begun
    assert (process.returncode, out, err) == (0, "interrupted\n", "")
    print(f"\nended {took * 1000:.0f} ms after Ctrl-C")
    assert took < 5  # with the end of the interpreter, on a busy machine
