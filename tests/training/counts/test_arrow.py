"""Tables of others: what is taken, and what is refused, with the row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow
import pytest

import digram
from digram import Counts

PIECES = pyarrow.array([b"low", b"er"], pyarrow.binary())


def table(**columns: Any) -> pyarrow.Table:
    return pyarrow.table({"piece": PIECES, "count": [2, 1], **columns})


def test_a_stream_is_read_once() -> None:
    read: list[int] = []

    def batches() -> Iterator[pyarrow.RecordBatch]:
        for number in range(3):
            read.append(number)
            yield from table().to_batches()

    reader = pyarrow.RecordBatchReader.from_batches(table().schema, batches())
    counts = Counts.from_arrow(reader, pretokenizer="gpt2", documents=3)
    assert (counts["low"], counts["er"], counts.documents, read) == (6, 3, 3, [0, 1, 2])


def test_a_producer_that_fails_is_told() -> None:
    def batches() -> Iterator[pyarrow.RecordBatch]:
        yield from table().to_batches()
        raise RuntimeError("the disk is gone")

    reader = pyarrow.RecordBatchReader.from_batches(table().schema, batches())
    with pytest.raises(digram.OptionError, match=r"the disk is gone"):
        Counts.from_arrow(reader, pretokenizer="gpt2")


def test_first_occurrences() -> None:
    counts = Counts.from_arrow(table(first=[7, 3]), pretokenizer=None)
    assert counts.has_first
    assert list(counts) == [b"er", b"low"]
    twice = Counts.from_arrow(
        pyarrow.concat_tables([table(first=[7, 3]), table(first=[1, 9])]), pretokenizer=None
    )
    assert list(twice) == [b"low", b"er"]
    assert twice.to_arrow().column("first").to_pylist() == [3, 1]
    # What is added comes after the last place that is known.
    assert (counts + counts).to_arrow().column("first").to_pylist() == [3, 7]


def test_rows_of_no_count_are_passed_over() -> None:
    counts = Counts.from_arrow(pyarrow.table({"piece": PIECES, "count": [0, 1]}), pretokenizer=None)
    assert list(counts) == [b"er"]


def test_a_slice_of_a_table_of_ours_is_what_its_rows_are() -> None:
    """The totals of the whole are not those of a part."""
    whole = digram.count_pretokens(["low low", "lower"], pretokenizer="whitespace")
    part = Counts.from_arrow(whole.to_arrow().slice(1, 2))
    assert part.pretokenizer == whole.pretokenizer
    assert (part.pretokens, part.documents, len(part)) == (2, 0, 2)


@pytest.mark.parametrize(
    ("columns", "message", "index"),
    [
        ({"piece": PIECES}, 'no column "count" among', None),
        ({"count": [1]}, 'no column "piece" among', None),
        ({"piece": [1, 2], "count": [1, 2]}, '"piece" is of type Int64', None),
        ({"piece": PIECES, "count": [1.0, 2.0]}, '"count" is of type Float64', None),
        ({"piece": PIECES, "count": [1, None]}, "row 1: the count is null", 1),
        ({"piece": [b"a", None], "count": [1, 2]}, "row 1: the piece is null", 1),
        ({"piece": PIECES, "count": [1, -2]}, "row 1: the count is -2", 1),
        ({"piece": [b"a", b""], "count": [1, 2]}, "row 1: the piece is empty", 1),
        ({"piece": PIECES, "count": [1, 2], "first": [0, -1]}, "row 1: the first is -1", 1),
    ],
)
def test_tables_that_hold_no_counts(
    columns: dict[str, Any], message: str, index: int | None
) -> None:
    with pytest.raises(digram.OptionError, match=message) as raised:
        Counts.from_arrow(pyarrow.table(columns), pretokenizer=None)
    assert raised.value.index == index
    assert "piece (binary) and count (int64)" in str(raised.value)


def test_more_than_64_bits() -> None:
    with pytest.raises(digram.LimitExceededError):
        Counts.from_arrow(
            pyarrow.table(
                {"piece": [b"a", b"a"], "count": pyarrow.array([2**63, 2**63], pyarrow.uint64())}
            ),
            pretokenizer=None,
        )


@pytest.mark.parametrize("data", [7, "low", None, [(b"low", 2)], {"low": 2}])
def test_what_is_no_table(data: Any) -> None:
    with pytest.raises(TypeError, match=r"__arrow_c_stream__"):
        Counts.from_arrow(data, pretokenizer=None)


def test_an_array_that_is_no_table() -> None:
    with pytest.raises(digram.OptionError, match=r"the data is an array of type"):
        Counts.from_arrow(PIECES, pretokenizer=None)
    rows = pyarrow.array([{"piece": b"a", "count": 1}, None])
    with pytest.raises(digram.OptionError, match=r"row 1: the row is null"):
        Counts.from_arrow(rows, pretokenizer=None)


def test_the_schema_comes_by_itself() -> None:
    counts = digram.count_pretokens("low low")
    schema = pyarrow.schema(counts)
    assert schema.names == ["piece", "count", "first"]
    assert b"digram" in schema.metadata
    assert pyarrow.table(counts).schema.equals(schema, check_metadata=True)
