"""nanoGPT's `.bin`: joined ids of 16 bits, without a header."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from digram.shards.formats._format import About, Documents, Format, Ids, Open, Stored, mapped

__all__ = ["FORMAT"]


class _Writer:
    def __init__(self, open: Open, _: About) -> None:
        self._ids = open(".bin")

    def write(self, documents: Documents) -> None:
        self._ids.write(documents.ids.data)

    def finish(self) -> None:
        pass


def _read(path: Path) -> Stored:
    dtype = np.dtype("<u2")

    def load() -> tuple[Ids, None]:
        return mapped(path, dtype), None

    return Stored(path, dtype, len(mapped(path, dtype)), None, load)


FORMAT = Format(
    name="nanogpt",
    suffix=".bin",
    dtypes={"uint16": 1 << 16},
    begin=_Writer,
    read=_read,
    recognizes=lambda _: False,  # any file could be one
)
