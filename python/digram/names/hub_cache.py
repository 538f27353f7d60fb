"""The files that the library huggingface_hub keeps on this machine.

`models--<org>--<name>/refs/main` contains a commit, and `snapshots/<commit>/` the files of that
commit, which are links to files that are named by their digests.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
from itertools import chain, islice

from digram._util.storage import read_file
from digram.errors import CorruptFileError
from digram.formats._folder import PIECES
from digram.formats._registry import FORMATS, both_files

__all__ = ["TOKENIZER_FILES", "cache_folder", "check_digests", "snapshot"]

TOKENIZER_FILES = (
    *(one.in_folder for one in FORMATS.values() if one.in_folder),
    *(name for one in FORMATS.values() for name in one.beside),
    *(name for _, pair in both_files() for name in pair),
    *(*PIECES, "added_tokens.json", "config.json"),
)
"""The files of a repository that digram reads, as names and patterns."""

_MOST_FILES = 200  # more are refused when they are read
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def cache_folder() -> str:
    """The folder of the cache, as huggingface_hub determines it."""
    get = os.environ.get
    home = get("HF_HOME", os.path.join(get("XDG_CACHE_HOME", "~/.cache"), "huggingface"))
    default = get("HUGGINGFACE_HUB_CACHE", os.path.join(home, "hub"))
    return os.path.expandvars(os.path.expanduser(get("HF_HUB_CACHE", default)))


def snapshot(repository: str) -> str | None:
    """The folder with the files of the main revision of a repository; None if there is none."""
    folder = os.path.join(cache_folder(), "--".join(["models", *repository.split("/")]))
    main = os.path.join(folder, "refs", "main")
    if not os.path.exists(main):
        return None
    commit = read_file(main, 1 << 10).decode(errors="replace").strip()
    if not _COMMIT.fullmatch(commit):
        raise CorruptFileError(
            "this is not the number of a commit.",
            path=main,
            value=commit,
            hint="Remove the file, and download the repository again.",
        )
    found = os.path.join(folder, "snapshots", commit)
    return found if os.path.isdir(found) else None


def check_digests(folder: str) -> None:
    """Raises `CorruptFileError` for a file of a snapshot that does not have the digest of its name.

    Only files that digram reads are checked. Where links are not supported, and for repositories
    that were copied, names are no digests, and nothing is checked.
    """
    patterns = [os.path.join(glob.escape(folder), name) for name in TOKENIZER_FILES]
    found = chain.from_iterable(map(glob.iglob, patterns))
    for path in islice(found, _MOST_FILES):
        digest = os.path.basename(os.path.realpath(path))
        if not os.path.isfile(path) or not _DIGEST.fullmatch(digest):
            continue
        if digest not in _digests(read_file(path), len(digest)):
            raise CorruptFileError(
                f"the content does not have the digest {digest}, by which the cache names it.",
                path=path,
                value=digest,
                hint="Remove the file, and download the repository again.",
            )


def _digests(data: bytes, length: int) -> set[str]:
    """The digests of a file: that of large files, or that of git and the one mirrors may use."""
    if length == 64:
        return {hashlib.sha256(data).hexdigest()}
    of_git = hashlib.sha1(b"blob %d\0" % len(data) + data)
    return {of_git.hexdigest(), hashlib.sha1(data).hexdigest()}
