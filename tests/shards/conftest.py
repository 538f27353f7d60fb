"""A folder in memory for each test, where there is such: bringing files to a disk takes long."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def memory() -> Iterator[Path]:
    """One for all tests of a file."""
    yield from _in_memory()


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """In place of pytest's, which lies on a disk."""
    yield from _in_memory()


def _in_memory() -> Iterator[Path]:
    where = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=where) as name:
        yield Path(name)
