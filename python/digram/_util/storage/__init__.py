"""Read regular files, and write files atomically.

A save writes a new unnamed file, syncs it to disk, and renames it to the target, so that a crash or
a full disk leaves either the old file or the new one, and nothing else. `write_pair` does the same
for formats with two files in a folder, and `NewFile` for a file that is written in parts.

Exceptions: a crash in the microseconds of renaming, or at any time on file systems without unnamed
files, leaves a file (`.digram-*.tmp`), which the next save removes; the new file belongs to the
user who saved it; and hard links to the old file keep the old content.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import stat
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Self, TypeAlias

from digram._core import Blake3
from digram._util.storage._unnamed import LEFT_BEHIND, Unnamed, remove_left
from digram._util.system_errors import builtin_kind, no_such_file
from digram._util.validation import path_name
from digram.errors import LimitExceededError

__all__ = [
    "LARGEST",
    "LEFT_BEHIND",
    "NewFile",
    "advise_on_full_disk",
    "atomic_write",
    "map_file",
    "open_file",
    "read_file",
    "read_pair",
    "read_start",
    "write_pair",
]

LARGEST = 1 << 28
"""The maximum size of files that are read as a whole, except corpora and counts. A tokenizer of the
maximum of 2^21 tokens is smaller."""

StrPath: TypeAlias = str | os.PathLike[str]

_UNCHANGED = "the previous file is unchanged"
_NOTHING = "no file was written"
_UNCONFIRMED = "the new file is in place, but the disk has not confirmed it"
_HALF = "digram reads the new files; save again so that others do too"

_WRITE_BEHIND = 8 << 20  # bytes of a new file after which writing to disk is started

_FULL = {errno.ENOSPC, errno.EFBIG} | {getattr(errno, "EDQUOT", errno.ENOSPC)}
_MAKE_ROOM = (
    "Free disk space and call again; a run with checkpoint= resumes. Data that does not fit into "
    "memory is written to that folder, or without checkpoint= to the folder for temporary files, "
    "which the variable TMPDIR sets."
)

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO or pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@contextlib.contextmanager
def advise_on_full_disk(remedy: str = _MAKE_ROOM) -> Iterator[None]:
    """Add a remedy to errors about a full disk; the default is that for training."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            error.add_note(remedy)
        raise


def read_file(path: StrPath, limit: int | None = LARGEST) -> bytes:
    """The bytes of a regular file.

    >>> path = getfixture("tmp_path") / "a.json"
    >>> atomic_write(path, b"{}")
    >>> read_file(path)
    b'{}'

    Links are followed. Raises FileNotFoundError with a similar name or the folder that was looked
    in; OSError immediately for a folder, a device, a socket or a pipe, since reading could block or
    never end; `LimitExceededError` for a file of more than `limit` bytes,
    before reading it. Memory: the size of the file.
    """
    name = path_name(path)
    with _open(name) as file:
        return _whole(file, name, limit)


def read_start(path: StrPath, size: int) -> bytes:
    """The first bytes of a regular file, or all of it; see `read_file`.

    >>> path = getfixture("tmp_path") / "a.txt"
    >>> atomic_write(path, b"first and last")
    >>> read_start(path, 5)
    b'first'
    """
    with _open(path_name(path)) as file:
        return file.read(size)


def open_file(path: StrPath) -> BinaryIO:
    """Open a regular file for reading in parts; the caller closes it.

    >>> path = getfixture("tmp_path") / "a.bin"
    >>> atomic_write(path, b"first and last")
    >>> with open_file(path) as file:
    ...     file.seek(10), file.read(4)
    (10, b'last')

    Raises OSError as `read_file` does.
    """
    return _open(path_name(path))


def map_file(path: StrPath) -> memoryview:
    """Map a regular file into memory.

    >>> path = getfixture("tmp_path") / "a.bin"
    >>> atomic_write(path, b"many ids")
    >>> bytes(map_file(path)[:4])
    b'many'

    Raises OSError as `read_file` does. As with every memory map, the process ends if another
    process truncates the file; files written by digram are replaced, never truncated.
    """
    import mmap

    with _open(path_name(path)) as file:
        if os.fstat(file.fileno()).st_size == 0:  # an empty file cannot be mapped
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def atomic_write(path: StrPath, data: bytes | Iterable[bytes], limit: int | None = None) -> None:
    """Write `data` to the file `path` atomically.

    >>> path = getfixture("tmp_path") / "a.json"
    >>> atomic_write(path, b"old")
    >>> atomic_write(path, b"new")
    >>> path.read_bytes(), [entry.name for entry in path.parent.iterdir()]
    (b'new', ['a.json'])

    `data` may be an iterable of parts, which are not kept in memory. An existing file keeps its
    mode; a write-protected file raises PermissionError. If `path` is a symbolic link, the file that
    it points to is replaced. Raises OSError with errno and path, whose message ends with the state
    of the file; `LimitExceededError` for data of more than `limit` bytes, which could not be read
    again. Cost: two disk syncs.
    """
    name = path_name(path)
    _check_fits(data, name, limit)
    target = os.path.realpath(name)
    outcome = _NOTHING
    try:
        mode = _writable(target)
        outcome = _NOTHING if mode is None else _UNCHANGED
        if not os.path.lexists(os.path.dirname(target)):
            reason = "there is no folder to write it to; make it first"
            raise FileNotFoundError(errno.ENOENT, reason, name)
        with (
            _folder(os.path.dirname(target)) as folder,
            _temporary(target, data, mode) as temporary,
        ):
            temporary.rename(target)
            outcome = _UNCONFIRMED
            _sync_folder(folder)
    except OSError as error:
        raise _with_outcome(error, name, outcome) from None


def write_pair(folder: StrPath, first: tuple[str, bytes], second: tuple[str, bytes]) -> None:
    """Write two files, given as (name, data), to a folder: both or neither.

    >>> folder = getfixture("tmp_path") / "pair"
    >>> write_pair(folder, ("vocab.json", b"{}"), ("merges.txt", b""))
    >>> read_pair(folder, "vocab.json", "merges.txt")
    (b'{}', b'')

    No system call renames two files at once. So the second file is first written under a name with
    the digest of the first (`.merges.txt.<digest>.pending`); then the first is renamed, then the
    second. `read_pair` uses the pending file if it matches the first file, so that it reads either
    the old pair or the new one, even after a crash. Other programs may see the new first file with
    the old second one between the two renames.

    The folder is created if it is missing, but not its parent; other files in it are not changed.
    Raises OSError as `atomic_write` does.
    """
    name = path_name(folder, "folder")
    for part, data in (first, second):
        _check_fits(data, os.path.join(name, part), LARGEST)
    outcome = _NOTHING
    made = False
    try:
        made = _make_folder(name)
        one, two = (os.path.realpath(os.path.join(name, part)) for part, _ in (first, second))
        modes = _writable(one), _writable(two)
        outcome = _NOTHING if modes == (None, None) else "the previous files are unchanged"
        waiting = os.path.join(os.path.dirname(two), _pending(second[0], first[1]))
        with contextlib.ExitStack() as stack:
            homes = [stack.enter_context(_folder(os.path.dirname(file))) for file in (one, two)]
            new_one = stack.enter_context(_temporary(one, first[1], modes[0]))
            new_two = stack.enter_context(_temporary(two, second[1], modes[1]))
            new_two.rename(waiting)
            try:
                # Sync each rename before the next one, since a file system may reorder them.
                _sync_folder(homes[1])
                new_one.rename(one)
            except BaseException:
                _remove(waiting)
                raise
            outcome = _HALF
            _sync_folder(homes[0])
            try:
                os.replace(waiting, two)
            except FileNotFoundError:
                # A killed save had left a file with this name, and another save removed this file
                # in its place.
                with _temporary(two, second[1], modes[1]) as again:
                    again.rename(two)
            outcome = _UNCONFIRMED.replace("file is", "files are")
            _sync_folder(homes[1])
            _remove_pending(one, two, second[0])
    except BaseException as error:
        if made and outcome == _NOTHING:
            with contextlib.suppress(OSError):
                os.rmdir(name)
        if isinstance(error, OSError):
            raise _with_outcome(error, name, outcome) from None
        raise


def read_pair(folder: StrPath, first: str, second: str) -> tuple[bytes, bytes]:
    """Read two files of a folder that were saved together.

    A pair that `write_pair` is replacing, or did not finish, is read as the old pair or the new
    one. Pairs from other programs are read as they are; the format must check that they match.
    Raises OSError as `read_file` does, and `OSError(EAGAIN)` if the first file keeps changing.
    """
    folder = path_name(folder, "folder")
    path = os.path.join(folder, first)
    for _ in range(16):
        with _open(path) as file:
            one = _whole(file, path, LARGEST)
            two = _read_second(folder, one, second)
            # A save replaces the first file before the second. So if the first file is unchanged,
            # the second belongs to it. While the file is open, its inode number is not reused.
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return one, two
    raise OSError(errno.EAGAIN, "the file keeps changing while it is being read", path)


def _read_second(folder: StrPath, first: bytes, second: str) -> bytes:
    path = os.path.join(folder, second)
    with contextlib.suppress(FileNotFoundError):
        home = os.path.dirname(os.path.realpath(path))
        pending = os.path.join(home, _pending(second, first))
        with _opened(pending) as file:
            return _whole(file, pending, LARGEST)
    return read_file(path)


def _open(path: str) -> BinaryIO:
    try:
        return _opened(path)
    except FileNotFoundError:
        raise no_such_file(path) from None


def _opened(path: str) -> BinaryIO:
    _check_regular(os.stat(path), path)
    # Another process may replace the file by a pipe between the check and the opening; O_NONBLOCK
    # avoids blocking on it, and has no effect on regular files.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = open(os.open(path, flags), "rb")  # noqa: SIM115 - the caller closes it
    try:
        _check_regular(os.fstat(file.fileno()), path)
    except BaseException:
        file.close()
        raise
    return file


def _remove_pending(one: str, two: str, second: str) -> None:
    """Remove pending second files of killed saves.

    The one that matches the current first file is kept. Those of running saves are locked.
    """
    home = os.path.dirname(two)
    waiting = glob.glob(os.path.join(glob.escape(home), f".{glob.escape(second)}.*.pending"))
    with contextlib.suppress(OSError, LimitExceededError):
        for path in waiting:
            if os.path.basename(path) != _pending(second, read_file(one)):
                remove_left(path)


_BLOCK = 1 << 16


def _whole(file: BinaryIO, path: str, limit: int | None) -> bytes:
    """The content of a file, if it does not exceed the limit."""
    size = os.fstat(file.fileno()).st_size
    if limit is None:
        return file.read()
    parts: list[bytes] = []
    if size <= limit:
        # Files in /proc report size 0, and files may grow, so memory is reserved block by block.
        at_once, size = max(size + 1, _BLOCK), 0
        while size <= limit and (part := file.read(min(at_once, limit + 1 - size))):
            parts.append(part)
            size += len(part)
    if size > limit:
        raise LimitExceededError(
            f"the file has {size:,} bytes or more; the limit for such a file is {limit:,}.",
            path=path,
            value=size,
            hint="Is this the right file?",
        )
    return b"".join(parts)


def _check_fits(data: bytes | Iterable[bytes], path: str, limit: int | None) -> None:
    """Raise for data that is too large to be read again."""
    if limit is not None and isinstance(data, bytes) and len(data) > limit:
        raise LimitExceededError(
            f"the file would have {len(data):,} bytes; the limit for reading is {limit:,}.",
            path=path,
            value=len(data),
        )


def _pending(second: str, first: bytes) -> str:
    import hashlib

    return f".{second}.{hashlib.sha256(first).hexdigest()[:32]}.pending"


class NewFile:
    """A file that is written in parts, and gets its name when it is completely on disk.

    >>> path = getfixture("tmp_path") / "a.bin"
    >>> with NewFile(path, reserved=2) as file:
    ...     file.write(b"body")
    ...     file.write_start(b"4:")
    ...     file.finish()
    >>> path.read_bytes(), file.size
    (b'4:body', 6)
    >>> file.blake3[:16]
    '0ff6fbfa7db84f32'

    `reserved` bytes at the start are left for `write_start` at the end. Until `finish`, the data is
    in an unnamed file, which `close` removes. `blake3` and `size` are those of the whole file; the
    digest is computed during writing, or by reading the file again if a start is reserved. Raises
    OSError with errno and the path.
    """

    def __init__(self, path: StrPath, reserved: int = 0) -> None:
        self.path = path_name(path)
        self.size = reserved
        self._hash = Blake3()
        self._reserved = reserved
        self._outcome = "this file was not written"
        self._begun = 0  # bytes for which writing to disk has been started
        self._file: Unnamed | None = None
        with self._named():
            self._target = os.path.realpath(self.path)
            self._file = Unnamed(self._target, 0o666)
            os.lseek(self._open, reserved, os.SEEK_SET)

    @property
    def blake3(self) -> str:
        """BLAKE3 of the file, in hexadecimal, as `b3sum` prints it."""
        return self._hash.hexdigest()

    def write(self, data: bytes | memoryview) -> None:
        """Append to the file."""
        view = memoryview(data).cast("B") if len(data) else memoryview(b"")
        with self._named():
            self._write(view)
        self.size += len(view)
        self._set_out()
        if not self._reserved:
            self._hash.update(view)

    def write_start(self, data: bytes) -> None:
        """Write the reserved bytes at the start."""
        assert len(data) == self._reserved, "the start has the length that was reserved for it"
        with self._named():
            os.lseek(self._open, 0, os.SEEK_SET)
            self._write(data)
            os.lseek(self._open, 0, os.SEEK_SET)
            while block := os.read(self._open, 1 << 20):
                self._hash.update(block)

    def finish(self) -> None:
        """Sync the file to disk, and give it its name."""
        assert self._file is not None, "a file that is closed cannot be finished"
        with self._named():
            self._file.finish()
            with _folder(os.path.dirname(self._target)) as folder:
                self._file.rename(self.path)
                self._outcome = _UNCONFIRMED
                self._file.close()
                _sync_folder(folder)

    def close(self) -> None:
        """Remove the file if it has no name yet."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _set_out(self) -> None:
        """Let the system start writing to disk, so that `finish` has to wait less.

        Linux immediately starts to write pages that are marked as not needed. For 300 MB at
        100 MB/s `finish` waited 0.2 s without this, and 0.01 s with it.
        """
        if self.size - self._begun >= _WRITE_BEHIND and hasattr(os, "posix_fadvise"):
            with contextlib.suppress(OSError):
                length = self.size - self._begun
                os.posix_fadvise(self._open, self._begun, length, os.POSIX_FADV_DONTNEED)
            self._begun = self.size

    @property
    def _open(self) -> int:
        descriptor = None if self._file is None else self._file.descriptor
        assert descriptor is not None, "nothing is written to a file that is closed"
        return descriptor

    def _write(self, data: bytes | memoryview) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._open, rest) :]

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Make errors refer to the requested file instead of the temporary one."""
        try:
            yield
        except OSError as error:
            raise _with_outcome(error, self.path, self._outcome) from None


@contextlib.contextmanager
def _temporary(target: str, data: bytes | Iterable[bytes], mode: int | None) -> Iterator[Unnamed]:
    """A new file with `data`, synced to disk, to replace `target`; removed unless renamed."""
    # If the mode is set later, create it private; otherwise the umask decides.
    file = Unnamed(target, 0o666 if mode is None else 0o600)
    try:
        descriptor = file.descriptor
        assert descriptor is not None, "a new file is open"
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)
        for part in [data] if isinstance(data, bytes) else data:
            rest = memoryview(part)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        file.finish()
        yield file
    finally:
        file.close()


@contextlib.contextmanager
def _folder(path: str) -> Iterator[int | None]:
    """Open a folder for syncing, before any change; None if the system does not support it."""
    if os.name == "nt":
        yield None
        return
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _sync_folder(descriptor: int | None) -> None:
    if descriptor is None:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot sync a folder.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def _make_folder(path: str) -> bool:
    """Create a folder; returns whether it was missing."""
    if os.path.isdir(path):
        return False
    try:
        os.mkdir(path)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path) from None
    return True


def _writable(target: str) -> int | None:
    """The mode of the file that will be replaced, None if there is none."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    _check_regular(status, target)
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is write-protected", target)
    return stat.S_IMODE(status.st_mode) & 0o777


def _check_regular(status: os.stat_result, path: str) -> None:
    kind = stat.S_IFMT(status.st_mode)
    if kind != stat.S_IFREG:
        number = errno.EISDIR if kind == stat.S_IFDIR else errno.EINVAL
        raise OSError(number, f"expected a file, but this is {_KINDS.get(kind, 'none')}", path)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


class _SaveError(OSError):
    """An OSError whose message includes the state of the file."""

    outcome: str

    def __str__(self) -> str:
        return f"{super().__str__()} ({self.outcome})"

    def __reduce__(self) -> tuple[object, ...]:
        return _with_outcome, (OSError(self.errno, self.strerror), self.filename, self.outcome)


def _with_outcome(error: OSError, path: str, outcome: str) -> OSError:
    """The error with `path` and its outcome, still of the same built-in class."""
    result = builtin_kind(type(error), _SaveError)(error.errno, error.strerror or str(error), path)
    assert isinstance(result, _SaveError)
    result.outcome = outcome
    return result
