"""Pools of processes, and Dask's workers, some of which are killed."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import select
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import digram
from digram.distributed import executor


@pytest.fixture(scope="module")
def shards(texts: list[str]) -> list[list[str]]:
    """Forty parts, of which some are empty."""
    size = -(-len(texts) // 36)
    return [texts[n : n + size] for n in range(0, 40 * size, size)]


class Deadly:
    """Shards, at some of which a process is killed while those before are worked on."""

    def __init__(self, shards: list[list[str]], victims: Callable[[], list[int]]) -> None:
        self._shards = shards
        self._victims = victims
        self.killed: list[int] = []

    def __iter__(self) -> Iterator[list[str]]:
        draw = random.Random(5)
        due = [9, 18, 27]
        for number, shard in enumerate(self._shards):
            if due and number >= due[0] and (found := self._victims()):
                del due[0]
                self.killed.append(draw.choice(found))
                os.kill(self.killed[-1], signal.SIGKILL)
            yield shard


def children() -> list[int]:
    return [child.pid for child in multiprocessing.active_children() if child.pid is not None]


def all_ids(found: Iterator[Any]) -> Iterator[Any]:
    for ids, offsets in found:
        yield from (ids[offsets[n] : offsets[n + 1]] for n in range(len(offsets) - 1))


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_pools_of_processes(
    method: str, shards: list[list[str]], local: Any, tmp_path: Path
) -> None:
    context = multiprocessing.get_context(method)

    def make() -> Executor:
        return ProcessPoolExecutor(2, mp_context=context)

    with local.timed(f"ProcessPoolExecutor, {method},", "trained"):
        tok = executor.train(make, shards, **local.options)
    local.check_training(tok, tmp_path)
    with local.timed(f"ProcessPoolExecutor, {method},", "encoded"):
        found = list(all_ids(executor.encode(make, tok, shards)))
    local.check_ids(found)
    whole = [text for shard in shards for text in shard]
    first = executor.train(make, shards, ties="first_seen", max_merges=300)
    assert first == digram.train(whole, ties="first_seen", max_merges=300)


def test_what_travels_through_the_pool_is_written_at_once(
    shards: list[list[str]],
    local: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker that is killed cannot leave a part of it, for the rest of which a pool waits."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    futures: list[Future[Any]] = []

    class Watched(ProcessPoolExecutor):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            futures.append(super().submit(fn, *args, **kwargs))
            return futures[-1]

    with Watched(2, mp_context=multiprocessing.get_context("fork")) as pool:
        for _ in executor.encode(pool, local.tok, shards[:6]):
            pass
        executor.count(pool, shards[:6])
        assert len(futures) == 12
        assert max(len(pickle.dumps(future.result())) for future in futures) < select.PIPE_BUF / 2
        with pytest.raises(digram.InvalidTextError, match="shard 1"):
            executor.count(pool, [["a"], [b"\xff"]], unit="char")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("_", range(4))
def test_pools_whose_workers_are_killed(
    _: int, shards: list[list[str]], local: Any, tmp_path: Path
) -> None:
    context = multiprocessing.get_context("fork")

    def make() -> Executor:
        return ProcessPoolExecutor(2, mp_context=context)

    deadly = Deadly(shards, children)
    with local.timed("ProcessPoolExecutor, three workers killed,", "trained"):
        tok = executor.train(make, deadly, retries=20, at_once=4, **local.options)
    assert len(deadly.killed) == 3
    local.check_training(tok, tmp_path)
    deadly = Deadly(shards, children)
    with local.timed("ProcessPoolExecutor, three workers killed,", "encoded"):
        found = list(all_ids(executor.encode(make, tok, deadly, retries=20, at_once=4)))
    assert len(deadly.killed) == 3
    local.check_ids(found)


def test_a_shard_that_kills_its_worker(tmp_path: Path) -> None:
    """It is done again so often and no more, and the error says which it was."""
    os.mkfifo(tmp_path / "never")
    over = threading.Event()

    def kill() -> None:
        while not over.wait(0.2):
            for victim in children():
                os.kill(victim, signal.SIGKILL)

    def make() -> Executor:
        return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork"))

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        # A file that never ends keeps the worker until it is killed.
        shard = digram.Files((tmp_path / "never",))
        with pytest.raises(
            digram.LimitExceededError, match=r"shard 0 was lost 3 times.*memory ran out"
        ):
            executor.count(make, [shard], retries=2)
    finally:
        over.set()
        killer.join()


def test_dask_without_digram_on_a_worker(shards: list[list[str]]) -> None:
    from dask.distributed import Client, LocalCluster

    def forget() -> None:
        import sys

        for name in [name for name in sys.modules if name.partition(".")[0] == "digram"]:
            del sys.modules[name]
        sys.path[:] = [path for path in sys.path if not os.path.isdir(f"{path}/digram")]

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.run(forget)
        with pytest.raises(digram.ConfigMismatchError, match="has no module 'digram'"):
            executor.count(client.get_executor(), shards)


def test_dask(shards: list[list[str]], local: Any, tmp_path: Path) -> None:
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):

        def workers() -> list[int]:
            return list(client.run(os.getpid).values())

        pool = client.get_executor()
        with local.timed("Dask", "trained"):
            tok = executor.train(pool, shards, **local.options)
        local.check_training(tok, tmp_path)
        with local.timed("Dask", "encoded"):
            found = list(all_ids(executor.encode(pool, tok, shards)))
        local.check_ids(found)
        deadly = Deadly(shards, workers)
        with local.timed("Dask, three workers killed,", "trained"):
            tok = executor.train(pool, deadly, at_once=4, **local.options)
        assert len(deadly.killed) == 3
        local.check_training(tok, tmp_path)
        deadly = Deadly(shards, workers)
        with local.timed("Dask, three workers killed,", "encoded"):
            found = list(all_ids(executor.encode(pool, tok, deadly, at_once=4)))
        assert len(deadly.killed) == 3
        local.check_ids(found)
