"""Folders that one process at a time may write to."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

__all__ = ["lock_folder"]


@contextlib.contextmanager
def lock_folder(folder: str | os.PathLike[str]) -> Iterator[bool]:
    """Lock a folder during the block; yields False if it is locked already.

    >>> folder = getfixture("tmp_path")
    >>> with lock_folder(folder) as first, lock_folder(folder) as second:
    ...     first, second
    (True, False)

    The lock ends with the process. The child of a fork does not keep it, since it may live longer.
    If the system or the file system does not support locks, True is always yielded.
    """
    if sys.platform == "win32":
        yield True
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    _locks.add(descriptor)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:
            pass  # the file system does not support locks
        yield True
    finally:
        if descriptor in _locks:  # not in the child of a fork
            _locks.remove(descriptor)
            os.close(descriptor)


_locks: set[int] = set()


def _without_locks() -> None:
    while _locks:
        os.close(_locks.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_without_locks)
