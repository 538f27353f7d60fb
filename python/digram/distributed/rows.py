"""Counts as rows that any engine can add up, and back.

    kind       piece                     count
    pretoken   low                           7    the count of a pretoken in the texts
    total      documents                     2    the number of texts
    total      bytes                        42    their number of bytes
    made       {"pretokenizer": ...          1    how they were split

Grouping such rows by kind and piece and adding up the counts, in any order and in any number of
steps, gives the rows of all texts. Facts about all rows are rows too, since a shuffle loses the
metadata of a table, and a column would repeat them for each pretoken.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from digram.corpus import arrow_checks
from digram.distributed.columns import pyarrow
from digram.distributed.tasks import CountTexts
from digram.errors import OptionError
from digram.training.counts import Counts, check_made
from digram.training.counts.settings import CountsMetadata, from_json, to_json

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DDL", "KEYS", "counts_of", "rows_of", "schema"]

KEYS = ["kind", "piece"]
"""The columns to group by. `count` is the third, to be added up."""

DDL = "kind string, piece binary, count bigint"
"""The columns as SQL declares them."""

_PRETOKEN, _TOTAL, _MADE = "pretoken", "total", "made"
_KEPT = "Keep all rows, group them by kind and piece, and add up the counts only once."


def schema() -> pa.Schema:
    """The columns as Arrow declares them."""
    arrow = pyarrow()
    return arrow.schema(
        [
            arrow.field("kind", arrow.string()),
            arrow.field("piece", arrow.binary()),
            arrow.field("count", arrow.int64()),
        ]
    )


def rows_of(counts: Counts) -> pa.Table:
    """The rows of the counts of some texts.

    >>> counts = CountTexts.of("whitespace")(["low low", "lower"])
    >>> for row in rows_of(counts).drop_columns("kind").to_pylist()[:-1]:
    ...     print(row)
    {'piece': b' low', 'count': 1}
    {'piece': b'low', 'count': 1}
    {'piece': b'lower', 'count': 1}
    {'piece': b'documents', 'count': 2}
    {'piece': b'bytes', 'count': 12}
    """
    arrow = pyarrow()
    found = counts.without_first().to_arrow()
    pretokens = arrow.table(
        [
            arrow.repeat(arrow.scalar(_PRETOKEN), len(found)),
            found.column("piece"),
            found.column("count"),
        ],
        schema=schema(),
    )
    others = arrow.table(
        {
            "kind": [_TOTAL, _TOTAL, _MADE],
            "piece": [b"documents", b"bytes", _made(counts).encode()],
            "count": [counts.documents, counts.bytes, 1],
        },
        schema=schema(),
    )
    return arrow.concat_tables([pretokens, others])


def counts_of(rows: Any, task: CountTexts) -> Counts:
    """The counts that rows represent, whether equal ones were added up or not.

    >>> task = CountTexts.of("whitespace")
    >>> parts = [rows_of(task([text])) for text in ("low low", "lower low")]
    >>> counts_of(pyarrow().concat_tables(parts), task)
    <digram.Counts: 3 distinct pretokens, 4 in all, of 2 documents, pretokenizer="whitespace">

    `rows` is a table of any library that supports Arrow. Raises `ConfigMismatchError` if one of
    them was made with other settings than those of `task`, and `OptionError` if columns or rows are
    missing.
    """
    arrow = pyarrow()
    wanted = (*KEYS, "count")
    table = rows if isinstance(rows, arrow.Table) else arrow.table(arrow_checks.whole(rows, wanted))
    missing = [name for name in wanted if name not in table.column_names]
    if missing:
        raise OptionError(
            f"there is no column {missing[0]!r} among {table.column_names}.",
            value=missing[0],
            hint=_KEPT,
        )
    table = arrow_checks.whole(table, wanted).select(wanted).cast(schema())
    kinds = table.column("kind")
    # An engine may omit the rows of partitions without texts.
    for line in table.filter(arrow.compute.equal(kinds, _MADE)).column("piece").to_pylist():
        made = from_json(line.decode("utf-8", "replace"))
        check_made(
            (made.pretokenizer, made.unit),
            (task.pretokenizer, task.unit),
            "some of these counts",
            "the others with",
        )
    totals = {"documents": 0, "bytes": 0}
    for row in table.filter(arrow.compute.equal(kinds, _TOTAL)).to_pylist():
        totals[row["piece"].decode()] += row["count"]
    counts = Counts.from_arrow(
        table.filter(arrow.compute.equal(kinds, _PRETOKEN)).select(["piece", "count"]),
        pretokenizer=task.pretokenizer,
        unit=task.unit,
        documents=totals["documents"],
    )
    if counts.bytes != totals["bytes"]:
        raise OptionError(
            f"the rows add up to {counts.bytes:,} bytes, and the texts had {totals['bytes']:,}.",
            value=counts.bytes,
            hint=_KEPT,
        )
    return counts


def _made(counts: Counts) -> str:
    """How texts were split, in the form of a file of counts, without its totals."""
    return to_json(CountsMetadata(counts.pretokenizer, counts.unit, 0, 0, 0, None))


def batches_of(tables: Iterable[pa.Table], rows: int = 1 << 16) -> Iterable[pa.RecordBatch]:
    """The tables in batches of a maximum number of rows, which bounds the engine's memory."""
    for table in tables:
        yield from table.to_batches(max_chunksize=rows)
