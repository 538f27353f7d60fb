"""Names of files: paths, folders and glob patterns."""

from __future__ import annotations

import errno
import fnmatch
import itertools
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["matches"]


def matches(pattern: str) -> list[Path]:
    """The regular files that a path, a folder or a glob pattern names, sorted."""
    if os.path.isdir(pattern):
        found = list(_expand(pattern, ["**", "*"]))
        remedy = "there is no file in this folder"
    elif os.path.exists(pattern):
        if not os.path.isfile(pattern):
            raise OSError(
                errno.EINVAL,
                "not a regular file; pass its text, or pipe it into `digram train -`",
                pattern,
            )
        return [Path(pattern)]
    else:
        parts = Path(pattern).parts
        fixed = next((i for i, part in enumerate(parts) if _is_magic(part)), None)
        if fixed is None:
            raise FileNotFoundError(errno.ENOENT, "there is no such file or folder", pattern)
        start = os.path.join(*parts[:fixed]) if fixed else os.curdir
        found = list(_expand(start, _simplified(parts[fixed:]))) if os.path.isdir(start) else []
        remedy = "no file matches this pattern; `**` crosses folders, `*` does not"
    if not found:
        raise FileNotFoundError(errno.ENOENT, remedy, pattern)
    return [Path(path) for path in sorted(found, key=lambda path: path.split(os.sep))]


def _is_magic(part: str) -> bool:
    return any(character in part for character in "*?[")


def _simplified(parts: Iterable[str]) -> list[str]:
    """One `**` for each run of them, and a name after the last: `a/**` means `a/**/*`."""
    runs = itertools.groupby(parts, key=lambda part: part == "**")
    kept = [part for deep, run in runs for part in (["**"] if deep else run)]
    return [*kept, "*"] if kept[-1] == "**" else kept


def _expand(folder: str, parts: list[str]) -> Iterator[str]:
    # Not `glob`: it follows links to folders below `**`, so a link to a parent gives each file
    # up to forty times, and two such links never end.
    head, rest = parts[0], parts[1:]
    if head == "**":
        yield from _expand(folder, rest)
        for entry in _entries(folder):
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                yield from _expand(entry.path, parts)
    elif not _is_magic(head):
        path = os.path.join(folder, head)
        if rest and os.path.isdir(path):
            yield from _expand(path, rest)
        elif not rest and os.path.isfile(path):
            yield path
    else:
        wanted = re.compile(fnmatch.translate(head))
        for entry in _entries(folder):
            if entry.name.startswith(".") and not head.startswith("."):
                continue
            if wanted.match(entry.name):
                if rest and entry.is_dir():
                    yield from _expand(entry.path, rest)
                elif not rest and entry.is_file():
                    yield entry.path


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)
