"""Counting, training and encoding of data frames of Apache Spark.

The workers count, Spark's own shuffle adds up the counts, and the driver merges. Spark may run a
task twice or repeat it; a task always gives the same result, and Spark uses one of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from digram import _core
from digram.corpus import batches
from digram.distributed.columns import check_into, pyarrow, texts, with_ids
from digram.distributed.complaints import own_error, without_digram
from digram.distributed.rows import DDL, KEYS, batches_of, counts_of, rows_of
from digram.distributed.tasks import CountTexts, EncodeTexts, check_version
from digram.distributed.training import cut_of, trained
from digram.errors import ConfigMismatchError, LimitExceededError, OptionError
from digram.pretokenizers.pretokenizer import MISSING, Pretokenizer, PretokenizerLike, Regex
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Counts
from digram.vocab.settings import Unit
from digram.vocab.special_tokens import OnSpecial

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Counter", "check", "count", "counter", "encode", "train"]

_TEXT = 64 << 20  # bytes of text to count before a task emits rows
_TYPES = {"string", "binary", "char", "varchar"}


def count(
    df: DataFrame,
    *,
    column: str = "text",
    pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None = "o200k",
    unit: Unit = "byte",
) -> Counts:
    """Count the pretokens of a column of text; each row is a text.

    >>> import digram
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> df = spark.createDataFrame([("low low",), ("lower",)], ["text"])
    >>> digram.distributed.spark.count(df, column="text", pretokenizer="whitespace")
    <digram.Counts: 3 distinct pretokens, 3 in all, of 2 documents, pretokenizer="whitespace">

    `column` may be a path into a struct ("meta.text"); the other arguments are those of
    `digram.count_pretokens`. The result equals that function's, without first occurrences, since
    the rows of a data frame have no order.

    Raises `InvalidTextError` for a null, `ConfigMismatchError` for workers with another Python or
    without this digram (see `check`), and `LimitExceededError` if the driver's memory or
    `spark.driver.maxResultSize` is too small for the counts. Memory: on a worker some hundreds of
    MB per task, whatever the size of the partition; on the driver twice the distinct pretokens.
    """
    count = counter(pretokenizer=pretokenizer, column="text", unit=unit)
    return _count(df, column, count)


def train(
    df: DataFrame,
    *,
    column: str = "text",
    pretokenizer: PretokenizerLike = MISSING,
    unit: Unit = "byte",
    **options: Any,
) -> Tokenizer:
    """Train a tokenizer on a column of text: the workers count, the driver merges.

    >>> import digram
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> df = spark.createDataFrame([("low low",), ("lower",)], ["text"])
    >>> tok = digram.distributed.spark.train(df, column="text", max_merges=2)
    >>> tok == digram.train(["low low", "lower"], max_merges=2)
    True

    The first arguments are those of `count`, which raises the same errors; `options` are those of
    `digram.train`, which are checked before Spark starts. The saved tokenizer is that of
    `digram.train` on the same texts, bit for bit. `ties="first_seen"` is refused, since it needs an
    order of the texts.
    """
    cut = cut_of(pretokenizer, options)
    count = counter(pretokenizer=cut, column="text", unit=unit)
    return trained(lambda: _count(df, column, count), count.task, options, ordered=False)


def encode(
    df: DataFrame,
    tok: Tokenizer,
    *,
    column: str = "text",
    into: str = "ids",
    special: OnSpecial = "text",
) -> DataFrame:
    """Add a column with the ids of the texts to the data frame: `array<int>`.

    >>> import digram
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> df = spark.createDataFrame([("a",), ("ab",)], ["text"])
    >>> tok = digram.train("a b", max_merges=0)
    >>> digram.distributed.spark.encode(df, tok, column="text", into="ids").collect()
    [Row(text='a', ids=[97]), Row(text='ab', ids=[97, 98])]

    Nothing runs until the result is used. Nulls stay null. `special` is as for
    `Tokenizer.encode_batch`. All columns pass through the workers' Python, so select the columns
    you need first. Errors are raised by Spark when the result is used; `check` tests beforehand
    whether the workers are ready. Memory: on a worker a batch of Spark's rows
    (`spark.sql.execution.arrow.maxRecordsPerBatch`), and the ids of 32 MiB of text.
    """
    from pyspark.sql.types import ArrayType, IntegerType, StructField, StructType

    check_into(into, df.columns)
    _check_type(df, column)
    ids = StructField(into, ArrayType(IntegerType(), containsNull=False))
    return df.mapInArrow(
        _Encoder(EncodeTexts.of(tok, special), column, into), StructType([*df.schema.fields, ids])
    )


def check(spark: SparkSession) -> None:
    """Check the Python and the digram of the workers.

    >>> import digram
    >>> from pyspark.sql import SparkSession
    >>> digram.distributed.spark.check(SparkSession.builder.getOrCreate())

    Raises `ConfigMismatchError`, which says what to install, or that `PYSPARK_PYTHON` names another
    Python than the driver's. Runs as many small tasks as Spark runs at a time, so that it most
    likely reaches every worker: some seconds if no worker runs yet.
    """
    with _in_our_words():
        tasks = int(spark.conf.get("spark.default.parallelism", None) or _parallelism(spark))
        asked = spark.range(0, tasks, 1, tasks).mapInArrow(_Asked(_core.__version__), "ok boolean")
        asked.collect()


def counter(
    *,
    pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None = "o200k",
    column: str = "text",
    unit: Unit = "byte",
) -> Counter:
    """The function that `count` passes to `mapInArrow`, for your own jobs.

    >>> import digram, pyarrow
    >>> counter = digram.distributed.spark.counter(pretokenizer="whitespace", column="text")
    >>> counter.schema
    'kind string, piece binary, count bigint'
    >>> rows = counter([pyarrow.record_batch({"text": ["low low", "lower"]})])
    >>> counter.counts(pyarrow.Table.from_batches(rows))
    <digram.Counts: 3 distinct pretokens, 3 in all, of 2 documents, pretokenizer="whitespace">

    In a job, group its rows, add up the counts, and collect them on the driver:

        rows = df.mapInArrow(counter, counter.schema)
        sums = rows.groupBy("kind", "piece").agg(F.sum("count").alias("count"))
        counts = counter.counts(sums.toArrow())
    """
    return Counter(CountTexts.of(pretokenizer, unit), column)


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts the texts of a partition: batches of rows in, batches of counts out."""

    task: CountTexts
    column: str

    @property
    def schema(self) -> str:
        """The columns of the output, as SQL declares them."""
        return DDL

    def __call__(self, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        check_version(self.task.version)
        found = (rows_of(self.task(part)) for part in batches(texts(rows, self.column), _TEXT))
        yield from batches_of(found)

    def counts(self, rows: Any) -> Counts:
        """The counts that rows represent, added up or not: a table of any library that supports
        Arrow.

        Raises `ConfigMismatchError` for rows that were made with other settings, and `OptionError`
        if some are missing or duplicated.
        """
        return counts_of(rows, self.task)


@dataclass(frozen=True, slots=True)
class _Encoder:
    """Encodes the texts of a partition."""

    task: EncodeTexts
    column: str
    into: str

    def __call__(self, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrow = pyarrow()
        type = arrow.list_(arrow.field("element", arrow.int32(), nullable=False))
        for batch in rows:
            yield from batches_of(with_ids(batch, self.column, self.into, self.task, type))


@dataclass(frozen=True, slots=True)
class _Asked:
    """Reports that a worker is ready, or what is wrong with it."""

    version: str

    def __call__(self, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        check_version(self.version)
        for _ in rows:
            yield pyarrow().record_batch({"ok": [True]})


def _count(df: DataFrame, column: str, counter: Counter) -> Counts:
    from pyspark.sql import functions

    _check_type(df, column)
    rows = df.select(functions.col(column).alias("text")).mapInArrow(counter, counter.schema)
    sums = rows.groupBy(*KEYS).agg(functions.sum("count").alias("count"))
    with _in_our_words():
        table = sums.toArrow()
    return counter.counts(table)


def _check_type(df: DataFrame, column: str) -> None:
    """Raise an error for a column without text; Spark itself refuses a missing column."""
    type = df.select(column).schema.fields[0].dataType
    if type.typeName() not in _TYPES:
        raise OptionError(
            f"the column {column!r} is of type {type.simpleString()}, which is not text.",
            value=column,
            hint="Pass the name of the text column as column=.",
        )


def _parallelism(spark: SparkSession) -> int:
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # a session over Spark Connect has no context
        return os.cpu_count() or 1


@contextmanager
def _in_our_words() -> Iterator[None]:
    """Raise Spark's errors about a worker or the driver's memory as digram's errors."""
    try:
        yield
    except Exception as error:
        text = str(error)
        found = _another_python(text) or without_digram(text, _REMEDY) or own_error(text)
        found = found or _too_much(text)
        if found is None:
            raise
        raise found from error


_REMEDY = (
    ", or set the environment variable PYSPARK_PYTHON, before the session starts, to a Python that "
    "has all of them"
)


def _another_python(text: str) -> ConfigMismatchError | None:
    if "PYTHON_VERSION_MISMATCH" not in text and "different minor versions" not in text:
        return None
    version = "{}.{}".format(*sys.version_info[:2])
    named = os.environ.get("PYSPARK_PYTHON")
    return ConfigMismatchError(
        f"the workers' Python is not {version}, which the driver uses.",
        value=named,
        hint="Set the environment variable PYSPARK_PYTHON to a Python "
        f"{version} with digram, on all workers the same, before the session starts"
        + (f"; it is {named!r} now." if named else "; without it they run `python3`."),
    )


def _too_much(text: str) -> LimitExceededError | None:
    if "maxResultSize" not in text and "OutOfMemoryError" not in text:
        return None
    return LimitExceededError(
        "the counts are too large for the driver.",
        hint="Raise spark.driver.maxResultSize (0 is no limit) and spark.driver.memory, before the "
        "session starts. Sampling the rows also helps; with a pretokenizer that does not split "
        "texts, each text is a separate pretoken.",
    )
