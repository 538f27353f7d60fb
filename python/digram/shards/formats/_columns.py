"""A column of lists of ids, as Parquet and Arrow files hold it, in groups of a million ids."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from digram._util.storage import NewFile
from digram.errors import CorruptFileError, OptionError
from digram.shards.formats._format import About, Bounds, Documents, Ids, bounds_of, corrupt

__all__ = ["COLUMN", "DTYPES", "Grouped", "Sink", "column", "flat", "pyarrow", "read_by_pyarrow"]

COLUMN = "input_ids"  # as `datasets` and the trainers of transformers call it
_READ = (COLUMN, "ids", "tokens")
GROUP = 1 << 20  # ids; a group ends with the document that reaches it

DTYPES = {"uint32": 1 << 32, "uint16": 0, "int32": 0, "int64": 0}


def pyarrow() -> Any:
    """pyarrow, with its Parquet; an `OptionError` with the remedy where it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise OptionError(
            "the formats parquet and arrow need pyarrow, which is not installed.",
            hint='Install it in the folder of digram\'s clone: pip install ".[arrow]".',
        ) from None
    return pyarrow


@contextlib.contextmanager
def read_by_pyarrow(path: Path) -> Iterator[Any]:
    """pyarrow, whose errors in this block are that of a damaged file."""
    arrow = pyarrow()
    try:
        yield arrow
    except CorruptFileError:
        raise
    except (arrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the system: the file is gone, or there are too many open ones
        raise corrupt(path, f"pyarrow cannot read it: {error}") from None


class Grouped:
    """Collects documents, and gives them back group by group, as batches of Arrow.

    A group is a matter of the shard alone, not of how documents come.
    """

    def __init__(self, about: About) -> None:
        self._arrow = pyarrow()
        kind = getattr(self._arrow, about.dtype.name)()
        item = self._arrow.field("item", kind, nullable=False)
        self.schema = self._arrow.schema([(COLUMN, self._arrow.list_(item))])
        self._ids: list[Ids] = []
        self._lengths: list[Any] = []
        self._held = 0

    def add(self, documents: Documents) -> Iterator[Any]:
        """Take some documents; gives the groups that they fill."""
        ids, ends = documents.ids, documents.ends
        at = done = 0
        while done < len(ends):
            stop = int(np.searchsorted(ends, at + GROUP - self._held)) + 1
            part = ends[done:stop]
            self._ids.append(ids[at : part[-1]].copy())  # a view would hold all of the batch
            self._lengths.append(np.diff(part, prepend=at))
            self._held += int(part[-1]) - at
            at, done = int(part[-1]), done + len(part)
            if self._held >= GROUP:
                yield from self.rest()

    def rest(self) -> Iterator[Any]:
        """What is held, if anything is."""
        if not self._lengths:
            return
        offsets = bounds_of(np.cumsum(np.concatenate(self._lengths))).astype(np.int32)
        values = np.concatenate(self._ids)
        kind = self.schema.field(COLUMN).type
        column = self._arrow.ListArray.from_arrays(offsets, values, type=kind)
        yield self._arrow.RecordBatch.from_arrays([column], schema=self.schema)
        self._ids, self._lengths, self._held = [], [], 0


class Sink:
    """A new file as pyarrow wants files to be."""

    closed = False

    def __init__(self, file: NewFile) -> None:
        self._file = file

    def write(self, data: Any) -> int:
        """Append to the file."""
        view = memoryview(data)
        self._file.write(view)
        return view.nbytes

    def tell(self) -> int:
        """How much was written."""
        return self._file.size

    def flush(self) -> None:
        """Nothing is held here."""

    def close(self) -> None:
        """Who made the file closes it."""


def column(schema: Any, path: Path) -> tuple[str, np.dtype[Any]]:
    """The column that holds ids, and the type of these."""
    arrow = pyarrow()
    for name in _READ:
        if name in schema.names:
            kind = schema.field(name).type
            lists = arrow.types.is_list(kind) or arrow.types.is_large_list(kind)
            if lists and arrow.types.is_integer(kind.value_type):
                return name, np.dtype(kind.value_type.to_pandas_dtype())
    raise corrupt(
        path, f"it has no column {' or '.join(_READ)} of lists of integers: {schema.names}."
    )


def flat(path: Path, columns: Iterable[Any], dtype: np.dtype[Any]) -> tuple[Ids, Bounds]:
    """The ids of columns of lists, one after the other; as they lie there, if it is one column."""
    ids: list[Ids] = []
    lengths: list[Any] = [np.zeros(0, np.int64)]
    for lists in columns:
        with read_by_pyarrow(path):
            lists.validate(full=True)
        if lists.null_count or lists.values.null_count:
            raise corrupt(path, "some of its lists or ids are null.")
        offsets = lists.offsets.to_numpy()
        ids.append(lists.values.to_numpy()[offsets[0] : offsets[-1]])
        lengths.append(np.diff(offsets))
    whole = ids[0] if len(ids) == 1 else np.concatenate([np.zeros(0, dtype), *ids])
    return whole, bounds_of(np.cumsum(np.concatenate(lengths)))
