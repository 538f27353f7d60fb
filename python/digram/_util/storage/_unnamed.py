"""Files without a name until they are completely on disk, so that a crash leaves nothing behind.

If the system supports it (Linux, with most file systems), a new file is created without a name, and
disappears when its process ends. At the end it gets a temporary name beside its target, and is
renamed to the target. A crash in these microseconds leaves the file; its name follows from that of
the target, so the next save finds it. The file is locked while it is in use, and the system
releases the lock when the process ends. So only abandoned files are removed.

On other systems a file has a unique name from the start. It is also locked, and a save removes
unlocked files beside its target.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import sys
import time

__all__ = ["LEFT_BEHIND", "Unnamed", "remove_left"]

LEFT_BEHIND = ".digram-*.tmp"
"""The pattern of files that a killed save may leave in the folder."""

_TRIES, _PAUSE = 100, 0.001  # seconds; a rename takes some microseconds
_NOT_HERE = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}
"""The errors of systems without support for unnamed files."""


class Unnamed:
    """A new file that will replace `target`.

    `descriptor` is open for reading and writing. `close` removes what has not been renamed.
    """

    def __init__(self, target: str, mode: int) -> None:
        folder, self._target = os.path.split(target)
        self._folder = folder or os.curdir
        self._name: str | None = None
        self._kept: int | None = None  # keeps the lock when `descriptor` is closed
        self.descriptor: int | None = self._without_a_name(mode)
        if self.descriptor is None:
            self.descriptor = self._with_a_name(mode)

    def finish(self) -> None:
        """Sync the file to disk. Afterwards nothing can be written."""
        assert self.descriptor is not None, "a file is finished once"
        os.fsync(self.descriptor)
        if sys.platform != "win32":  # where an open file cannot be renamed
            self._kept = os.dup(self.descriptor)
        descriptor, self.descriptor = self.descriptor, None
        os.close(descriptor)

    def rename(self, path: str) -> None:
        """Rename it to a path in its folder, replacing an existing file."""
        if self._name is None:
            self._name = self._linked()
        os.replace(self._name, path)
        self._name = None

    def close(self) -> None:
        """Close the file, and remove it unless it was renamed."""
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
        """A descriptor of an unnamed file; None if the system does not support it."""
        flag = getattr(os, "O_TMPFILE", 0)
        if not flag:
            return None
        try:
            descriptor = os.open(self._folder, flag | os.O_RDWR, mode)
        except OSError as error:
            if error.errno in _NOT_HERE:
                return None
            raise
        if not os.path.exists(f"/proc/self/fd/{descriptor}"):  # needed for linking
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
            os.close(descriptor)  # another save removed it as abandoned

    def _linked(self) -> str:
        """Link the unnamed file under a name that depends only on the target."""
        assert self._kept is not None, "what has no name is kept open"
        import hashlib

        name = self._path(hashlib.sha256(os.fsencode(self._target)).digest()[:8])
        for tries in range(_TRIES + 1):
            try:
                # Links are followed only if a folder descriptor is given.
                os.link(
                    f"/proc/self/fd/{self._kept}", name, src_dir_fd=self._kept, follow_symlinks=True
                )
                break
            except FileExistsError:
                if tries == _TRIES - 1:  # its owner may be suspended: use another name
                    name = self._path(os.urandom(8))
                elif tries == _TRIES:
                    raise
                elif not remove_left(name):
                    time.sleep(_PAUSE)
        return name

    def _path(self, key: bytes) -> str:
        return os.path.join(self._folder, f".digram-{key.hex()}.tmp")


def remove_left(path: str) -> bool:
    """Remove an abandoned file; returns whether it is gone.

    A file in use is locked, and is not removed.
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
    """Lock a file; returns whether that succeeded.

    If locks are not supported, the result is True, or False if `unless_unknown` is set.
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
