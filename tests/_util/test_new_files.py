"""Files that are written in parts, folders held by one, and files that are mapped."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from _util.saving import Faults, Killed, names
from blake3 import blake3

from digram._util.folder_lock import lock_folder
from digram._util.storage import NewFile, map_file


def make(path: Path, reserved: int = 0) -> NewFile:
    """A file with `head` where that is reserved, and `body`."""
    with NewFile(path, reserved) as file:
        file.write(b"bo")
        file.write(memoryview(b"dy"))
        file.write(b"")
        if reserved:
            file.write_start(b"head"[:reserved])
        file.finish()
    return file


@pytest.mark.parametrize("reserved", [0, 4])
def test_a_file_in_parts(tmp_path: Path, reserved: int) -> None:
    path = tmp_path / "a"
    for _ in range(2):  # the second replaces the first
        file = make(path, reserved)
        data = b"head"[:reserved] + b"body"
        assert path.read_bytes() == data
        assert (file.size, file.blake3) == (
            len(data),
            blake3(data).hexdigest(),
        )
        assert names(tmp_path) == ["a"]
        assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("reserved", [0, 128])
def test_more_than_the_system_may_hold_back(tmp_path: Path, reserved: int) -> None:
    block = os.urandom(3 << 20)
    with NewFile(tmp_path / "a", reserved) as file:
        for _ in range(7):
            file.write(block)
        if reserved:
            file.write_start(bytes(reserved))
        file.finish()
    data = (tmp_path / "a").read_bytes()
    assert data == bytes(reserved) + block * 7
    assert (file.size, file.blake3) == (
        len(data),
        blake3(data).hexdigest(),
    )


def test_what_is_not_finished_is_gone(tmp_path: Path) -> None:
    with NewFile(tmp_path / "a") as file:
        file.write(b"half")
        assert names(tmp_path) == []  # it has no name, so that a kill would leave nothing
    assert names(tmp_path) == []


def test_a_system_that_knows_no_files_without_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    with NewFile(tmp_path / "a") as file:
        file.write(b"half")
        assert [name[:8] for name in names(tmp_path)] == [".digram-"]
        make(tmp_path / "b")  # which leaves alone what is being written
        assert len(names(tmp_path)) == 2
        file.finish()
    assert names(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("reserved", [0, 4])
@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EIO])
def test_every_call_may_fail(tmp_path: Path, reserved: int, fault: int) -> None:
    for step in range(100):
        folder = tmp_path / str(step)
        folder.mkdir()
        (folder / "a").write_bytes(b"old")
        with pytest.MonkeyPatch.context() as monkeypatch:
            faults = Faults(monkeypatch)
            faults.fail_at, faults.error = step, OSError(fault, os.strerror(fault), "elsewhere")
            failure = None
            try:
                make(folder / "a", reserved)
            except OSError as error:
                failure = error
        if failure is None:
            assert step > 6
            break
        assert (failure.errno, failure.filename) == (fault, str(folder / "a"))
        replaced = "replace" in faults.log
        assert ("(the new file is in place" in str(failure)) == replaced
        assert ("(this file was not written)" in str(failure)) != replaced
        assert (folder / "a").read_bytes() == (b"head"[:reserved] + b"body" if replaced else b"old")
        assert names(folder) == ["a"]
    else:
        pytest.fail("the file never came through")


def test_a_kill_leaves_the_old_or_the_new_file(tmp_path: Path) -> None:
    for step in range(100):
        folder = tmp_path / str(step)
        folder.mkdir()
        (folder / "a").write_bytes(b"old")
        with pytest.MonkeyPatch.context() as monkeypatch:
            faults = Faults(monkeypatch)
            faults.fail_at = step
            killed = False
            try:
                make(folder / "a", 4)
            except Killed:
                killed = True
        expected = b"headbody" if "replace" in faults.log else b"old"
        assert (folder / "a").read_bytes() == expected
        if not killed:
            break


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    program = (
        "import sys, os, time; from digram._util.folder_lock import lock_folder\n"
        "with lock_folder(sys.argv[1]) as mine:\n"
        "    print(mine, flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        with lock_folder(tmp_path) as mine:
            assert not mine
        process.kill()
        process.wait()
    with lock_folder(tmp_path) as mine:
        assert mine


def test_files_are_mapped(tmp_path: Path) -> None:
    for data in (b"", b"x", b"x" * 10_000):
        (tmp_path / "a").write_bytes(data)
        assert bytes(map_file(tmp_path / "a")) == data
    os.mkfifo(tmp_path / "pipe")
    for wrong in (tmp_path, tmp_path / "pipe", tmp_path / "none"):
        with pytest.raises(OSError):  # noqa: PT011 - of several kinds
            map_file(wrong)
