"""Texts from an Arrow column, and ids into one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from digram.corpus.arrow_checks import as_bytes, refused
from digram.distributed.tasks import EncodeTexts
from digram.errors import InvalidTextError, OptionError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["check_column", "check_into", "pyarrow", "texts", "with_ids"]

_AT_ONCE = 32 << 20  # bytes of text; their ids take up to four times as much
_OBJECTS = 1 << 10  # texts to convert to Python objects at a time
_NAME_IT = "Pass the name of the text column as column=."


def pyarrow() -> Any:
    """pyarrow; an `OptionError` with the remedy if it is not installed."""
    from digram.training.counts.files import pyarrow

    return pyarrow("work on a cluster's tables")


def texts(batches: Iterable[pa.RecordBatch | pa.Table], column: str) -> Iterator[bytes]:
    r"""The texts of a column, as UTF-8 bytes.

    >>> batch = pyarrow().record_batch({"text": ["a", "é"]})
    >>> list(texts([batch], "text"))
    [b'a', b'\xc3\xa9']

    Raises `OptionError` if there is no such column or it has no text, and `InvalidTextError` for a
    null, with the row as `.index`.
    """
    row = 0
    for batch in batches:
        values = _binary(batch, column)
        if values.null_count:
            index = row + values.is_null().to_pylist().index(True)
            raise InvalidTextError(
                f"row {index} of this task: {column!r} is null, which is not text.",
                index=index,
                hint="Remove such rows before counting.",
            )
        row += len(values)
        for start in range(0, len(values), _OBJECTS):
            yield from values.slice(start, _OBJECTS).to_pylist()


def with_ids(
    batch: pa.RecordBatch | pa.Table, column: str, into: str, task: EncodeTexts, type: pa.DataType
) -> Iterator[pa.Table]:
    """The rows of a batch, in order, with a further column of this type: the ids of their texts.

    Nulls stay null. Yields parts of some 32 MiB of text, or of one row.
    """
    arrow = pyarrow()
    if into in batch.schema.names:
        raise _there_already(into)
    values = _binary(batch, column)
    table = batch if isinstance(batch, arrow.Table) else arrow.Table.from_batches([batch])
    if not len(table):
        yield table.append_column(arrow.field(into, type), arrow.array([], type))
    start = held = 0
    for end, length in enumerate(arrow.compute.binary_length(values).fill_null(0).to_pylist(), 1):
        held += length
        if held >= _AT_ONCE or end == len(table):
            ids = _ids(values.slice(start, end - start), task, type)
            yield table.slice(start, end - start).append_column(arrow.field(into, type), ids)
            start, held = end, 0


def check_column(column: str, columns: Iterable[str]) -> None:
    """Raise an error if there is no such column."""
    if column not in columns:
        raise OptionError(
            f"there is no column {column!r} among {list(columns)}.", value=column, hint=_NAME_IT
        )


def check_into(into: str, columns: Iterable[str]) -> None:
    """Raise an error if there is such a column already."""
    if into in columns:
        raise _there_already(into)


def _there_already(into: str) -> OptionError:
    return OptionError(
        f"there is already a column {into!r}.", value=into, hint="Pass another name as into=."
    )


def _ids(values: pa.Array, task: EncodeTexts, type: pa.DataType) -> pa.Array:
    """Lists of ids in an engine's type, which may be signed or have 32-bit offsets."""
    arrow = pyarrow()
    ids = arrow.array(task.to_arrow([text or b"" for text in values.to_pylist()]))
    # The ids are not copied: no id reaches 2^31, and no batch holds 2^31 tokens.
    numbers = ids.flatten().view(type.value_type)
    offsets = ids.offsets.cast(arrow.int32())
    mask = values.is_null() if values.null_count else None
    return arrow.ListArray.from_arrays(offsets, numbers, type=type, mask=mask)


def _binary(batch: pa.RecordBatch | pa.Table, column: str) -> pa.Array:
    """A text column as one array of bytes, fully validated.

    A single chunk is not copied. Strings may be invalid UTF-8, since those of engines sometimes
    are.
    """
    arrow = pyarrow()
    names = batch.schema.names
    check_column(column, names)
    values = batch.column(names.index(column))
    type = values.type
    known = (
        arrow.types.is_null,  # an engine's type for a batch of nulls
        arrow.types.is_string,
        arrow.types.is_large_string,
        arrow.types.is_string_view,
        arrow.types.is_binary,
        arrow.types.is_large_binary,
        arrow.types.is_binary_view,
    )
    of = type.value_type if arrow.types.is_dictionary(type) else type
    if not any(is_it(of) for is_it in known):
        raise OptionError(
            f"the column {column!r} is of type {type}, which is not text.",
            value=column,
            hint=_NAME_IT,
        )
    try:
        chunks = [
            _decoded(as_bytes(chunk)).cast(arrow.large_binary())
            for chunk in (values.chunks if isinstance(values, arrow.ChunkedArray) else [values])
        ]
    except arrow.ArrowException as error:
        raise refused(error) from None
    return (
        chunks[0]
        if len(chunks) == 1
        else arrow.concat_arrays(chunks or [arrow.array([], arrow.large_binary())])
    )


def _decoded(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if hasattr(values, "dictionary_decode") else values
