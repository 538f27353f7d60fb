"""The work on shards with a pool: submitted, awaited, and repeated if it was lost."""

from __future__ import annotations

import os
import pickle
import tempfile
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
from digram._util.warning import warn
from digram.corpus import CorpusLike
from digram.distributed.complaints import without_digram
from digram.distributed.parcels import Parcel, left
from digram.distributed.roster import Result, Roster
from digram.distributed.shards import Shards, ShardWork, each_shard
from digram.errors import LimitExceededError, OptionError, placed, several

__all__ = ["Pool", "over"]

Pool: TypeAlias = Executor | Callable[[], Executor]
"""An executor, or a function that creates one, which replaces a broken one."""

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
    """The result for each shard, in order; see `digram.distributed.executor.count`.

    Errors in the arguments are raised by the call itself.
    """
    if not isinstance(pool, Executor) and not callable(pool):
        raise TypeError(f"pool must be an Executor or a function that creates one, not {pool!r}")
    out = 2 * (os.cpu_count() or 1) if at_once is None else whole_number("at_once", at_once, 1)
    if patience is not None and not patience > 0:
        raise OptionError(f"patience={patience} is not a number of seconds.", value=patience)
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
        warn(
            f"{several(sum(skipped.values()), 'record')} skipped, the first in shard "
            f"{min(skipped)}; the workers' warnings name them."
        )


@dataclass(frozen=True, slots=True)
class _Lost:
    """A shard without a result, and the reason."""

    shard: int
    why: BaseException


@dataclass(frozen=True, slots=True)
class _Call(Generic[Value]):
    """Work that is done when it is unpickled.

    So the pool only gets `pickle.loads`, and the task raises an error if a worker has no digram. A
    function of digram would fail while the pool itself unpickles it: Dask then waits forever, and a
    process ends.
    """

    work: ShardWork[Value]
    number: int
    source: CorpusLike
    folder: str | None
    """The folder for the result, if it is not returned through the pool."""

    def __reduce__(self) -> tuple[Any, ...]:
        if self.folder is None:
            return self.work, (self.number, self.source)
        return left, (self.folder, self.work, self.number, self.source)


class _Workers(Generic[Value]):
    """The pool: submits work, returns results, and replaces the pool if it breaks."""

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
        """Submit a shard to the pool."""
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
        """The next result; None if that takes longer. Raises the error of a shard."""
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
        if broken is not self._pool:  # several shards report the same pool
            return
        if self._make is None:
            raise LimitExceededError(
                "the pool is broken, because a worker ended unexpectedly.",
                hint="Pass a function that creates the pool, as in lambda: ProcessPoolExecutor(8), "
                "so that it can be replaced. Workers are mostly killed because memory ran out.",
            ) from why
        broken.shutdown(wait=False)
        self._pool = self._make()

    def close(self) -> None:
        """Cancel outstanding work, and shut down a pool that was created here."""
        for future in self._out:
            future.cancel()
        if self._make is not None:
            self._pool.shutdown(wait=not self._out, cancel_futures=True)
        if self._folder is not None:
            self._folder.cleanup()
