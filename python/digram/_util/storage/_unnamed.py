"""Files that have no name until all of them is on the disk, so that a kill leaves nothing behind.

Where the system can (Linux, and most of its file systems), a new file is made without a name, and
gone with its process. At the end it takes a name beside its target, and is renamed over that: for
some microseconds a kill would still leave it. That name follows from the target's, so the next save
finds it. A lock says whether somebody is at work: whoever gives a file a name holds it locked, and
the system lets go of the lock when the process ends. So only what was left behind is ever removed.

Elsewhere a file has a name from the start, one that nobody else chooses. There too it is locked,
and a save removes what it finds unlocked beside its target.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import os
import sys
import time

__all__ = ["LEFT_BEHIND", "Unnamed", "remove_left"]

LEFT_BEHIND = ".digram-*.tmp"
"""What a killed save may leave in the folder."""

_TRIES, _PAUSE = 100, 0.001  # seconds; a rename takes some microseconds
_NOT_HERE = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}
"""What systems say that know no files without names."""


class Unnamed:
    """A new file that is to take the place of `target`, on the way under other names of its folder.

    `descriptor` is open for reading and writing. `close` removes what has not been renamed.
    """

    def __init__(self, target: str, mode: int) -> None:
        folder, self._target = os.path.split(target)
        self._folder = folder or os.curdir
        self._name: str | None = None
        self._kept: int | None = None  # holds the lock when `descriptor` is closed
        self.descriptor: int | None = self._without_a_name(mode)
        if self.descriptor is None:
            self.descriptor = self._with_a_name(mode)

    def finish(self) -> None:
        """Bring all of it to the disk. Nothing can be written any more."""
        assert self.descriptor is not None, "a file is finished once"
        os.fsync(self.descriptor)
        if sys.platform != "win32":  # where an open file cannot be renamed
            self._kept = os.dup(self.descriptor)
        descriptor, self.descriptor = self.descriptor, None
        os.close(descriptor)

    def rename(self, path: str) -> None:
        """Give it a name in its folder, in place of the file that has it."""
        if self._name is None:
            self._name = self._linked()
        os.replace(self._name, path)
        self._name = None

    def close(self) -> None:
        """Let go of it; what has no name is gone."""
        name, self._name = self._name, None
        if name is not None:
            with contextlib.suppress(OSError):
                os.unlink(name)
        kept = self.descriptor, self._kept
        self.descriptor = self._kept = None
        for descriptor in kept:
            if descriptor is not None:
                with contextlib.suppress(OSError):
                    os.close(descriptor)

    def _without_a_name(self, mode: int) -> int | None:
        """A descriptor; None where the system knows no such files."""
        flag = getattr(os, "O_TMPFILE", 0)
        if not flag:
            return None
        try:
            descriptor = os.open(self._folder, flag | os.O_RDWR, mode)
        except OSError as error:
            if error.errno in _NOT_HERE:
                return None
            raise
        if not os.path.exists(f"/proc/self/fd/{descriptor}"):  # by which it gets its name
            os.close(descriptor)
            return None
        _lock(descriptor)
        return descriptor

    def _with_a_name(self, mode: int) -> int:
        for left in glob.iglob(os.path.join(glob.escape(self._folder), LEFT_BEHIND)):
            remove_left(left)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        while True:
            self._name = self._path(os.urandom(8))
            descriptor = os.open(self._name, flags, mode)
            if _lock(descriptor) and _is(descriptor, self._name):
                return descriptor
            os.close(descriptor)  # another save took it for one that was left behind

    def _linked(self) -> str:
        """A name for what had none: the same for each target, whatever is saved there."""
        assert self._kept is not None, "what has no name is kept open"
        name = self._path(hashlib.sha256(os.fsencode(self._target)).digest()[:8])
        for tries in range(_TRIES + 1):
            try:
                # With a folder's descriptor, or links would not be followed.
                os.link(
                    f"/proc/self/fd/{self._kept}", name, src_dir_fd=self._kept, follow_symlinks=True
                )
                break
            except FileExistsError:
                if tries == _TRIES - 1:  # whoever has it was stopped: another name, then
                    name = self._path(os.urandom(8))
                elif tries == _TRIES:
                    raise
                elif not remove_left(name):
                    time.sleep(_PAUSE)
        return name

    def _path(self, key: bytes) -> str:
        return os.path.join(self._folder, f".digram-{key.hex()}.tmp")


def remove_left(path: str) -> bool:
    """Remove a file that a killed process left behind; whether there is none any more.

    One that somebody works with is locked, and stays.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        if not _lock(descriptor, unless_unknown=True):
            return False
        if _is(descriptor, path):
            os.unlink(path)
        return True
    except FileNotFoundError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, unless_unknown: bool = False) -> bool:
    """Whether the file is locked for its descriptor alone.

    Where there are no locks it is as good as locked, `unless_unknown`: then nobody may remove it.
    """
    if sys.platform == "win32":
        return not unless_unknown
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return not unless_unknown
    return True


def _is(descriptor: int, path: str) -> bool:
    """Whether a path still names the file that is open."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False
