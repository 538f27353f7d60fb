"""A file is written and replaced as a whole, and read only where it is a regular one."""

from __future__ import annotations

import errno
import os
import stat
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from _util.saving import Faults, names

import digram
from digram import LimitExceededError
from digram._util.storage import atomic_write, read_file

ROOT = os.name == "posix" and os.geteuid() == 0


@pytest.fixture
def faults() -> Iterator[Faults]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield Faults(monkeypatch)


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


def test_a_missing_folder_is_named_as_the_cause(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no folder to write it to"):
        atomic_write(tmp_path / "missing" / "a.json", b"x")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "load",
    [
        digram.Counts.load,
        digram.Rules.load,
        digram.IdSpace.load,
        digram.SequenceTokenizer.load,
        digram.read_tokens,
        digram.files,
        digram.formats.read,
    ],
)
def test_all_that_loads_tells_a_missing_file_alike(
    load: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "counts.arow"
    (tmp_path / "counts.arrow").touch()
    with pytest.raises(FileNotFoundError) as caught:
        load(path)
    assert str(caught.value) == (
        f"[Errno {errno.ENOENT}] {path}: there is no such file or folder; the most similar name "
        "there is 'counts.arrow'."
    )
    assert caught.value.filename == str(path)
