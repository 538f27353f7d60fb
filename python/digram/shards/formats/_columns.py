"""The column of lists of ids in Parquet and Arrow files, in groups of a million ids."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from digram._util.storage import NewFile
from digram.errors import CorruptFileError, OptionError
from digram.shards.formats._format import About, Bounds, Documents, Ids, bounds_of, corrupt

__all__ = [
    "COLUMN",
    "DTYPES",
    "GroupWriter",
    "Grouped",
    "Sink",
    "column",
    "flat",
    "pyarrow",
    "read_by_pyarrow",
]

COLUMN, MASK = "input_ids", "assistant_masks"  # the names in `datasets` and transformers
_READ = (COLUMN, "ids", "tokens")
GROUP = 1 << 20  # ids; a group ends with the document that reaches it

DTYPES = {"uint32": 1 << 32, "uint16": 0, "int32": 0, "int64": 0}


def pyarrow() -> Any:
    """Import pyarrow with Parquet; raises `OptionError` if it is not installed."""
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
    """Provide pyarrow; its errors in the block become errors about a damaged file."""
    arrow = pyarrow()
    try:
        yield arrow
    except CorruptFileError:
        raise
    except (arrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # a system error, such as a missing file or too many open files
        raise corrupt(path, f"pyarrow cannot read it: {error}") from None


class Grouped:
    """Collects documents, and returns them in groups, as Arrow batches.

    Groups depend only on the documents of a shard, not on how they are added.
    """

    def __init__(self, about: About) -> None:
        self._arrow = pyarrow()
        kind = getattr(self._arrow, about.dtype.name)()
        item = self._arrow.field("item", kind, nullable=False)
        bit = self._arrow.field("item", self._arrow.uint8(), nullable=False)
        masked = [(MASK, self._arrow.list_(bit))] if about.has_mask else []
        self.schema = self._arrow.schema([(COLUMN, self._arrow.list_(item)), *masked])
        self._ids: list[Ids] = []
        self._masks: list[Ids] = []
        self._lengths: list[Any] = []
        self._held = 0

    def add(self, documents: Documents) -> Iterator[Any]:
        """Add documents; yields the full groups."""
        ids, ends = documents.ids, documents.ends
        at = done = 0
        while done < len(ends):
            stop = int(np.searchsorted(ends, at + GROUP - self._held)) + 1
            part = ends[done:stop]
            # Copied, since a view would keep the whole batch in memory.
            self._ids.append(ids[at : part[-1]].copy())
            if documents.mask is not None:
                self._masks.append(documents.mask[at : part[-1]].copy())
            self._lengths.append(np.diff(part, prepend=at))
            self._held += int(part[-1]) - at
            at, done = int(part[-1]), done + len(part)
            if self._held >= GROUP:
                yield from self.rest()

    def rest(self) -> Iterator[Any]:
        """Yield the rest as a group, if there is any."""
        if not self._lengths:
            return
        offsets = bounds_of(np.cumsum(np.concatenate(self._lengths))).astype(np.int32)
        values = [np.concatenate(one) for one in (self._ids, self._masks) if one]
        columns = [
            self._arrow.ListArray.from_arrays(offsets, one, type=field.type)
            for one, field in zip(values, self.schema, strict=True)
        ]
        yield self._arrow.RecordBatch.from_arrays(columns, schema=self.schema)
        self._ids, self._masks, self._lengths, self._held = [], [], [], 0


class GroupWriter:
    """Writes the groups of documents to a file that pyarrow writes."""

    def __init__(self, groups: Grouped, file: Any) -> None:
        self._groups = groups
        self._file = file

    def write(self, documents: Documents) -> None:
        """Append documents; writes the full groups."""
        for group in self._groups.add(documents):
            self._file.write_batch(group)

    def finish(self) -> None:
        """Write the rest, and what pyarrow writes at the end."""
        for group in self._groups.rest():
            self._file.write_batch(group)
        self._file.close()


class Sink:
    """Adapts a `NewFile` to the file interface that pyarrow expects."""

    closed = False

    def __init__(self, file: NewFile) -> None:
        self._file = file

    def write(self, data: Any) -> int:
        """Append to the file."""
        view = memoryview(data)
        self._file.write(view)
        return view.nbytes

    def tell(self) -> int:
        """The number of bytes written."""
        return self._file.size

    def flush(self) -> None:
        """Do nothing, since nothing is buffered."""

    def close(self) -> None:
        """Do nothing; the owner closes the file."""


def column(schema: Any, path: Path) -> tuple[str, np.dtype[Any]]:
    """The name and type of the column of ids."""
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
    """The joined ids of columns of lists; not copied if there is only one column."""
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
