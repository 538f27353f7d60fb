"""The ids of a document that is longer than a batch, until all of them are there."""

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

HELD = 16 << 20  # bytes of ids that are held in memory; more go to a file without a name


class Long:
    """Ids that come in parts, and go on where the part before ends.

    >>> held = Long(getfixture("tmp_path"), np.dtype("<u2"))
    >>> held.add(np.array([1, 2], "<u2"))
    >>> held.add(np.array([3], "<u2"))
    >>> held.ids().tolist()
    [1, 2, 3]
    >>> held.close()

    A document has to be there as a whole before it is known whether the shard has room for it.
    """

    def __init__(self, folder: Path, dtype: np.dtype[Any]) -> None:
        self._folder, self._dtype = folder, dtype
        self._parts: list[NDArray[Any]] = []
        self._held = 0
        self._stack = contextlib.ExitStack()
        self._file: Any = None

    def add(self, ids: NDArray[Any]) -> None:
        """The next part."""
        self._parts.append(ids.copy())  # a view would hold all of the batch
        self._held += ids.nbytes
        if self._held >= HELD:
            if self._file is None:
                file = partial(tempfile.TemporaryFile, dir=self._folder)
                self._file = self._stack.enter_context(file(prefix=".digram-", suffix=".tmp"))
            self._write()

    def ids(self) -> NDArray[Any]:
        """All of them, in memory or mapped from the file."""
        if self._file is None:
            return np.concatenate([np.zeros(0, self._dtype), *self._parts])
        self._write()
        self._file.flush()
        data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.frombuffer(data, self._dtype)

    def close(self) -> None:
        """Let go of the file."""
        self._stack.close()

    def _write(self) -> None:
        for part in self._parts:
            self._file.write(part.data)
        self._parts, self._held = [], 0
