"""Runs of `digram.encode_files` that end early: full disks, Ctrl-C, forks, errors of threads."""

from __future__ import annotations

import errno
import itertools
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

import digram
from digram.shards import encoding, formats, pipeline

TOK = digram.train("low lower lowest newer", vocab_size=270, special_tokens=["<|endoftext|>"])
FORMATS = sorted(formats.FORMATS)


def content(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


FULL = """
import resource, sys
import digram
from digram.shards import encoding
from digram.shards.formats import FORMATS
encoding.MIN_BATCH = encoding.BATCH = 4000
tok = digram.train("low lower", max_merges=0, special_tokens=["<|endoftext|>"])
texts = [f"{n * 2654435761 % 2**32:x} low" for n in range(4000)]

def encode(format, folder, **options):
    out = f"{sys.argv[1]}/{folder}-{format}"
    digram.encode_files(tok, texts, out, format=format, shard_tokens=15_000, **options)

for format in FORMATS:
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, -1))
    try:
        encode(format, "full")
    except OSError as error:
        print(error.errno, error.filename, *error.__notes__)
    resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
    encode(format, "full", resume=True)
    encode(format, "whole")
"""


def test_a_full_disk_keeps_what_is_done(tmp_path: Path) -> None:
    """A limit on the size of a file lets what is smaller through: the manifest, some indexes."""
    command = [sys.executable, "-c", FULL, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = done.stdout.splitlines()
    for line, format in zip(told, formats.FORMATS, strict=True):
        number, name, note = line.split(maxsplit=2)
        assert (int(number), Path(name).parent) == (errno.EFBIG, tmp_path / f"full-{format}")
        assert "resume=True" in note
        assert content(tmp_path / f"full-{format}") == content(tmp_path / f"whole-{format}")


@pytest.mark.parametrize(
    ("format", "call"),
    [(format, "write") for format in FORMATS]
    + [("datatrove", call) for call in ("open", "fsync", "replace")],
)
def test_no_space_at_any_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, call: str
) -> None:
    """Each of these calls of a run fails in turn; what goes on after it ends in the same bytes."""
    options: dict[str, Any] = {"corpus": ["low lower"] * 9, "format": format, "shard_tokens": 40}
    digram.encode_files(TOK, folder=tmp_path / "whole", **options)
    real = getattr(os, call)
    for number in itertools.count():
        calls = itertools.count()

        def full(*args: Any, at: int = number, counted: Iterator[int] = calls) -> Any:
            ours = call in ("write", "fsync") or ".digram-" in str(args[0])
            unnamed = getattr(os, "O_TMPFILE", -1)  # a new file, which has no name yet
            ours |= call == "open" and args[1] & unnamed == unnamed
            if ours and next(counted) == at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*args)

        out = tmp_path / str(number)
        error = None
        with monkeypatch.context() as patch:
            patch.setattr(os, call, full)
            try:
                digram.encode_files(TOK, folder=out, **options)
            except OSError as raised:
                error = raised
        if error is None:
            break
        assert error.errno == errno.ENOSPC
        assert "resume=True" in " ".join(error.__notes__)
        assert Path(error.filename).parent in (out, tmp_path)
        digram.encode_files(TOK, folder=out, **options, resume=True)
        assert content(out) == content(tmp_path / "whole")
    assert number >= 3


def interrupted(texts: Iterator[str], out: Path, after: float, **options: Any) -> None:
    """Encode a corpus, and send Ctrl-C after this number of seconds."""
    to = threading.main_thread().ident
    assert to is not None
    timer = threading.Timer(after, signal.pthread_kill, [to, signal.SIGINT])
    began = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        digram.encode_files(TOK, texts, out, format="megatron", **options)
    assert time.perf_counter() - began < 20  # 0.2 are promised, on a machine with time


def endless(_: threading.Event) -> Iterator[str]:
    """Texts without an end."""
    ends = time.perf_counter() + 30  # or a failure would fill the disk
    while time.perf_counter() < ends:
        yield "low lower newest " * 100


def stuck(released: threading.Event) -> Iterator[str]:
    """A text, and then none for a long time."""
    yield "low"
    released.wait(60)


@pytest.mark.parametrize("texts", [endless, stuck])
def test_ctrl_c_leaves_no_file_unfinished(
    tmp_path: Path, texts: Callable[[threading.Event], Iterator[str]]
) -> None:
    released = threading.Event()
    interrupted(texts(released), tmp_path, after=0.3, shard_tokens=1_000_000)
    deadline = time.perf_counter() + 5
    while [*tmp_path.glob("*.tmp")] and time.perf_counter() < deadline:
        time.sleep(0.01)  # the thread that writes ends with what it is at
    assert not [*tmp_path.glob("*.tmp")]
    released.set()
    assert TOK.decode(TOK.encode("low")) == "low"


def test_ctrl_c_leaves_a_callers_iterator_alone(tmp_path: Path) -> None:
    """Also while what is done is read again."""
    taken = 0

    def slow(delay: float) -> Generator[str, None, None]:
        nonlocal taken
        for number in range(1000):
            time.sleep(delay)
            taken = number
            yield f"low {number}"

    def broken() -> Iterator[str]:
        yield from itertools.islice(slow(0), 150)
        raise ZeroDivisionError

    options: dict[str, Any] = {"format": "megatron", "shard_tokens": 5}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "MIN_BATCH", 1000)
        patch.setattr(encoding, "BATCH", 1000)
        with pytest.raises(ZeroDivisionError):
            digram.encode_files(TOK, broken(), tmp_path / "out", **options)
    again = slow(0.02)
    interrupted(again, tmp_path / "out", after=0.15, shard_tokens=5, resume=True)
    then = taken
    time.sleep(0.1)
    assert then == taken < 100
    assert not {one.name for one in threading.enumerate()} & {"digram-reader", "digram-writes"}
    again.close()
    digram.encode_files(TOK, slow(0), tmp_path / "out", **options, resume=True)
    digram.encode_files(TOK, slow(0), tmp_path / "whole", **options)
    assert content(tmp_path / "out") == content(tmp_path / "whole")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_while_files_are_written(tmp_path: Path) -> None:
    """The child cannot go on with the run, harms nothing of it, and does not hold the folder."""
    out = tmp_path / "out"
    readable, writable = os.pipe()
    parent, child = os.getpid(), 0

    def texts() -> Iterator[str]:
        nonlocal child
        for number in range(50):
            if number == 25:
                child = os.fork()
            yield f"low {number}"

    options: dict[str, Any] = {"format": "megatron", "shard_tokens": 50}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "MIN_BATCH", 100)
        patch.setattr(encoding, "BATCH", 100)
        try:
            found = digram.encode_files(TOK, texts(), out, **options)
        except BaseException as error:
            if os.getpid() == parent:
                raise
            os.write(writable, str(error).encode())
            signal.pause()
        finally:
            if os.getpid() != parent:
                os._exit(1)
    try:
        assert select.select([readable], [], [], 10)[0], "the child hangs"
        assert os.read(readable, 1000).startswith(b"the process was forked during")
        assert [TOK.decode(ids[:-1]) for ids in found] == [f"low {n}" for n in range(50)]
        again = (f"low {n}" for n in range(50))  # the child lives, and the folder is free
        assert len(digram.encode_files(TOK, again, out, **options, resume=True)) == 50
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(readable)
        os.close(writable)


def test_two_runs_in_one_folder(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> Iterator[str]:
        yield "low"
        begun.set()
        go_on.wait(10)

    first = threading.Thread(
        target=digram.encode_files, args=(TOK, slow(), tmp_path / "out"), kwargs={"format": "npy"}
    )
    first.start()
    begun.wait(10)
    with pytest.raises(digram.CheckpointError, match="another run writes"):
        digram.encode_files(TOK, ["low"], tmp_path / "out", format="npy", resume=True)
    go_on.set()
    first.join()
    assert len(digram.read_tokens(tmp_path / "out")) == 1


@pytest.mark.parametrize("runs", [False, True])
def test_ctrl_c_while_the_writer_starts(monkeypatch: pytest.MonkeyPatch, runs: bool) -> None:
    """Ctrl-C reaches the main thread in `Thread.start`, before or after the new thread runs."""
    closed = threading.Event()

    class Interrupted(threading.Thread):
        def start(self) -> None:
            if runs:
                super().start()
            raise KeyboardInterrupt

    monkeypatch.setattr(threading, "Thread", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        pipeline.Behind[int](lambda _: None, lambda: None, closed.set)
    assert closed.wait(10 if runs else 0) == runs
    pipeline._stop_all()


def test_an_error_of_the_writer_reaches_the_caller() -> None:
    def fail(_: int) -> None:
        raise ZeroDivisionError

    closed = list[int]()

    def put_all() -> None:
        with pipeline.Behind(fail, lambda: None, lambda: closed.append(1)) as behind:
            while True:
                behind.put(1)

    with pytest.raises(ZeroDivisionError):
        put_all()
    assert closed == [1]
