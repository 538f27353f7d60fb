"""Check Arrow data of pyarrow in full before any of it is used.

pyarrow reads a file without checking it. Offsets, views and keys come from the file, and may point
anywhere in the memory of the process: a damaged file could yield text that it does not contain.
Only pyarrow knows the length of each buffer, and an exported array no longer has it. So the check
comes before the export.
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
    """Whether a value is from pyarrow, or from pandas, which may hold data of pyarrow."""
    return bool({"pyarrow", "pandas"} & _packages(data))


def invalid() -> tuple[type[Exception], ...]:
    """The exceptions that pyarrow raises for invalid data."""
    import pyarrow

    # The last is raised for the name of a column that is not UTF-8.
    return (pyarrow.ArrowException, OSError, MemoryError, UnicodeDecodeError)


def pieces(data: Any, names: tuple[str, ...]) -> tuple[Any, Iterator[Any]]:
    """An empty array with the type of pyarrow's data, and the rows of the data in pieces.

    If the data has columns, the pieces have only the columns with these names.

    >>> import pyarrow
    >>> rows = pyarrow.table({"id": [1, 2], "text": ["one", "two"]})
    >>> empty, found = pieces(rows, ("text",))
    >>> empty.num_rows, [piece.to_pydict() for piece in found]
    (0, [{'text': ['one', 'two']}])
    """
    import pyarrow

    if "pandas" in _packages(data):
        # The same as its own __arrow_c_stream__.
        frame = hasattr(data, "columns")
        data = pyarrow.Table.from_pandas(data) if frame else pyarrow.array(data)
    if isinstance(data, pyarrow.Array | pyarrow.ChunkedArray):
        chunks = data.chunks if isinstance(data, pyarrow.ChunkedArray) else [data]
        return pyarrow.array([], data.type), iter(chunks)
    empty = data.schema.empty_table()
    batches: Iterable[Any]
    if isinstance(data, pyarrow.Table):
        batches = _selected(data, names).to_batches()
    else:  # a reader, or a single batch
        batches = [data] if isinstance(data, pyarrow.RecordBatch) else data
        batches = (_selected(batch, names) for batch in batches)
    return empty, iter(batches)


def _selected(data: Any, names: tuple[str, ...]) -> Any:
    """The first column of each name, in the order of the data."""
    there = data.schema.names
    return data.select(sorted({there.index(name) for name in names if name in there}))


def leaf(rows: Any, column: tuple[str, ...]) -> Any:
    """The array at a path of names in a batch or an array; null where an outer value is null.

    >>> import pyarrow
    >>> leaf(pyarrow.record_batch({"meta": [{"text": "one"}, None]}), ("meta", "text")).to_pylist()
    ['one', None]

    The lengths of the outer arrays are checked; the array itself is not. Raises an exception of
    pyarrow (`invalid`).
    """
    import pyarrow
    import pyarrow.compute

    if isinstance(rows, pyarrow.RecordBatch):
        rows.validate()
        rows, column = rows.column(rows.schema.names.index(column[0])), column[1:]
    for name in column:
        rows = _plain(rows)
        if not pyarrow.types.is_struct(rows.type):
            break  # an array without a name, which is the column itself
        rows.validate()
        names = [field.name for field in rows.type]
        rows = pyarrow.compute.struct_field(rows, [names.index(name)])
    return _plain(rows)


def _plain(array: Any) -> Any:
    """The storage of an array of an extension type."""
    import pyarrow

    while isinstance(array, pyarrow.ExtensionArray):
        array = array.storage
    return array


def whole(data: Any, names: tuple[str, ...]) -> Any:
    """The same data with these columns only, checked; data of other libraries is returned as it is.

    A reader is checked as it is read. Raises `OptionError` for inconsistent columns.
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
    """The error for inconsistent data that a program passed through Arrow."""
    return OptionError(
        f"Arrow data cannot be read: {reason(error)}.",
        hint="Read the data again, with a program that checks it.",
    )


def reason(error: Exception) -> str:
    """The message of pyarrow, in one line."""
    return str(error).partition("\n")[0].rstrip(".")


def as_bytes(array: Any) -> Any:
    r"""Turn an array of text into one of bytes, with checked offsets, views and keys.

    >>> import pyarrow
    >>> as_bytes(pyarrow.array([b"\xff", None]).view(pyarrow.string())).to_pylist()
    [b'\xff', None]

    The caller checks for UTF-8. Nothing is copied. Raises an exception of pyarrow.
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


def _packages(data: object) -> set[str]:
    """The packages of the class of a value and of its base classes."""
    packages = {kind.__module__.partition(".")[0] for kind in type(data).__mro__}
    return packages if "pyarrow" in sys.modules else packages - {"pyarrow", "pandas"}
