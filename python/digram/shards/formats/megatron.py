r"""Megatron's `.bin` with its `.idx`, as Megatron-LM, NeMo and GPT-NeoX read them.

`.bin` has the joined ids. `.idx`, little-endian: `MMIDIDX\0\0`, version 1 (u64), the code of the
type of ids (u8), the number of sequences S (u64), the number of documents plus one (u64), the
length of each sequence (i32), the start of each in `.bin` (i64, bytes), and the number of the first
sequence of each document, with S at the end (i64). digram writes a document as one sequence, so it
has fewer than 2³¹ tokens; the file may have more.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

from digram.shards.formats._format import (
    About,
    Bounds,
    Documents,
    Format,
    Ids,
    Open,
    Stored,
    check_bounds,
    check_lengths,
    corrupt,
    mapped,
    starts_with,
)

__all__ = ["FORMAT"]

MAGIC = b"MMIDIDX\0\0"
HEAD = struct.Struct("<9sQBQQ")
CODES = {1: "<u1", 2: "<i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}
LONGEST = (1 << 31) - 1  # tokens of a sequence, whose length is a signed 32-bit number
BLOCK = 1 << 16  # documents of the index to write at a time


class _Writer:
    def __init__(self, open: Open, about: About) -> None:
        self._dtype = about.dtype
        self._ids = open(".bin")
        self._index = open(".idx")
        self._lengths: list[Any] = []

    def write(self, documents: Documents) -> None:
        lengths = check_lengths(documents, LONGEST, "megatron")
        self._ids.write(documents.ids.data)
        self._lengths.append(lengths.astype("<i4"))

    def finish(self) -> None:
        lengths = np.concatenate([np.zeros(0, "<i4"), *self._lengths])
        code = {kind: code for code, kind in CODES.items()}[self._dtype.newbyteorder("<").str]
        self._index.write(HEAD.pack(MAGIC, 1, code, len(lengths), len(lengths) + 1))
        self._index.write(lengths.data)
        begun = 0
        for start in range(0, len(lengths), BLOCK):
            sizes = lengths[start : start + BLOCK].astype("<i8") * self._dtype.itemsize
            ends = begun + np.cumsum(sizes)
            self._index.write((ends - sizes).data)
            begun = int(ends[-1])
        for start in range(0, len(lengths) + 1, BLOCK):
            stop = min(start + BLOCK, len(lengths) + 1)
            self._index.write(np.arange(start, stop, dtype="<i8").data)


def _recognizes(path: Path) -> bool:
    return path.suffix == ".bin" and starts_with(path.with_suffix(".idx"), MAGIC)


def _read(path: Path) -> Stored:
    index = path.with_suffix(".idx")
    raw = mapped(index, "u1")
    if len(raw) < HEAD.size or raw[:9].tobytes() != MAGIC:
        raise corrupt(index, "this is not an index of Megatron.", 0)
    _, version, code, sequences, documents = HEAD.unpack(raw[: HEAD.size].tobytes())
    if version != 1 or code not in CODES:
        raise corrupt(index, f"version {version} with ids of type {code} is not known.", 9)
    size = HEAD.size + 12 * sequences + 8 * documents
    # Multimodal files have another byte for each sequence.
    if documents < 1 or len(raw) not in (size, size + sequences):
        raise corrupt(
            index,
            f"it has {len(raw):,} bytes where {sequences:,} sequences and {documents - 1:,} "
            f"documents take {size:,}.",
            len(raw),
        )
    dtype = np.dtype(CODES[code])
    tokens = len(mapped(path, dtype))
    places = HEAD.size + np.array([0, 4, 12]) * sequences
    lengths = np.frombuffer(raw, "<i4", sequences, int(places[0]))
    begins = np.frombuffer(raw, "<i8", sequences, int(places[1]))
    first = np.frombuffer(raw, "<i8", documents, int(places[2]))
    ends = np.zeros(sequences + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    if not np.array_equal(begins, ends[:-1] * dtype.itemsize):
        raise corrupt(index, "its sequences are not contiguous.")
    if bool((lengths < 0).any()) or bool((first < 0).any()) or bool((first > sequences).any()):
        raise corrupt(index, "it has negative lengths, or documents of no sequences.")
    bounds = ends[first]
    check_bounds(path, bounds, tokens)

    def load() -> tuple[Ids, Bounds]:
        return mapped(path, dtype), bounds

    return Stored(path, dtype, tokens, documents - 1, load)


FORMAT = Format(
    name="megatron",
    suffix=".bin",
    beside=(".idx",),
    # Megatron uses 16 bits for vocabularies under 65,500, and does not support uint32.
    dtypes={"uint16": 65_499, "int32": 1 << 31},
    begin=_Writer,
    read=_read,
    recognizes=_recognizes,
)
