"""A folder of one's own tokenizers, and of the files of published encodings."""

from __future__ import annotations

import os

from digram.errors import OptionError
from digram.names.spelling import SUFFIXES

__all__ = ["VARIABLE", "in_own_folder", "own_folder"]

VARIABLE = "DIGRAM_TOKENIZERS"


def own_folder() -> str:
    """The folder in the environment variable DIGRAM_TOKENIZERS, or one in the user's cache."""
    named = os.environ.get(VARIABLE)
    if named:
        return os.path.expanduser(named)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    return os.path.join(os.path.expanduser(cache), "digram", "tokenizers")


def in_own_folder(name: str) -> str | None:
    """The path of the file or folder with this name, with or without a suffix; None for none.

    Raises `OptionError` if there are two.
    """
    base = os.path.join(own_folder(), *name.split("/"))
    found = [path for path in (base, *(base + suffix for suffix in SUFFIXES)) if _exists(path)]
    if len(found) > 1:
        raise OptionError(
            f"there are two tokenizers with this name, {found[0]!r} and {found[1]!r}.",
            value=name,
            hint="Pass the path of the one that you mean.",
        )
    return found[0] if found else None


def _exists(path: str) -> bool:
    # A folder such as Qwen/, which only contains named ones, is no tokenizer itself.
    if os.path.isdir(path):
        with os.scandir(path) as entries:
            return any(entry.is_file() for entry in entries)
    return os.path.lexists(path)
