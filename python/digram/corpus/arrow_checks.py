"""Arrow data that pyarrow holds, looked at in full before any of it is used.

pyarrow reads a file as it lies there. Offsets, views and keys are then what the file says, and may
lead anywhere in the memory of the process: a damaged file would become text that never stood in it.
How long each buffer is only pyarrow knows; an array that it has handed over does not tell any more.
So it is asked here, before.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from digram.errors import OptionError

__all__ = [
    "as_bytes",
    "invalid",
    "is_pyarrow",
    "leaf",
    "pieces",
    "reason",
    "refused",
    "whole",
]


def is_pyarrow(data: object) -> bool:
    """Whether it is of pyarrow, or of pandas, which may hold what is."""
    return bool({"pyarrow", "pandas"} & _rooms(data))


def invalid() -> tuple[type[Exception], ...]:
    """What pyarrow raises for data that is none."""
    import pyarrow

    # The last is for the name of a column that is not UTF-8.
    return (pyarrow.ArrowException, OSError, MemoryError, UnicodeDecodeError)


def pieces(data: Any, names: tuple[str, ...]) -> tuple[Any, Iterator[Any]]:
    """What is empty and of the type of some data of pyarrow's, and the rows, piece by piece.

    Where the data has columns, the pieces have those of these names, and no other.

    >>> import pyarrow
    >>> rows = pyarrow.table({"id": [1, 2], "text": ["one", "two"]})
    >>> empty, found = pieces(rows, ("text",))
    >>> empty.num_rows, [piece.to_pydict() for piece in found]
    (0, [{'text': ['one', 'two']}])
    """
    import pyarrow

    if "pandas" in _rooms(data):
        # As its own __arrow_c_stream__ does.
        frame = hasattr(data, "columns")
        data = pyarrow.Table.from_pandas(data) if frame else pyarrow.array(data)
    if isinstance(data, pyarrow.Array | pyarrow.ChunkedArray):
        chunks = data.chunks if isinstance(data, pyarrow.ChunkedArray) else [data]
        return pyarrow.array([], data.type), iter(chunks)
    empty = data.schema.empty_table()
    batches: Iterable[Any]
    if isinstance(data, pyarrow.Table):
        batches = _selected(data, names).to_batches()
    else:  # a reader, or one batch
        batches = [data] if isinstance(data, pyarrow.RecordBatch) else data
        batches = (_selected(batch, names) for batch in batches)
    return empty, iter(batches)


def _selected(data: Any, names: tuple[str, ...]) -> Any:
    """The first column of each name, in the order of the data."""
    there = data.schema.names
    return data.select(sorted({there.index(name) for name in names if name in there}))


def leaf(rows: Any, column: tuple[str, ...]) -> Any:
    """The array that a name leads to in a batch or an array: null where one around it is.

    >>> import pyarrow
    >>> leaf(pyarrow.record_batch({"meta": [{"text": "one"}, None]}), ("meta", "text")).to_pylist()
    ['one', None]

    What it lies in is looked at as far as its length goes, and the array itself not at all. Raises
    an exception of pyarrow's (`invalid`).
    """
    import pyarrow
    import pyarrow.compute

    if isinstance(rows, pyarrow.RecordBatch):
        rows.validate()
        rows, column = rows.column(rows.schema.names.index(column[0])), column[1:]
    for name in column:
        rows = _plain(rows)
        if not pyarrow.types.is_struct(rows.type):
            break  # an array without a name, which is its own column
        rows.validate()
        names = [field.name for field in rows.type]
        rows = pyarrow.compute.struct_field(rows, [names.index(name)])
    return _plain(rows)


def _plain(array: Any) -> Any:
    """The array that one of an extension type is in truth."""
    import pyarrow

    while isinstance(array, pyarrow.ExtensionArray):
        array = array.storage
    return array


def whole(data: Any, names: tuple[str, ...]) -> Any:
    """The same data with the columns of these names, looked at; data of others as it is.

    A reader is looked at as it is read. Raises `OptionError` where columns do not hold together.
    """
    if not is_pyarrow(data):
        return data
    import pyarrow

    try:
        empty, found = pieces(data, names)
        if isinstance(data, pyarrow.RecordBatchReader):
            checked = (_checked(piece) for piece in found)
            return pyarrow.RecordBatchReader.from_batches(_selected(empty, names).schema, checked)
        if isinstance(empty, pyarrow.Array):
            return pyarrow.chunked_array([_checked(piece) for piece in found], empty.type)
        return pyarrow.Table.from_batches(map(_checked, found), _selected(empty, names).schema)
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise refused(error) from None


def _checked(rows: Any) -> Any:
    rows.validate(full=True)
    return rows


def refused(error: Exception) -> OptionError:
    """What came through Arrow from a program, and does not hold together."""
    return OptionError(
        f"what came through Arrow cannot be read: {reason(error)}.",
        hint="Read the data again, with a program that checks it.",
    )


def reason(error: Exception) -> str:
    """What pyarrow says, in a line."""
    return str(error).partition("\n")[0].rstrip(".")


def as_bytes(array: Any) -> Any:
    r"""An array of text as one of bytes, whose offsets, views and keys were looked at.

    >>> import pyarrow
    >>> as_bytes(pyarrow.array([b"\xff", None]).view(pyarrow.string())).to_pylist()
    [b'\xff', None]

    Whether it is UTF-8 is left to the caller. Costs no copy. Raises an exception of pyarrow's.
    """
    import pyarrow

    array = _plain(array)
    kind = array.type
    if pyarrow.types.is_dictionary(kind):
        keys, values = array.indices, as_bytes(array.dictionary)
        array = pyarrow.DictionaryArray.from_arrays(keys, values, safe=True)
    for text, plain in (
        (pyarrow.string(), pyarrow.binary()),
        (pyarrow.large_string(), pyarrow.large_binary()),
        (pyarrow.string_view(), pyarrow.binary_view()),
    ):
        if kind == text:
            array = array.view(plain)
    array.validate(full=True)
    return array


def _rooms(data: object) -> set[str]:
    """The packages that its class and those above it are from; none that is not in use."""
    rooms = {kind.__module__.partition(".")[0] for kind in type(data).__mro__}
    return rooms if "pyarrow" in sys.modules else rooms - {"pyarrow", "pandas"}
