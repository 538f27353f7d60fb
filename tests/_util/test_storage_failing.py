"""A save of which a call fails, or which is interrupted, leaves the old file or the new one."""

from __future__ import annotations

import errno
import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from _util.saving import FAULTS, NEW, OLD, PAIR, Faults, names, save_pair

from digram._util.storage import atomic_write, read_file, read_pair


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
