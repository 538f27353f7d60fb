"""The work on shards through a pool: given out, waited for, done again where it was lost."""

from __future__ import annotations

import os
import pickle
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
)
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeAlias, TypeVar

from digram._util.progress import progress as progress_bar
from digram._util.validation import whole_number
from digram.corpus import CorpusLike
from digram.distributed.complaints import without_digram
from digram.distributed.parcels import Parcel, left
from digram.distributed.roster import Result, Roster
from digram.distributed.shards import Shards, ShardWork, each_shard
from digram.errors import LimitExceededError, OptionError, placed, several

__all__ = ["Pool", "over"]

Pool: TypeAlias = Executor | Callable[[], Executor]
"""An executor, or a function that makes one: then one that breaks is replaced."""

Value = TypeVar("Value")


def over(
    pool: Pool,
    work: ShardWork[Value],
    shards: Shards,
    at_once: int | None,
    retries: int,
    patience: float | None,
    progress: bool | None,
) -> Generator[Value]:
    """What comes of each shard, in their order; see `digram.distributed.executor.count`.

    What is wrong with an argument is said by the call itself.
    """
    if not isinstance(pool, Executor) and not callable(pool):
        raise TypeError(f"pool is an Executor or makes one, and not {pool!r}")
    out = 2 * (os.cpu_count() or 1) if at_once is None else whole_number("at_once", at_once, 1)
    if patience is not None and not patience > 0:
        raise OptionError(f"patience={patience} is not a time in seconds.", value=patience)
    total, sources = each_shard(shards)
    roster: Roster[CorpusLike, Value] = Roster(
        sources, at_once=out, retries=whole_number("retries", retries, 0)
    )

    def run() -> Generator[Value]:
        workers = _Workers(pool, work)
        try:
            with progress_bar(work.title, total, "shards", progress) as advance:
                yield from _values(workers, roster, patience, advance)
        finally:
            workers.close()

    return run()


def _values(
    workers: _Workers[Value],
    roster: Roster[CorpusLike, Value],
    patience: float | None,
    advance: Callable[[int], None],
) -> Iterator[Value]:
    skipped: dict[int, int] = {}  # records, by shard
    while True:
        while (job := roster.next()) is not None:
            workers.submit(*job)
        if roster.done:
            break
        found = workers.wait(patience)
        if found is None:
            roster.late()
        elif isinstance(found, _Lost):
            roster.lost(found.shard, found.why)
        elif roster.back(found):
            advance(1)
            if found.skipped:
                skipped[found.key.shard] = found.skipped
            yield from roster.ready()
    if skipped:
        warnings.warn(
            f"{several(sum(skipped.values()), 'record')} skipped, the first in shard "
            f"{min(skipped)}; the workers say which.",
            stacklevel=1,
        )


@dataclass(frozen=True, slots=True)
class _Lost:
    """A shard of which nobody will say anything, and why."""

    shard: int
    why: BaseException


@dataclass(frozen=True, slots=True)
class _Call(Generic[Value]):
    """Work that is done when it is unpacked.

    So `pickle.loads` is all that a pool is given, and the task fails where a worker has no digram.
    A function of ours would fail while the pool itself unpacks it: Dask then waits for ever, and a
    process ends.
    """

    work: ShardWork[Value]
    number: int
    source: CorpusLike
    folder: str | None
    """Where the result is to be left, if not with the pool."""

    def __reduce__(self) -> tuple[Any, ...]:
        if self.folder is None:
            return self.work, (self.number, self.source)
        return left, (self.folder, self.work, self.number, self.source)


class _Workers(Generic[Value]):
    """The pool: what is given to it, what comes back, and another one for one that breaks."""

    def __init__(self, pool: Pool, work: ShardWork[Value]) -> None:
        self._work = work
        self._make = None if isinstance(pool, Executor) else pool
        self._pool = pool if isinstance(pool, Executor) else pool()
        self._came: SimpleQueue[tuple[int, Executor, Future[Any]] | _Lost] = SimpleQueue()
        self._out: set[Future[Any]] = set()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if isinstance(self._pool, ProcessPoolExecutor):
            self._folder = tempfile.TemporaryDirectory(prefix="digram-", ignore_cleanup_errors=True)

    def submit(self, number: int, source: CorpusLike) -> None:
        """Give a shard to the pool."""
        pool = self._pool
        folder = None if self._folder is None else self._folder.name
        packed = pickle.dumps(_Call(self._work, number, source, folder))
        try:
            future = pool.submit(pickle.loads, packed)
        except BrokenExecutor as error:
            self._replace(pool, error)
            self._came.put(_Lost(number, error))
            return
        self._out.add(future)
        future.add_done_callback(lambda done: self._came.put((number, pool, done)))

    def wait(self, seconds: float | None) -> Result[Value] | _Lost | None:
        """What comes back next; None if that takes longer. Raises what is wrong with a shard."""
        try:
            came = self._came.get(timeout=seconds)
        except Empty:
            return None
        if isinstance(came, _Lost):
            return came
        number, pool, future = came
        self._out.discard(future)
        why = CancelledError() if future.cancelled() else future.exception()
        if why is not None:
            if isinstance(why, KeyboardInterrupt):
                raise why
            if isinstance(why, BrokenExecutor):
                self._replace(pool, why)
            explained = without_digram(str(why))
            if explained is not None:
                raise explained from why
            return _Lost(number, why)
        found: Parcel[Value] | Result[Value] | Exception = future.result()
        result = found.opened() if isinstance(found, Parcel) else found
        if isinstance(result, Exception):
            placed(result, f"shard {number}")
            raise result
        return result

    def _replace(self, broken: Executor, why: BaseException) -> None:
        if broken is not self._pool:  # many shards tell of the same
            return
        if self._make is None:
            raise LimitExceededError(
                "the pool is broken, since a worker ended without a word.",
                hint="Pass a function that makes the pool, as in `lambda: ProcessPoolExecutor(8)`, "
                "so that it can be replaced. A worker that is killed mostly had too little memory.",
            ) from why
        broken.shutdown(wait=False)
        self._pool = self._make()

    def close(self) -> None:
        """Take back what is still out, and end a pool that was made here."""
        for future in self._out:
            future.cancel()
        if self._make is not None:
            self._pool.shutdown(wait=not self._out, cancel_futures=True)
        if self._folder is not None:
            self._folder.cleanup()
