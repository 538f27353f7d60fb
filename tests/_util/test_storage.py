"""A save leaves the old file or the new one, whatever fails and whenever it is killed."""

from __future__ import annotations

import contextlib
import errno
import functools
import itertools
import json
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from digram import LimitExceededError
from digram._util import storage
from digram._util.storage import atomic_write, read_file, read_pair, write_pair

ROOT = os.name == "posix" and os.geteuid() == 0
CALLS = ("open", "fchmod", "write", "fsync", "dup", "close", "link", "replace")
FAULTS = (errno.ENOSPC, errno.EIO, errno.EINTR, errno.EACCES, errno.EDQUOT, errno.EROFS)


class Killed(BaseException):
    """Stands for SIGKILL: nothing runs after it."""


class Faults:
    """Counts the system calls of a save, fails or "kills" at the n-th, and keeps the order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log: list[str] = []
        self.fail_at: int | None = None
        self.error: BaseException = Killed()
        self.dead = False
        for name in (*CALLS, "mkdir", "unlink", "rmdir"):
            monkeypatch.setattr(os, name, self.wrap(name, getattr(os, name)))

    def wrap(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The call, counted; after a "kill" no call has any effect."""

        def counted(*args: Any, **kwargs: Any) -> Any:
            if self.dead:
                return None
            if self.fail_at == len(self.log):
                self.fail_at = None
                self.dead = isinstance(self.error, Killed)
                if name == "close":
                    call(*args)  # what is closed with an error is closed all the same
                raise self.error
            self.log.append(name)
            return call(*args, **kwargs)

        return counted


@pytest.fixture
def faults() -> Iterator[Faults]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield Faults(monkeypatch)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for data in (b"", b"new", b"x" * 3_000_000, b"short"):
        atomic_write(path, data)
        assert read_file(path) == data
    assert names(tmp_path) == ["a"]
    atomic_write(str(path), b"by name")
    assert read_file(str(path)) == b"by name"


def test_the_order_of_a_save(tmp_path: Path, faults: Faults) -> None:
    """The file is on the disk before it gets its name, and its name before the save returns."""
    atomic_write(tmp_path / "a", b"data")
    made = ["open", "open", "write", "fsync", "dup", "close"]
    named = ["link"] if hasattr(os, "O_TMPFILE") else []
    assert faults.log[: len(made) + len(named) + 2] == [*made, *named, "replace", "fsync"]


@pytest.fixture(params=["unnamed", "named"])
def new_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """New files with and without names: the system may know none without."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system knows no files without names")
    return str(request.param)


def left_behind(folder: Path) -> Path:
    """What a kill at the worst moment leaves of a save of `a`: just before it is renamed."""
    before = set(names(folder))
    child = os.fork()
    if child == 0:
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        try:
            atomic_write(folder / "a", b"half")
        finally:
            os._exit(1)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    (name,) = set(names(folder)) - before
    return folder / name


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
@pytest.mark.usefixtures("new_files")
def test_what_a_kill_left_is_removed_by_the_next_save(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"other")
    left = left_behind(tmp_path)
    assert left.match(storage.LEFT_BEHIND)
    atomic_write(tmp_path / "a", b"new")
    assert names(tmp_path) == ["a", "b"]
    assert read_file(tmp_path / "a") == b"new"


def killed_before_call(step: int, save: Callable[[], object]) -> bool:
    """Whether a process that saves was killed before its `step`-th call of the system."""
    child = os.fork()
    if child == 0:
        calls = itertools.count()

        def wrap(call: Callable[..., Any]) -> Callable[..., Any]:
            def counted(*args: Any, **kwargs: Any) -> Any:
                if next(calls) == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*args, **kwargs)

            return counted

        try:
            for name in (*CALLS, "mkdir", "unlink"):
                setattr(os, name, wrap(getattr(os, name)))
            save()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
@pytest.mark.usefixtures("new_files")
@pytest.mark.parametrize("kind", ["file", "pair"])
def test_the_next_save_removes_what_a_kill_before_any_call_left(tmp_path: Path, kind: str) -> None:
    """Whatever that next save saves: the names on the way follow from the target alone."""

    def save(folder: Path, pair: tuple[bytes, bytes]) -> None:
        if kind == "pair":
            save_pair(folder, pair)
        else:
            atomic_write(folder / PAIR[0], pair[0])

    left = 0
    for step in itertools.count():
        folder = tmp_path / str(step)
        folder.mkdir()
        save(folder, OLD)
        expected = names(folder)
        killed = killed_before_call(step, functools.partial(save, folder, NEW))
        left += names(folder) != expected
        save(folder, OLD)
        assert names(folder) == expected, step
        if not killed:
            break
    assert step > 8
    assert left > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
@pytest.mark.usefixtures("new_files")
def test_a_save_leaves_alone_what_others_are_saving(tmp_path: Path) -> None:
    """Two savers of one file, one of which is stopped just before it renames."""
    left = left_behind(tmp_path)
    at_work = os.open(left, os.O_RDONLY)
    try:
        assert storage._unnamed._lock(at_work)
        atomic_write(tmp_path / "a", b"new")
        assert names(tmp_path) == sorted([left.name, "a"])
    finally:
        os.close(at_work)
    atomic_write(tmp_path / "a", b"newer")
    assert names(tmp_path) == ["a"]


@pytest.mark.usefixtures("new_files")
def test_savers_of_one_file_at_once(tmp_path: Path) -> None:
    def save(number: int) -> None:
        for _ in range(50):
            atomic_write(tmp_path / "a", bytes([number]) * 5000)

    savers = [threading.Thread(target=save, args=(number,)) for number in range(4)]
    for saver in savers:
        saver.start()
    for saver in savers:
        saver.join()
    assert names(tmp_path) == ["a"]
    assert len(set(read_file(tmp_path / "a"))) == 1


def test_the_second_file_of_a_pair_that_never_came(tmp_path: Path) -> None:
    save_pair(tmp_path, OLD)
    waiting = [tmp_path / storage._pending(PAIR[1], first) for first in (b"never", b"soon")]
    for path in waiting:
        path.write_bytes(b"a second file")
    at_work = os.open(waiting[1], os.O_RDONLY)
    try:
        assert storage._unnamed._lock(at_work)
        save_pair(tmp_path, NEW)
        assert names(tmp_path) == sorted([*PAIR, waiting[1].name])
    finally:
        os.close(at_work)
    save_pair(tmp_path, OLD)
    assert names(tmp_path) == sorted(PAIR)


def test_large_files_are_refused_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(8 << 30)
    with pytest.raises(
        LimitExceededError, match=r"has 8,589,934,592 bytes or more.*such a file is 268,"
    ):
        read_file(path)
    with pytest.raises(LimitExceededError, match="such a file is 5"):
        read_file(path, 5)
    path.write_bytes(b"12345")
    assert read_file(path, 5) == b"12345"
    proc = Path("/proc/self/status")
    if proc.exists():  # its reported size is 0
        assert b"VmHWM" in read_file(proc)
        with pytest.raises(LimitExceededError):
            read_file(proc, 100)


def test_an_empty_file_takes_no_memory(tmp_path: Path) -> None:
    """Its size is also that of a file whose size nobody tells."""
    (tmp_path / "empty").touch()
    tracemalloc.start()
    try:
        assert read_file(tmp_path / "empty", 1 << 40) == b""
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_short_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:3]))
    atomic_write(tmp_path / "a", b"ten bytes!")
    assert read_file(tmp_path / "a") == b"ten bytes!"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda number: errno.errorcode[number])
@pytest.mark.parametrize("old", [b"old", None], ids=["replacing", "new"])
@pytest.mark.parametrize("parts", [[b"the new one"], [b"the ", b"new", b" one"]], ids=len)
def test_every_call_of_a_save_may_fail(
    tmp_path: Path, old: bytes | None, parts: list[bytes], fault: int
) -> None:
    for step in range(100):
        folder = tmp_path / str(step)
        folder.mkdir()
        path = folder / "my.json"
        if old is not None:
            path.write_bytes(old)
        with pytest.MonkeyPatch.context() as monkeypatch:
            faults = Faults(monkeypatch)
            faults.fail_at, faults.error = step, OSError(fault, os.strerror(fault), "elsewhere")
            try:
                atomic_write(path, parts[0] if len(parts) == 1 else iter(parts))
            except OSError as error:
                failure = error
            else:
                assert faults.log.count("fsync") == 2
                assert step > 6
                break
        assert isinstance(failure, type(OSError(fault, "")))
        assert failure.errno == fault
        assert failure.filename == str(path)
        assert str(failure).startswith(f"[Errno {fault}] {os.strerror(fault)}: {str(path)!r} (")
        replaced = "replace" in faults.log
        if replaced:
            assert str(failure).endswith(
                "(the new file is in place, but the disk has not confirmed it)"
            )
            assert path.read_bytes() == b"the new one"
        elif old is None:
            assert str(failure).endswith("(no file was written)")
            assert names(folder) == []
        else:
            assert str(failure).endswith("(the previous file is unchanged)")
            assert path.read_bytes() == old
        assert names(folder) == (["my.json"] if old is not None or replaced else [])
    else:
        pytest.fail("the save never came through")


def test_a_save_error_pickles_and_keeps_its_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left") as caught:
        atomic_write(tmp_path / "a", b"new")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert (again.errno, again.filename) == (errno.ENOSPC, str(tmp_path / "a"))
    with pytest.raises(FileNotFoundError, match=r"\(no file was written\)$"):
        atomic_write(tmp_path / "missing" / "a", b"new")


def test_an_interrupted_save_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    for step in range(2, 6):
        with pytest.MonkeyPatch.context() as monkeypatch:
            faults = Faults(monkeypatch)
            faults.fail_at, faults.error = step, KeyboardInterrupt()
            with pytest.raises(KeyboardInterrupt):
                atomic_write(tmp_path / "a", b"new")
        assert read_file(tmp_path / "a") == b"old"
        assert names(tmp_path) == ["a"]


def test_parts_that_cannot_be_made_leave_nothing(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"a beginning"
        raise ValueError("no more")

    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(ValueError, match="no more"):
        atomic_write(tmp_path / "a", parts())
    assert read_file(tmp_path / "a") == b"old"
    assert names(tmp_path) == ["a"]


def test_a_folder_that_cannot_be_synced_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    atomic_write(tmp_path / "a", b"new")
    assert read_file(tmp_path / "a") == b"new"


@pytest.mark.skipif(os.name != "posix", reason="modes and links are POSIX's")
def test_modes_and_links_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a"
    mask = os.umask(0o027)
    try:
        atomic_write(path, b"1")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    atomic_write(path, b"2")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    (tmp_path / "deep").mkdir()
    target = tmp_path / "deep" / "target"
    link = tmp_path / "link"
    link.symlink_to(target)
    atomic_write(link, b"3")
    atomic_write(link, b"4")
    assert link.is_symlink()
    assert target.read_bytes() == b"4"
    assert names(tmp_path / "deep") == ["target"]
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OSError, match="no file was written") as caught:
        atomic_write(tmp_path / "loop", b"5")
    assert caught.value.errno == errno.ELOOP


@pytest.mark.skipif(ROOT, reason="nothing is write-protected for root")
def test_a_write_protected_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="write-protected"):
        atomic_write(path, b"new")
    assert path.read_bytes() == b"old"


def test_write_protection_is_asked_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"write-protected.*\(no file was written\)$"):
        atomic_write(tmp_path / "a", b"new")
    assert names(tmp_path) == ["a"]


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX's special files")
@pytest.mark.parametrize("kind", ["folder", "fifo", "device"])
def test_only_regular_files_are_opened(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "special"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    said = {"folder": "this is a folder", "fifo": "a FIFO or pipe", "device": "a device"}[kind]
    with pytest.raises(OSError, match=said) as caught:
        read_file(path)
    assert caught.value.errno == (errno.EISDIR if kind == "folder" else errno.EINVAL)
    assert caught.value.filename == str(path)
    with pytest.raises(OSError, match=said):
        atomic_write(path, b"new")
    assert names(tmp_path) == ["special"]
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "missing")


def test_a_pipe_put_in_place_of_a_file_does_not_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs POSIX's pipes")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"")
    status = os.stat(tmp_path / "file")
    monkeypatch.setattr(os, "stat", lambda _: status)
    with pytest.raises(OSError, match="a FIFO or pipe"):
        read_file(tmp_path / "pipe")


PAIR = ("vocab.json", "merges.txt")
OLD, NEW = (b"old vocabulary", b"old merges"), (b"new vocabulary", b"new merges")
SAME_FIRST = (OLD[0], b"other merges")


def save_pair(folder: Path, pair: tuple[bytes, bytes]) -> None:
    write_pair(folder, (PAIR[0], pair[0]), (PAIR[1], pair[1]))


def test_a_pair_is_written_and_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "pair"
    for pair in (OLD, NEW, SAME_FIRST, OLD):
        save_pair(folder, pair)
        assert read_pair(folder, *PAIR) == pair
        assert ((folder / PAIR[0]).read_bytes(), (folder / PAIR[1]).read_bytes()) == pair
    assert names(folder) == sorted(PAIR)
    (folder / "other").write_bytes(b"")
    save_pair(folder, NEW)
    assert names(folder) == sorted([*PAIR, "other"])


@pytest.mark.parametrize("new", [NEW, SAME_FIRST], ids=["other", "same first"])
@pytest.mark.parametrize("old", [OLD, None], ids=["replacing", "new"])
def test_a_pair_may_be_killed_before_every_call(
    tmp_path: Path, old: tuple[bytes, bytes] | None, new: tuple[bytes, bytes]
) -> None:
    seen = set()
    for step in range(100):
        folder = tmp_path / str(step)
        if old is not None:
            save_pair(folder, old)
        with pytest.MonkeyPatch.context() as monkeypatch:
            faults = Faults(monkeypatch)
            faults.fail_at = step
            try:
                save_pair(folder, new)
                break
            except Killed:
                pass
        try:
            found: tuple[bytes, bytes] | None = read_pair(folder, *PAIR)
        except FileNotFoundError:
            found = None
        assert found in (old, new)
        seen.add(found)
        save_pair(folder, NEW)  # what a kill left does not hinder the next save, nor reading it
        assert read_pair(folder, *PAIR) == NEW
        save_pair(folder, OLD)
        assert read_pair(folder, *PAIR) == OLD
    assert step > 15
    assert seen == {old, new}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda number: errno.errorcode[number])
@pytest.mark.parametrize("old", [OLD, None], ids=["replacing", "new"])
def test_every_call_of_saving_a_pair_may_fail(
    tmp_path: Path, old: tuple[bytes, bytes] | None, fault: int
) -> None:
    outcomes = set()
    for step in range(100):
        folder = tmp_path / str(step)
        if old is not None:
            save_pair(folder, old)
        with pytest.MonkeyPatch.context() as monkeypatch:
            faults = Faults(monkeypatch)
            faults.fail_at, faults.error = step, OSError(fault, os.strerror(fault), "elsewhere")
            try:
                save_pair(folder, NEW)
                break
            except OSError as error:
                failure = error
        assert (failure.errno, failure.filename) == (fault, str(folder))
        outcome = str(failure).rpartition("(")[2]
        outcomes.add(outcome)
        if outcome == "no file was written)":
            assert old is None
            assert not folder.exists()
            continue
        expected = OLD if outcome == "the previous files are unchanged)" else NEW
        assert read_pair(folder, *PAIR) == expected
        waiting = outcome.startswith("digram reads the new files")
        assert len(names(folder)) == (2 if not waiting else len(PAIR) + (old is not None))
    assert step > 15
    assert len(outcomes) == 3


def test_a_pair_is_never_mixed_while_it_is_being_replaced(tmp_path: Path) -> None:
    save_pair(tmp_path, OLD)
    stop = threading.Event()

    def replace_for_ever() -> None:
        while not stop.is_set():
            for pair in (NEW, OLD):
                save_pair(tmp_path, pair)

    writer = threading.Thread(target=replace_for_ever)
    writer.start()
    try:
        seen = []
        for _ in range(1000):
            with contextlib.suppress(BlockingIOError):  # on a busy machine the writer may outrun it
                seen.append(read_pair(tmp_path, *PAIR))
    finally:
        stop.set()
        writer.join()
    assert seen
    assert set(seen) <= {OLD, NEW}


def test_a_pair_replaced_and_restored_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first file is the same before and after, and yet the second was another's."""
    save_pair(tmp_path, OLD)
    read_second = storage._read_second
    calls = 0

    def slowly(*args: Any) -> bytes:
        nonlocal calls
        calls += 1
        if calls > 1:
            return read_second(*args)
        save_pair(tmp_path, NEW)
        second = read_second(*args)
        save_pair(tmp_path, OLD)
        assert second == NEW[1]
        return second

    monkeypatch.setattr(storage, "_read_second", slowly)
    assert read_pair(tmp_path, *PAIR) == OLD
    assert calls == 2


def test_a_pair_that_never_rests_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_pair(tmp_path, OLD)

    def busy(*_: object) -> bytes:
        save_pair(tmp_path, NEW)
        return b""

    monkeypatch.setattr(storage, "_read_second", busy)
    with pytest.raises(BlockingIOError, match="keeps changing") as caught:
        read_pair(tmp_path, *PAIR)
    assert caught.value.filename == str(tmp_path / PAIR[0])


def test_a_pair_refuses_a_file_in_the_folders_place(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        save_pair(tmp_path / "a", NEW)
    with pytest.raises(FileNotFoundError, match="no file was written"):
        save_pair(tmp_path / "missing" / "folder", NEW)
    (tmp_path / "folder" / "merges.txt").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        save_pair(tmp_path / "folder", NEW)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
def test_kills_leave_the_old_or_the_new_file() -> None:
    script = Path(__file__).parents[1] / "faults" / "kill_saves.py"
    run = subprocess.run(
        [sys.executable, script, "--kills", "300"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    results = [json.loads(line) for line in run.stdout.splitlines()]
    print(run.stdout)
    assert sum(result["kills"] for result in results) == 300
    assert all(result["left for good"] == 0 for result in results)
    assert results[-1]["left until the next save"] > 0  # kills came while a save was at work
