"""dolma's `.npy`, which has the joined ids without a header, and its `.csv.gz`.

Each row of the latter is a document: its start and end (in tokens), its name, its source file, and
its number there, from 1. OLMo's trainers read only the ids.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from digram._util.storage import NewFile
from digram.shards.formats import npy
from digram.shards.formats._format import (
    About,
    Bounds,
    Documents,
    Format,
    Ids,
    Open,
    Stored,
    bounds_of,
    check_bounds,
    corrupt,
    mapped,
)

__all__ = ["FORMAT"]

BLOCK = 1 << 16  # bytes


class _Writer:
    def __init__(self, open: Open, about: About) -> None:
        self._ids = open(".npy")
        self._rows = _Gzip(open(".csv.gz"))
        self._tokens, self._document = 0, about.first

    def write(self, documents: Documents) -> None:
        self._ids.write(documents.ids.data)
        text = io.StringIO()
        rows = csv.writer(text)
        ends = iter(documents.ends.tolist())
        start = self._tokens
        for source, first, number in documents.runs:
            for place, end in zip(range(first + 1, first + number + 1), ends, strict=False):
                rows.writerow((start, self._tokens + end, self._document, source, place))
                start = self._tokens + end
                self._document += 1
        self._tokens = start
        self._rows.write(text.getvalue().encode("utf-8", "surrogateescape"))

    def finish(self) -> None:
        self._rows.finish()


class _Gzip:
    """A file compressed in blocks of fixed size, so that its bytes depend only on its content."""

    def __init__(self, file: NewFile) -> None:
        self._file = file
        self._held = bytearray()
        self._deflate = zlib.compressobj(wbits=31)  # gzip, without a name and a time

    def write(self, data: bytes) -> None:
        self._held += data
        while len(self._held) >= BLOCK:
            self._file.write(self._deflate.compress(self._held[:BLOCK]))
            del self._held[:BLOCK]

    def finish(self) -> None:
        self._file.write(self._deflate.compress(self._held) + self._deflate.flush())


def _rows(path: Path) -> Path:
    return path.with_suffix(".csv.gz")


def _recognizes(path: Path) -> bool:
    return path.suffix == ".npy" and _rows(path).is_file() and not npy.FORMAT.recognizes(path)


def _ends(path: Path) -> Iterator[int]:
    at = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="") as file:
            for row in csv.reader(file):
                start, end = map(int, row[:2])
                if start != at:
                    raise corrupt(
                        path, f"a document starts at {start}, but the previous one ends at {at}."
                    )
                if not start <= end < 1 << 63:
                    raise corrupt(path, f"a document starts at {start} and ends at {end}.")
                yield (at := end)
    except (EOFError, zlib.error, gzip.BadGzipFile, csv.Error) as error:
        raise corrupt(path, f"it cannot be read: {error}") from None
    except ValueError as error:
        if hasattr(error, "hint"):
            raise
        raise corrupt(path, "a row does not begin with two numbers.") from None


def _read(path: Path) -> Stored:
    rows = _rows(path)
    bounds = bounds_of(np.fromiter(_ends(rows), np.int64))
    tokens, size = int(bounds[-1]), path.stat().st_size
    width = size // tokens if tokens else 2
    if size != width * tokens or width not in (2, 4, 8):
        raise corrupt(path, f"its {size:,} bytes are not the {tokens:,} ids of {rows.name}.", size)
    dtype = np.dtype(f"<u{width}")
    check_bounds(path, bounds, tokens)

    def load() -> tuple[Ids, Bounds]:
        return mapped(path, dtype), bounds

    return Stored(path, dtype, tokens, len(bounds) - 1, load)


FORMAT = Format(
    name="dolma",
    suffix=".npy",
    beside=(".csv.gz",),
    dtypes={"uint16": 1 << 16, "uint32": 1 << 32},
    begin=_Writer,
    read=_read,
    recognizes=_recognizes,
)
