"""The ids of a document that is longer than a batch, until it is complete."""

from __future__ import annotations

import contextlib
import mmap
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Long"]

HELD = 16 << 20  # bytes of ids kept in memory; more are written to a temporary file


class Long:
    """Collects the ids of a document that is encoded in parts.

    >>> held = Long(getfixture("tmp_path"), np.dtype("<u2"))
    >>> held.add(np.array([1, 2], "<u2"))
    >>> held.add(np.array([3], "<u2"))
    >>> held.ids().tolist()
    [1, 2, 3]
    >>> held.close()

    A document must be complete before it is known whether it fits into the shard.
    """

    def __init__(self, folder: Path, dtype: np.dtype[Any]) -> None:
        self._folder, self._dtype = folder, dtype
        self._parts: list[NDArray[Any]] = []
        self._held = 0
        self._stack = contextlib.ExitStack()
        self._file: Any = None

    def add(self, ids: NDArray[Any]) -> None:
        """Add the next part."""
        self._parts.append(ids.copy())  # a view would keep the whole batch in memory
        self._held += ids.nbytes
        if self._held >= HELD:
            if self._file is None:
                file = partial(tempfile.TemporaryFile, dir=self._folder)
                self._file = self._stack.enter_context(file(prefix=".digram-", suffix=".tmp"))
            self._write()

    def ids(self) -> NDArray[Any]:
        """All ids, in memory or mapped from the file."""
        if self._file is None:
            return np.concatenate([np.zeros(0, self._dtype), *self._parts])
        self._write()
        self._file.flush()
        data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.frombuffer(data, self._dtype)

    def close(self) -> None:
        """Close the file."""
        self._stack.close()

    def _write(self) -> None:
        for part in self._parts:
            self._file.write(part.data)
        self._parts, self._held = [], 0
