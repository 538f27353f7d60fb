"""Saves whose calls of the system fail one after the other, and a pair of files to save."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from digram._util.storage import write_pair

CALLS = ("open", "fchmod", "write", "fsync", "dup", "close", "link", "replace")

FAULTS = (errno.ENOSPC, errno.EIO, errno.EINTR, errno.EACCES, errno.EDQUOT, errno.EROFS)


class Killed(BaseException):
    """Stands for SIGKILL: nothing runs after it."""


class Faults:
    """Counts the system calls of a save, fails or "kills" at the n-th, and keeps the order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log: list[str] = []
        self.fail_at: int | None = None
        self.error: BaseException = Killed()
        self.dead = False
        for name in (*CALLS, "mkdir", "unlink", "rmdir"):
            monkeypatch.setattr(os, name, self.wrap(name, getattr(os, name)))

    def wrap(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The call, counted; after a "kill" no call has any effect."""

        def counted(*args: Any, **kwargs: Any) -> Any:
            if self.dead:
                return None
            if self.fail_at == len(self.log):
                self.fail_at = None
                self.dead = isinstance(self.error, Killed)
                if name == "close":
                    call(*args)  # what is closed with an error is closed all the same
                raise self.error
            self.log.append(name)
            return call(*args, **kwargs)

        return counted


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


PAIR = ("vocab.json", "merges.txt")

OLD, NEW = (b"old vocabulary", b"old merges"), (b"new vocabulary", b"new merges")

SAME_FIRST = (OLD[0], b"other merges")


def save_pair(folder: Path, pair: tuple[bytes, bytes]) -> None:
    write_pair(folder, (PAIR[0], pair[0]), (PAIR[1], pair[1]))
