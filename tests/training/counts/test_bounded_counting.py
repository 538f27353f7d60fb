"""Counting in bounded memory: the same counts, within the limit, and nothing left on the disk."""

from __future__ import annotations

import errno
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import digram
from digram import _core
from digram.pretokenizers.pretokenizer import resolve

LIMIT = 4 << 20

# Counts words without end, or as many as asked for, and prints what is asked for.
CHILD = """
import random, resource, signal, sys
from digram import _core
from digram.pretokenizers.pretokenizer import resolve
from test_bounded_counting import words

signal.signal(signal.SIGINT, signal.default_int_handler)  # some parents ignore it
limit, folder, batches = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
if len(sys.argv) > 4:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]),) * 2)
splitter = resolve("gpt2").splitter()
counter = _core.Counter(splitter, memory=(limit, folder))
print("counting", flush=True)
try:
    for _, batch in zip(range(batches), words()):
        counter.add(batch, 2)
    print(len(counter.finish_bounded()))
except OSError as error:
    print(error.errno, error.filename, str(error))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def words() -> Iterator[list[bytes]]:
    """Batches of some 300 kB in which nearly every word is new."""
    chance = random.Random(1)
    while True:
        yield [" ".join(f"{chance.getrandbits(60):x}" for _ in range(20_000)).encode()]


def child(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent)


def merges(
    counts: _core.Counts | _core.SortedCounts, memory: tuple[int, Path] | None = None
) -> list[tuple[int, int, int]]:
    options = _core.MergeOptions(
        bytes(range(256)),
        with_bytes=False,
        max_merges=300,
        min_frequency=1,
        max_token_length=None,
        whole_characters=False,
        ties="first_seen",
    )
    return _core.train(counts, options, memory=memory)[1]


@pytest.fixture(scope="module")
def batches() -> list[list[bytes]]:
    return [batch for _, batch in zip(range(12), words(), strict=False)]


@pytest.fixture(scope="module")
def expected(batches: list[list[bytes]]) -> _core.Counts:
    counter = _core.Counter(resolve("gpt2").splitter())
    for batch in batches:
        counter.add(batch)
    return counter.finish()


def test_what_does_not_fit_is_on_disk_and_the_same(
    tmp_path: Path, batches: list[list[bytes]], expected: _core.Counts
) -> None:
    counter = _core.Counter(resolve("gpt2").splitter(), memory=(LIMIT, tmp_path))
    for batch in batches:
        counter.add(batch, 2)
    counts = counter.finish_bounded()
    assert isinstance(counts, _core.SortedCounts)
    totals = counts.documents, counts.bytes, counts.pretokens, len(counts)
    assert totals == (expected.documents, expected.bytes, expected.pretokens, len(expected))
    assert merges(counts.to_memory()) == merges(expected)
    [folder] = tmp_path.iterdir()
    assert counts.path.parent == folder
    assert [path.name for path in folder.iterdir()] == [counts.path.name]
    del counts
    assert list(tmp_path.iterdir()) == []


def test_what_fits_is_in_memory(tmp_path: Path) -> None:
    counter = _core.Counter(resolve("gpt2").splitter(), memory=(LIMIT, tmp_path))
    counter.add(["a few words"])
    assert isinstance(counter.finish_bounded(), _core.Counts)
    assert list(tmp_path.iterdir()) == []


def test_what_is_finished_takes_no_more(tmp_path: Path) -> None:
    counter = _core.Counter(resolve("gpt2").splitter())
    counts = counter.finish()
    joiner = _core.Joiner(LIMIT, tmp_path, True)
    with pytest.raises(TypeError):
        joiner.add("no counts", 1, 1)  # type: ignore[arg-type]
    joiner.add(counts, 1, 1)
    joiner.finish()
    with pytest.raises(digram.errors.InternalError, match="this counter was finished"):
        counter.add(["more"])
    with pytest.raises(digram.errors.InternalError, match="this joiner was finished"):
        joiner.add(counts, 1, 1)


def test_a_run_goes_on_from_its_last_checkpoint(
    tmp_path: Path, batches: list[list[bytes]], expected: _core.Counts
) -> None:
    splitter = resolve("gpt2").splitter()
    counter = _core.Counter.resumed(splitter, tmp_path, memory_limit=LIMIT)
    for batch in batches[:6]:
        counter.add(batch)
    noted = counter.checkpoint()
    counter.add(batches[0])  # lost with the counter
    counter.checkpoint()
    del counter
    assert {path.name for path in tmp_path.iterdir()} > set(noted[0])

    counter = _core.Counter.resumed(splitter, tmp_path, noted, memory_limit=LIMIT)
    assert {path.name for path in tmp_path.iterdir()} == set(noted[0])
    for batch in batches[6:]:
        counter.add(batch)
    assert merges(counter.finish()) == merges(expected)


def test_a_damaged_checkpoint_is_an_error(tmp_path: Path) -> None:
    splitter = resolve("gpt2").splitter()
    counter = _core.Counter.resumed(splitter, tmp_path)
    counter.add(["a few words"])
    noted = counter.checkpoint()
    path = tmp_path / noted[0][0]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(digram.errors.CorruptFileError) as caught:
        _core.Counter.resumed(splitter, tmp_path, noted)
    assert caught.value.path == str(path)
    assert caught.value.offset is not None
    with pytest.raises(FileNotFoundError) as missing:
        _core.Counter.resumed(splitter, tmp_path / "none")
    assert missing.value.filename == str(tmp_path / "none")
    with pytest.raises(digram.errors.OptionError, match="bytes is too low for counting"):
        _core.Counter(splitter, memory=(LIMIT - 1, tmp_path))


def test_a_disk_that_takes_no_more_is_an_os_error_and_nothing_is_left(tmp_path: Path) -> None:
    with child(LIMIT, tmp_path, 100, 100_000) as process:
        out, _ = process.communicate(timeout=60)
    number, path = out.splitlines()[1].split()[:2]
    assert int(number) == errno.EFBIG
    assert Path(path).parent.parent == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_leaves_nothing_and_a_kill_what_can_be_told(tmp_path: Path) -> None:
    for number in (signal.SIGINT, signal.SIGKILL):
        with child(LIMIT, tmp_path, 10**9) as process:
            assert process.stdout is not None
            process.stdout.readline()
            while not any(tmp_path.glob("*/*")):
                time.sleep(0.01)
            process.send_signal(number)
            out, _ = process.communicate(timeout=60)
        left = [path.name for path in tmp_path.iterdir()]
        if number == signal.SIGINT:
            assert (out, left) == ("interrupted\n", [])
        else:
            assert all(name.startswith("digram-counts-") for name in left)
