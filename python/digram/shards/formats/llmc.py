"""llm.c's `.bin`: a header of 256 numbers of 32 bits, then the ids.

The header uses three numbers. The first two are 20240520 and 1 for ids of 16 bits, 20240801 and 7
for ids of 32 bits. The third is the number of ids; since it is signed, a file has fewer than 2³¹.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from digram.shards.formats._format import (
    About,
    Format,
    HeadedWriter,
    Ids,
    Open,
    Stored,
    corrupt,
    mapped,
)

__all__ = ["FORMAT"]

SIZE = 1024  # bytes of the header
KINDS = {(20240520, 1): "<u2", (20240801, 7): "<u4"}


def _begin(open: Open, about: About) -> HeadedWriter:
    return HeadedWriter(open(".bin", reserved=SIZE), about.dtype, _header)


def _header(dtype: np.dtype[Any], tokens: int) -> bytes:
    header = np.zeros(SIZE // 4, "<i4")
    kind = {kind: numbers for numbers, kind in KINDS.items()}[dtype.newbyteorder("<").str]
    header[:3] = (*kind, tokens)
    return header.tobytes()


def _head(path: Path) -> tuple[str, int] | None:
    """The type and number of ids in the header; None if the file is not from llm.c."""
    start = mapped(path, "u1")[:SIZE]
    if len(start) < SIZE:
        return None
    magic, version, tokens = np.frombuffer(start, "<i4", 3).tolist()
    kind = KINDS.get((magic, version))
    return None if kind is None else (kind, tokens)


def _recognizes(path: Path) -> bool:
    return path.suffix == ".bin" and path.is_file() and _head(path) is not None


def _read(path: Path) -> Stored:
    head = _head(path)
    if head is None:
        raise corrupt(path, "this is not a token file of llm.c.", 0)
    dtype, tokens = np.dtype(head[0]), head[1]
    held = len(mapped(path, dtype, SIZE))
    if held != tokens:
        raise corrupt(path, f"it has {held:,} ids, but its header says {tokens:,}.", 8)

    def load() -> tuple[Ids, None]:
        return mapped(path, dtype, SIZE), None

    return Stored(path, dtype, tokens, None, load)


FORMAT = Format(
    name="llmc",
    suffix=".bin",
    dtypes={"uint16": 1 << 16, "uint32": 1 << 32},
    begin=_begin,
    read=_read,
    recognizes=_recognizes,
    max_tokens=(1 << 31) - 1,
)
