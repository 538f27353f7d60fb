"""Counting and encoding by any `concurrent.futures.Executor`: pools of processes, Dask's workers.

A corpus comes in shards, of which each worker takes one at a time. The result is that of one
machine, bit for bit, whatever was lost or came twice (`digram.engines.roster`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from digram.arguments import whole_number
from digram.counts import Counts
from digram.definition import Unit
from digram.engines.complaints import without_digram
from digram.engines.roster import Key, Result, Roster
from digram.engines.tasks import CountTexts, EncodeTexts
from digram.engines.training import trained
from digram.errors import LimitExceededError, OptionError, placed
from digram.pretokenizers import MISSING, Pretokenizer, PretokenizerLike, Regex
from digram.progress import progress as progress_bar
from digram.sources import Files, Source, documents, files
from digram.special import OnSpecial
from digram.tokenizer import Tokenizer

if TYPE_CHECKING:
    from digram.batching import FlatIds

__all__ = ["Pool", "count", "encode", "train"]

Pool: TypeAlias = Executor | Callable[[], Executor]
"""An executor, or a function that makes one: then one that breaks is replaced."""

Value = TypeVar("Value")


def count(
    pool: Pool,
    shards: Files | os.PathLike[str] | Iterable[Source],
    *,
    pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None = "o200k",
    unit: Unit = "byte",
    separator: str | bytes | None = None,
    at_once: int | None = None,
    retries: int = 3,
    patience: float | None = None,
    progress: bool | None = None,
) -> Counts:
    """Count the pretokens of a corpus by the workers of an executor.

    >>> import digram
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> shards = [["low low", "lower"], ["lowest"]]
    >>> with ThreadPoolExecutor(2) as pool:
    ...     counts = digram.engines.executor.count(pool, shards)
    >>> counts == digram.count_pretokens(["low low", "lower", "lowest"])
    True

    What comes in:
        pool: an executor, or a function without arguments that makes one, such as
            `lambda: ProcessPoolExecutor(8)`. Then it is shut down at the end, and one that breaks
            because a worker was killed is replaced.
        shards: `digram.files(...)` or a `Path`, each file of which is a shard; or any iterable of
            sources, taken as needed: lists of texts, Paths, `digram.files(...)`. Workers read
            the files themselves, so they must see them under the same names.
        pretokenizer, unit, separator: as for `digram.count_pretokens`.

    What to bear:
        at_once: so many shards are with the pool or wait for one before them; twice the cores of
            this machine by default, so give more for a cluster.
        retries: how often one shard may be lost; it is then done again.
        patience: where no shard comes back for so many seconds, all that are out are handed out a
            second time, and the first to come counts.

    The counts are those of the texts in the order of the shards, first occurrences included.
    Errors of a shard name it, and are not tried again; `LimitExceededError` for a shard that is
    lost too often, or a pool that broke and cannot be replaced. Memory here: the shards that are
    out, and the counts of some of them, no more than the logarithm of their number beside
    `at_once`; on a worker, as `digram.count_pretokens` of a shard with one thread.
    """
    task = CountTexts.of(pretokenizer, unit, separator)
    work = _Work(task, task.configuration, _counts_digest)
    each = _over(pool, work, shards, at_once, retries, patience, progress, "Counting")
    with contextlib.closing(each):
        return _added_up(each, task)


def train(
    pool: Pool,
    shards: Files | os.PathLike[str] | Iterable[Source],
    *,
    pretokenizer: PretokenizerLike = MISSING,
    unit: Unit = "byte",
    separator: str | bytes | None = None,
    at_once: int | None = None,
    retries: int = 3,
    patience: float | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Tokenizer:
    """Learn a tokenizer: the workers count, this process merges.

    >>> import digram
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool:
    ...     tok = digram.engines.executor.train(pool, [["low low"], ["lower"]], max_merges=2)
    >>> tok == digram.train(["low low", "lower"], max_merges=2)
    True

    The first arguments are those of `count`, `options` those of `digram.train`, checked before
    anything is counted. What is saved is what `digram.train` of the same texts saves, bit for bit.
    """
    cut = "o200k" if pretokenizer is MISSING else pretokenizer

    def counted() -> Counts:
        return count(
            pool,
            shards,
            pretokenizer=cut,
            unit=unit,
            separator=separator,
            at_once=at_once,
            retries=retries,
            patience=patience,
            progress=progress,
        )

    options["progress"] = progress
    return trained(counted, CountTexts.of(cut, unit, separator), options, ordered=True)


def encode(
    pool: Pool,
    tok: Tokenizer,
    shards: Files | os.PathLike[str] | Iterable[Source],
    *,
    special: OnSpecial = "text",
    separator: str | bytes | None = None,
    at_once: int | None = None,
    retries: int = 3,
    patience: float | None = None,
    progress: bool | None = None,
) -> Iterator[FlatIds]:
    """The ids of each shard, in their order: `tok.encode_batch(texts, out="numpy")`.

    >>> import digram
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> tok = digram.train("a b", max_merges=0)
    >>> with ThreadPoolExecutor(2) as pool:
    ...     for ids, offsets in digram.engines.executor.encode(pool, tok, [["a", "ab"], ["b"]]):
    ...         print(ids.tolist(), offsets.tolist())
    [97, 97, 98] [0, 1, 3]
    [98] [0, 1]

    The arguments are those of `count` and of `Tokenizer.encode_batch`. A worker holds the texts of
    its shard and their ids; here are those of at most `at_once` shards.
    """
    task = EncodeTexts.of(tok, special)
    work = _Work(_Encode(task, separator), task.configuration, _ids_digest)
    return _over(pool, work, shards, at_once, retries, patience, progress, "Encoding")


# --- on the worker


@dataclass(frozen=True, slots=True)
class _Encode:
    """Encode the texts of a shard."""

    task: EncodeTexts
    separator: str | bytes | None

    def __call__(self, source: Source) -> FlatIds:
        return self.task.to_numpy(list(documents(source, self.separator)))


@dataclass(frozen=True, slots=True)
class _Work(Generic[Value]):
    """What to do with a shard, and how to know its result."""

    do: Callable[[Source], Value]
    configuration: str
    digest: Callable[[Value], str]

    def __call__(self, number: int, source: Source) -> Result[Value] | Exception:
        """The result, or what is wrong with the shard: all that is raised here is a lost worker."""
        try:
            content = _content_digest(source)
            value = self.do(source)
            key = Key(number, content, self.configuration)
            return Result(key, self.digest(value), value)
        except Exception as error:
            return error


def _content_digest(source: Source) -> str:
    """SHA-256 of the texts of a shard, or of the bytes of its files."""
    sha = hashlib.sha256()
    if isinstance(source, Files):
        for path in source.paths:
            with path.open("rb") as file:
                sha.update(hashlib.file_digest(file, "sha256").digest())
        return sha.hexdigest()
    for text in documents(source):
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        sha.update(len(data).to_bytes(8, "little"))
        sha.update(data)
    return sha.hexdigest()


def _counts_digest(counts: Counts) -> str:
    return hashlib.sha256(
        f"{counts._held.digest()} {counts.documents} {counts._held.end}".encode()
    ).hexdigest()


def _ids_digest(flat: FlatIds) -> str:
    sha = hashlib.sha256(flat.offsets.data)
    sha.update(flat.ids.data)
    return sha.hexdigest()


# --- here


def _over(
    pool: Pool,
    work: _Work[Value],
    shards: Files | os.PathLike[str] | Iterable[Source],
    at_once: int | None,
    retries: int,
    patience: float | None,
    progress: bool | None,
    title: str,
) -> Generator[Value]:
    """What comes of each shard, in their order."""
    out = 2 * (os.cpu_count() or 1) if at_once is None else whole_number("at_once", at_once, 1)
    if patience is not None and not patience > 0:
        raise OptionError(f"patience={patience} is no time in seconds.", value=patience)
    total, sources = _each(shards)
    roster: Roster[Source, Value] = Roster(
        sources, at_once=out, retries=whole_number("retries", retries, 0)
    )
    workers = _Workers(pool, work)

    def run() -> Generator[Value]:
        try:
            with progress_bar(title, total=total, unit="shards", enabled=progress) as advance:
                yield from _values(workers, roster, patience, advance)
        finally:
            workers.close()

    return run()


def _values(
    workers: _Workers[Value],
    roster: Roster[Source, Value],
    patience: float | None,
    advance: Callable[[int], None],
) -> Iterator[Value]:
    while True:
        while (job := roster.next()) is not None:
            workers.submit(*job)
        if roster.done:
            return
        found = workers.wait(patience)
        if found is None:
            roster.late()
        elif isinstance(found, _Lost):
            roster.lost(found.shard, found.why)
        elif roster.back(found):
            advance(1)
            yield from roster.ready()


@dataclass(frozen=True, slots=True)
class _Lost:
    """A shard of which nobody will say anything, and why."""

    shard: int
    why: BaseException


class _Workers(Generic[Value]):
    """The pool: what is given to it, what comes back, and another one for one that breaks."""

    def __init__(self, pool: Pool, work: _Work[Value]) -> None:
        self._work = work
        self._make: Callable[[], Executor] | None = None
        if isinstance(pool, Executor):
            self._pool = pool
        elif callable(pool):
            self._make = pool
            self._pool = pool()
        else:
            raise TypeError(f"pool is an Executor or makes one, and not {pool!r}")
        self._came: SimpleQueue[tuple[int, Executor, Future[Any]] | _Lost] = SimpleQueue()
        self._out: set[Future[Any]] = set()

    def submit(self, number: int, source: Source) -> None:
        """Give a shard to the pool."""
        pool = self._pool
        try:
            future = pool.submit(self._work, number, source)
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
        result: Result[Value] | Exception = future.result()
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


def _each(
    shards: Files | os.PathLike[str] | Iterable[Source],
) -> tuple[int | None, Iterator[Source]]:
    """How many shards there are, where that is known, and each as a value that can travel."""
    if isinstance(shards, os.PathLike):
        shards = files(shards)
    if isinstance(shards, Files):
        each = [replace(shards, paths=(path,)) for path in shards.paths]
        return len(each), iter(each)
    if isinstance(shards, str | bytes | Mapping) or not isinstance(shards, Iterable):
        raise TypeError(
            f"shards is digram.files(...), a Path, or an iterable of sources, not of type "
            f"{type(shards).__name__}; put one source into a list"
        )
    return len(shards) if isinstance(shards, Sized) else None, map(_shard, shards)


def _shard(source: Source) -> Source:
    if isinstance(source, os.PathLike):
        return files(source)
    if isinstance(source, str | bytes | Files):
        return source
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise TypeError(
            f"a shard is a text, a Path, digram.files(...), or several texts or Paths, "
            f"not of type {type(source).__name__}"
        )
    items: list[Any] = list(source)
    if items and all(isinstance(item, os.PathLike) for item in items):
        return files(*items)
    return items


def _added_up(parts: Iterator[Counts], task: CountTexts) -> Counts:
    """The sum of the parts, in their order, each added to one of like size.

    So a pretoken is copied as often as the logarithm of the number of parts says.
    """
    sums: list[tuple[int, Counts]] = []  # how often something was added, the largest first
    for part in parts:
        times, added = 0, part
        while sums and sums[-1][0] == times:
            added = sums.pop()[1] + added
            times += 1
        sums.append((times, added))
    return Counts.merge([found for _, found in sums]) if sums else task([])
