"""NumPy's own `.npy`, version 1.0: one array of ids, which `numpy.load` reads or maps."""

from __future__ import annotations

import tokenize
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
    starts_with,
)

__all__ = ["FORMAT", "MAGIC"]

MAGIC = b"\x93NUMPY"
SIZE = 128  # bytes of the header; the number of ids, of at most 20 digits, always fits


# The errors of NumPy's parser of headers, which uses that of Python literals.
_NOT_READ = (ValueError, KeyError, TypeError, SyntaxError, RecursionError, tokenize.TokenError)


def _begin(open: Open, about: About) -> HeadedWriter:
    return HeadedWriter(open(".npy", reserved=SIZE), about.dtype, _header)


def _header(dtype: np.dtype[Any], tokens: int) -> bytes:
    kind, shape = dtype.newbyteorder("<").str, (tokens,)
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    start = MAGIC + b"\x01\x00" + (SIZE - 10).to_bytes(2, "little")
    return start + header.ljust(SIZE - 11).encode() + b"\n"


def _recognizes(path: Path) -> bool:
    return path.suffix == ".npy" and starts_with(path, MAGIC)


def _read(path: Path) -> Stored:
    with path.open("rb") as file:
        try:
            version = np.lib.format.read_magic(file)
            read = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            shape, _, dtype = read(file)
        except _NOT_READ as error:
            raise corrupt(path, f"NumPy cannot read it: {error}", 0) from None
        start = file.tell()
    if len(shape) != 1 or dtype.kind not in "iu":
        raise corrupt(path, f"it has an array of {dtype} and shape {shape}, not a row of ids.")
    held = len(mapped(path, dtype, start))
    if held != shape[0]:
        raise corrupt(path, f"it has {held:,} ids, but its header says {shape[0]:,}.", 0)

    def load() -> tuple[Ids, None]:
        return mapped(path, dtype, start), None

    return Stored(path, dtype, held, None, load)


FORMAT = Format(
    name="npy",
    suffix=".npy",
    dtypes={"uint16": 1 << 16, "uint32": 1 << 32, "int32": 0, "int64": 0},
    begin=_begin,
    read=_read,
    recognizes=_recognizes,
)
