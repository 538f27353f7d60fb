"""datatrove's `.ds`, with `.ds.index` and `.ds.metadata`, as datatrove and nanotron read them.

`.ds` has the joined ids, of 16 or 32 bits. `.ds.index` has the end of each document, in tokens, as
64 bits each. `.ds.metadata` has three lines: the tokenizer with the bytes of an id
(`name|2`), the number of tokens, and an abbreviation of that number.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from digram._util.storage import read_start
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


class _Writer:
    def __init__(self, open: Open, about: About) -> None:
        self._ids, self._index = open(".ds"), open(".ds.index")
        self._metadata = open(".ds.metadata")
        self._name = f"digram-{about.tokenizer[:12]}|{about.dtype.itemsize}"
        self._tokens = 0

    def write(self, documents: Documents) -> None:
        self._ids.write(documents.ids.data)
        self._index.write((documents.ends + self._tokens).astype("<u8").data)
        self._tokens += len(documents.ids)

    def finish(self) -> None:
        lines = (self._name, str(self._tokens), for_people(self._tokens))
        self._metadata.write("\n".join(lines).encode())


def for_people(tokens: int) -> str:
    """A number of tokens with three digits, as datatrove writes it.

    >>> for_people(7), for_people(12_345), for_people(1_500_000_000)
    ('7.00 T', '12.3 kT', '1.50 GT')
    """
    digits = math.floor(math.log10(tokens)) if tokens else 0
    prefix = " kMGTPE"[digits // 3].strip()
    return f"{tokens / 10 ** (digits // 3 * 3):.{2 - digits % 3}f} {prefix}T"


def _read(path: Path) -> Stored:
    index, metadata = path.with_name(f"{path.name}.index"), path.with_name(f"{path.name}.metadata")
    ends = mapped(index, "<u8") if index.exists() else None
    size = path.stat().st_size
    if metadata.exists():
        first = read_start(metadata, 4096).split(b"\n")[0]
        width = {b"2": 2, b"4": 4}.get(first.rpartition(b"|")[2])
        if width is None:
            raise corrupt(
                metadata, "its first line does not give the size of ids, 2 or 4 bytes.", 0
            )
    elif ends is not None and len(ends) and size in (2 * int(ends[-1]), 4 * int(ends[-1])):
        width = size // int(ends[-1])
    else:
        raise corrupt(metadata, "without this file the size of ids is not known.")
    dtype = np.dtype(f"<u{width}")
    tokens = len(mapped(path, dtype))
    bounds: Bounds | None = None
    if ends is not None:
        bounds = bounds_of(ends)
        check_bounds(path, bounds, tokens)

    def load() -> tuple[Ids, Bounds | None]:
        return mapped(path, dtype), bounds

    return Stored(path, dtype, tokens, None if bounds is None else len(bounds) - 1, load)


FORMAT = Format(
    name="datatrove",
    suffix=".ds",
    beside=(".ds.index", ".ds.metadata"),
    dtypes={"uint16": 1 << 16, "uint32": 1 << 32},
    begin=_Writer,
    read=_read,
    recognizes=lambda path: path.suffix == ".ds",
)
