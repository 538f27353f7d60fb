"""NumPy's own `.npy`, version 1.0: one array of ids, which `numpy.load` reads or maps."""

from __future__ import annotations

import tokenize
from pathlib import Path

import numpy as np

from digram.shards.formats._format import (
    About,
    Documents,
    Format,
    Ids,
    Open,
    Stored,
    corrupt,
    mapped,
)

__all__ = ["FORMAT", "MAGIC"]

MAGIC = b"\x93NUMPY"
SIZE = 128  # bytes of the header; the number of ids, of at most 20 digits, always fits


# The errors of NumPy's parser of headers, which uses that of Python literals.
_NOT_READ = (ValueError, KeyError, TypeError, SyntaxError, RecursionError, tokenize.TokenError)


class _Writer:
    def __init__(self, open: Open, about: About) -> None:
        self._file = open(".npy", reserved=SIZE)
        self._dtype = about.dtype
        self._tokens = 0

    def write(self, documents: Documents) -> None:
        self._file.write(documents.ids.data)
        self._tokens += len(documents.ids)

    def finish(self) -> None:
        kind, shape = self._dtype.newbyteorder("<").str, (self._tokens,)
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
        start = MAGIC + b"\x01\x00" + (SIZE - 10).to_bytes(2, "little")
        self._file.write_start(start + header.ljust(SIZE - 11).encode() + b"\n")


def _recognizes(path: Path) -> bool:
    if path.suffix != ".npy" or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


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
    begin=_Writer,
    read=_read,
    recognizes=_recognizes,
)
