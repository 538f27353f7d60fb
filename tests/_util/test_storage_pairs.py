"""Two files that are read together are never mixed, whatever stops a save of them."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any

import pytest
from _util.saving import NEW, OLD, PAIR, SAME_FIRST, Faults, Killed, names, save_pair

from digram._util import storage
from digram._util.storage import read_pair


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
