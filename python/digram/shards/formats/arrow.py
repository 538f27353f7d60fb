"""Arrow's file format: one row per document, with its ids in the column `input_ids`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from digram._util.storage import map_file
from digram.shards.formats import _columns
from digram.shards.formats._format import About, Bounds, Format, Ids, Open, Stored, starts_with

__all__ = ["FORMAT"]

MAGIC = b"ARROW1"


def _begin(open: Open, about: About) -> _columns.GroupWriter:
    groups = _columns.Grouped(about)
    file = _columns.pyarrow().ipc.new_file(_columns.Sink(open(".arrow")), groups.schema)
    return _columns.GroupWriter(groups, file)


def _recognizes(path: Path) -> bool:
    return path.suffix == ".arrow" and starts_with(path, MAGIC)


def _lists(path: Path) -> tuple[np.dtype[Any], list[Any]]:
    """The type of ids, and the memory-mapped lists of each group."""
    with _columns.read_by_pyarrow(path) as arrow:
        file = arrow.ipc.open_file(arrow.py_buffer(map_file(path)))
        name, dtype = _columns.column(file.schema, path)
        batches = [file.get_batch(number) for number in range(file.num_record_batches)]
        return dtype, [batch.column(name) for batch in batches]


def _read(path: Path) -> Stored:
    dtype, lists = _lists(path)

    def load() -> tuple[Ids, Bounds]:
        return _columns.flat(path, _lists(path)[1], dtype)

    return Stored(path, dtype, None, sum(map(len, lists)), load)


FORMAT = Format(
    name="arrow",
    suffix=".arrow",
    dtypes=_columns.DTYPES,
    begin=_begin,
    read=_read,
    recognizes=_recognizes,
    max_tokens=(1 << 31) - 1,
    maps=False,  # groups are joined in memory
    needs=_columns.pyarrow,
    has_mask=True,
)
