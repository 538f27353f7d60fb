"""Counting and encoding by any `concurrent.futures.Executor`: process pools, Dask's workers.

A corpus is given as shards, and each worker takes one at a time. The result is that of one machine,
bit for bit, even if work is lost or done twice (`digram.distributed.roster`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from digram.corpus import CorpusLike, Files
from digram.distributed.pools import Pool, over
from digram.distributed.shards import CountShard, EncodeShard
from digram.distributed.tasks import CountTexts, EncodeTexts
from digram.distributed.training import cut_of, trained
from digram.pretokenizers.pretokenizer import MISSING, Pretokenizer, PretokenizerLike, Regex
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Counts
from digram.vocab.settings import Unit
from digram.vocab.special_tokens import OnSpecial

if TYPE_CHECKING:
    from digram.tokenizer.batch import FlatIds

__all__ = ["Pool", "count", "encode", "train"]


def count(
    pool: Pool,
    shards: Files | os.PathLike[str] | Iterable[CorpusLike],
    *,
    pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None = "o200k",
    unit: Unit = "byte",
    at_once: int | None = None,
    retries: int = 3,
    patience: float | None = None,
    progress: bool | None = None,
) -> Counts:
    """Count the pretokens of a corpus with the workers of an executor.

    >>> import digram
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> shards = [["low low", "lower"], ["lowest"]]
    >>> with ThreadPoolExecutor(2) as pool:
    ...     counts = digram.distributed.executor.count(pool, shards)
    >>> counts == digram.count_pretokens(["low low", "lower", "lowest"])
    True

    Input:
        pool: an executor, or a function without arguments that creates one, such as
            `lambda: ProcessPoolExecutor(8)`. In that case the executor is shut down at the end, and
            replaced if it breaks because a worker was killed.
        shards: `digram.files(...)` or a `Path`, where each file is a shard; or any iterable of
            corpora, consumed as needed: lists of texts, Paths, `digram.files(...)`. Workers read
            the files themselves, so they must see them under the same names.
        pretokenizer, unit: as for `digram.count_pretokens`.

    Limits:
        at_once: the maximum number of shards that are with the pool or wait for an earlier one; the
            default is twice the cores of this machine, so pass more for a cluster.
        retries: how often one shard may be lost; it is then done again.
        patience: if no shard comes back for this many seconds, all shards that are handed out are
            handed out a second time, and the first result counts.

    The counts are those of the texts in the order of the shards, including first occurrences.
    Errors of a shard name it, and are not retried; raises `LimitExceededError` for a shard that is
    lost too often, and for a pool that breaks and cannot be replaced. Memory here: the shards that
    are handed out, and the counts of some of them, at most the logarithm of their number in
    addition to `at_once`; on a worker, as `digram.count_pretokens` of a shard with one thread. A
    worker reads a file twice, once for its digest. Processes of a `ProcessPoolExecutor` write their
    results to a folder under `tempfile.gettempdir()`, since a killed process could otherwise block
    the whole pool.
    """
    task = CountTexts.of(pretokenizer, unit)
    each = over(pool, CountShard(task), shards, at_once, retries, patience, progress)
    with contextlib.closing(each):
        return _added_up(each, task)


def train(
    pool: Pool,
    shards: Files | os.PathLike[str] | Iterable[CorpusLike],
    *,
    pretokenizer: PretokenizerLike = MISSING,
    unit: Unit = "byte",
    at_once: int | None = None,
    retries: int = 3,
    patience: float | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Tokenizer:
    """Train a tokenizer: the workers count, this process merges.

    >>> import digram
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool:
    ...     tok = digram.distributed.executor.train(pool, [["low low"], ["lower"]], max_merges=2)
    >>> tok == digram.train(["low low", "lower"], max_merges=2)
    True

    The first arguments are those of `count`, `options` those of `digram.train`, which are checked
    before anything is counted. The saved tokenizer is that of `digram.train` on the same texts, bit
    for bit.
    """
    cut = cut_of(pretokenizer, options)

    def counted() -> Counts:
        return count(
            pool,
            shards,
            pretokenizer=cut,
            unit=unit,
            at_once=at_once,
            retries=retries,
            patience=patience,
            progress=progress,
        )

    options["progress"] = progress
    return trained(counted, CountTexts.of(cut, unit), options, ordered=True)


def encode(
    pool: Pool,
    tok: Tokenizer,
    shards: Files | os.PathLike[str] | Iterable[CorpusLike],
    *,
    special: OnSpecial = "text",
    at_once: int | None = None,
    retries: int = 3,
    patience: float | None = None,
    progress: bool | None = None,
) -> Iterator[FlatIds]:
    """The ids of each shard, in order: `tok.encode_batch(texts, out="numpy")`.

    >>> import digram
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> tok = digram.train("a b", max_merges=0)
    >>> with ThreadPoolExecutor(2) as pool:
    ...     for ids, offsets in digram.distributed.executor.encode(pool, tok, [["a", "ab"], ["b"]]):
    ...         print(ids.tolist(), offsets.tolist())
    [97, 97, 98] [0, 1, 3]
    [98] [0, 1]

    The arguments are those of `count` and of `Tokenizer.encode_batch`. A worker holds the texts of
    its shard and their ids; this process holds those of at most `at_once` shards.
    """
    work = EncodeShard(EncodeTexts.of(tok, special))
    return over(pool, work, shards, at_once, retries, patience, progress)


def _added_up(parts: Iterator[Counts], task: CountTexts) -> Counts:
    """The sum of the parts, in order; each is added to one of similar size.

    So a pretoken is copied at most as often as the logarithm of the number of parts.
    """
    sums: list[tuple[int, Counts]] = []  # the number of additions of each, the largest first
    for part in parts:
        times, added = 0, part
        while sums and sums[-1][0] == times:
            added = sums.pop()[1] + added
            times += 1
        sums.append((times, added))
    return Counts.merge([found for _, found in sums]) if sums else task([])
