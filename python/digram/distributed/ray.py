"""Counting, training and encoding of data sets of Ray.

The workers count, Ray's own shuffle adds up the counts, and the driver merges. Ray repeats a task
if a worker is lost; a task always gives the same result, and Ray uses one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from digram.corpus import batches
from digram.distributed.columns import check_column, check_into, pyarrow, texts, with_ids
from digram.distributed.complaints import own_error, without_digram
from digram.distributed.rows import KEYS, counts_of, rows_of
from digram.distributed.tasks import CountTexts, EncodeTexts, check_version
from digram.distributed.training import cut_of, trained
from digram.errors import DigramError
from digram.pretokenizers.pretokenizer import MISSING, Pretokenizer, PretokenizerLike, Regex
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Counts
from digram.vocab.settings import Unit
from digram.vocab.special_tokens import OnSpecial

if TYPE_CHECKING:
    import pyarrow as pa
    from ray.data import Dataset

__all__ = ["count", "encode", "train"]

_TEXT = 64 << 20  # bytes of text to count before a task emits rows


def count(
    ds: Dataset,
    *,
    column: str = "text",
    pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None = "o200k",
    unit: Unit = "byte",
    partitions: int | None = None,
) -> Counts:
    """Count the pretokens of a column of text; each row is a text.

    >>> import digram, ray
    >>> ds = ray.data.from_items([{"text": "low low"}, {"text": "lower"}])
    >>> digram.distributed.ray.count(ds, column="text", pretokenizer="whitespace")
    <digram.Counts: 3 distinct pretokens, 3 in all, of 2 documents, pretokenizer="whitespace">

    The arguments are those of `digram.count_pretokens`; `partitions` is the number of parts in
    which the counts are summed, by default two per core of the cluster: fewer are faster for little
    text, more take less memory each. The result equals that of `digram.count_pretokens`, without
    first occurrences, since rows have no order.

    Raises `OptionError` if there is no such column or it has no text, `InvalidTextError` for a
    null, and `ConfigMismatchError` for workers without this digram. Memory: on a worker some
    hundreds of MB per task in addition to its block; on the driver twice the distinct pretokens.
    """
    return _count(ds, column, CountTexts.of(pretokenizer, unit), partitions)


def train(
    ds: Dataset,
    *,
    column: str = "text",
    pretokenizer: PretokenizerLike = MISSING,
    unit: Unit = "byte",
    partitions: int | None = None,
    **options: Any,
) -> Tokenizer:
    """Train a tokenizer on a column of text: the workers count, the driver merges.

    >>> import digram, ray
    >>> ds = ray.data.from_items([{"text": "low low"}, {"text": "lower"}])
    >>> tok = digram.distributed.ray.train(ds, column="text", max_merges=2)
    >>> tok == digram.train(["low low", "lower"], max_merges=2)
    True

    The first arguments are those of `count`, which raises the same errors; `options` are those of
    `digram.train`, which are checked before Ray starts. The saved tokenizer is that of
    `digram.train` on the same texts, bit for bit. `ties="first_seen"` is refused, since it needs an
    order of the texts.
    """
    task = CountTexts.of(cut_of(pretokenizer, options), unit)
    return trained(lambda: _count(ds, column, task, partitions), task, options, ordered=False)


def encode(
    ds: Dataset,
    tok: Tokenizer,
    *,
    column: str = "text",
    into: str = "ids",
    special: OnSpecial = "text",
) -> Dataset:
    """Add a column with the ids of the texts to the data set: lists of uint32.

    >>> import digram, ray
    >>> ds = ray.data.from_items([{"text": "a"}, {"text": "ab"}])
    >>> tok = digram.train("a b", max_merges=0)
    >>> encoded = digram.distributed.ray.encode(ds, tok, column="text", into="ids")
    >>> sorted((row["text"], list(row["ids"])) for row in encoded.take_all())
    [('a', [97]), ('ab', [97, 98])]

    Nothing runs until the result is used; errors are raised then, by Ray. Nulls stay null.
    `special` is as for `Tokenizer.encode_batch`. Memory: on a worker its block, and the ids of 32
    MiB of text at a time.
    """
    schema = ds.schema(fetch_if_missing=False)
    check_into(into, [] if schema is None else schema.names)
    return ds.map_batches(
        _Encoder(EncodeTexts.of(tok, special), column, into),
        batch_format="pyarrow",
        batch_size=None,
        zero_copy_batch=True,
    )


@dataclass(frozen=True, slots=True)
class _Counter:
    """Counts the texts of a block."""

    task: CountTexts
    column: str

    def __call__(self, block: pa.Table) -> Iterator[pa.Table]:
        check_version(self.task.version)
        for part in batches(texts([block], self.column), _TEXT):
            yield rows_of(self.task(part))


@dataclass(frozen=True, slots=True)
class _Encoder:
    """Encodes the texts of a block."""

    task: EncodeTexts
    column: str
    into: str

    def __call__(self, block: pa.Table) -> Iterator[pa.Table]:
        arrow = pyarrow()
        type = arrow.list_(arrow.uint32())
        yield from with_ids(block, self.column, self.into, self.task, type)


def _count(ds: Dataset, column: str, task: CountTexts, partitions: int | None) -> Counts:
    schema = ds.schema()
    if schema is not None:  # there are rows, and their columns are known
        check_column(column, schema.names)
        ds = ds.select_columns([column])
    rows = ds.map_batches(
        _Counter(task, column), batch_format="pyarrow", batch_size=None, zero_copy_batch=True
    )
    sums = rows.groupby(KEYS, num_partitions=partitions or _partitions()).sum("count")
    arrow = pyarrow()
    with _in_our_words():
        found = list(sums.iter_batches(batch_format="pyarrow", batch_size=None))
    tables = [table.rename_columns([*KEYS, "count"]) for table in found if table.num_rows]
    return counts_of(arrow.concat_tables(tables) if tables else rows_of(task([])), task)


def _partitions() -> int:
    """Two per core: the sums are small, and each part costs a task (Ray's default is 200)."""
    import ray

    return max(1, 2 * int(ray.cluster_resources().get("CPU", 1)))


@contextmanager
def _in_our_words() -> Iterator[None]:
    """Raise Ray's errors that stem from digram, or from a worker without it, as digram's errors."""
    try:
        yield
    except Exception as error:
        cause = getattr(error, "cause", None)  # the exception on the worker
        found = cause if isinstance(cause, DigramError) else own_error(str(error))
        found = found or without_digram(str(error), _REMEDY)
        if found is None:
            raise
        raise found from error


_REMEDY = ', or let Ray do it: `ray.init(runtime_env={"pip": ["digram"]})`'
