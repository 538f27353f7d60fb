"""Find files by paths, folders and glob patterns."""

from __future__ import annotations

import errno
import fnmatch
import itertools
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from digram._util.system_errors import no_such_file, system_error

__all__ = ["each_once", "matches"]


def matches(pattern: str) -> list[Path]:
    """The regular files of a path, a folder or a glob pattern, sorted.

    A dangling link is an error and is not left out: its target may be on a disk that is not
    mounted.
    """
    mode = _mode(pattern)
    if mode is not None and stat.S_ISDIR(mode):
        found = list(_expand(pattern, ["**", "*"]))
        remedy = "there is no file in this folder"
    elif mode is not None:
        if not stat.S_ISREG(mode):
            raise system_error(
                errno.EINVAL,
                "not a regular file; pass its text, or pipe it into `digram train -`",
                pattern,
            )
        return [Path(pattern)]
    else:
        parts = Path(pattern).parts
        fixed = next((i for i, part in enumerate(parts) if _is_magic(part)), None)
        if fixed is None:
            raise no_such_file(pattern)
        start = os.path.join(*parts[:fixed]) if fixed else os.curdir
        folder = stat.S_ISDIR(_mode(start) or 0)
        found = list(_expand(start, _simplified(parts[fixed:]))) if folder else []
        remedy = "no file matches this pattern; `**` crosses folders, `*` does not"
    if not found:
        raise system_error(errno.ENOENT, remedy, pattern)
    return [Path(path) for path in sorted(found, key=lambda path: path.split(os.sep))]


def each_once(paths: Iterable[Path]) -> list[Path]:
    """The files, each under the first of its names."""
    found: dict[object, Path] = {}
    for path in paths:
        about = path.stat()
        # Some file systems provide no numbers that identify files.
        same = (about.st_dev, about.st_ino) if about.st_ino else path.resolve()
        found.setdefault(same, path)
    return list(found.values())


def _mode(path: str) -> int | None:
    """The mode of a path, following links; None if it does not exist."""
    try:
        return os.stat(path).st_mode
    except ValueError:  # a name with a NUL
        return None
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            raise
        if error.errno == errno.ENOENT and os.path.islink(path):
            raise no_such_file(path) from None
        return None


def _is_magic(part: str) -> bool:
    return any(character in part for character in "*?[")


def _simplified(parts: Iterable[str]) -> list[str]:
    """Normalize a pattern: one `**` for each run of them, and `a/**` means `a/**/*`."""
    runs = itertools.groupby(parts, key=lambda part: part == "**")
    kept = [part for deep, run in runs for part in (["**"] if deep else run)]
    return [*kept, "*"] if kept[-1] == "**" else kept


def _expand(folder: str, parts: list[str]) -> Iterator[str]:
    # Not `glob`: it follows links to folders below `**`, so a link to a parent returns each file up
    # to forty times, and two such links never end.
    head, rest = parts[0], parts[1:]
    if head == "**":
        yield from _expand(folder, rest)
        for entry in _entries(folder):
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                yield from _expand(entry.path, parts)
        return
    for path in _children(folder, head):
        mode = _mode(path) or 0
        if rest and stat.S_ISDIR(mode):
            yield from _expand(path, rest)
        elif not rest and stat.S_ISREG(mode):
            yield path


def _children(folder: str, name: str) -> Iterator[str]:
    """The entries of a folder with a name, or that match a pattern."""
    if not _is_magic(name):
        yield os.path.join(folder, name)
        return
    wanted = re.compile(fnmatch.translate(name))
    for entry in _entries(folder):
        if entry.name.startswith(".") and not name.startswith("."):
            continue
        if wanted.match(entry.name):
            yield entry.path


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)
