"""What a kill leaves of a save, and how the next save removes it."""

from __future__ import annotations

import functools
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _util.saving import CALLS, NEW, OLD, PAIR, names, save_pair

from digram._util import storage
from digram._util.storage import atomic_write, read_file


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
