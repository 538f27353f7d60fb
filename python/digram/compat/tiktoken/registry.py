"""The published encodings by name."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from digram._util.storage import read_file
from digram.compat.tiktoken.load import missing
from digram.errors import OptionError, show
from digram.formats import ENCODINGS, vocab_merges
from digram.formats import tiktoken as files
from digram.formats._published import file_of
from digram.names import find_encoding
from digram.names.own_folder import own_folder
from digram.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from digram.compat.tiktoken.core import Encoding

__all__ = ["get_encoding", "is_registered", "list_encoding_names"]

_lock = threading.RLock()
_loaded: dict[str, Encoding] = {}


def get_encoding(encoding_name: str) -> Encoding:
    """Return a published encoding, from a file in a folder of one's own or tiktoken's cache.

    It is read once in a process; docs/tiktoken.md says from where. Raises `OptionError`, a
    `ValueError`, for an unknown name, `FileNotFoundError` if the file is not there, and
    `CorruptFileError` for a file with another content.
    """
    if not isinstance(encoding_name, str) or encoding_name not in ENCODINGS:
        raise OptionError(
            f"there is no encoding named {show(encoding_name)}.",
            value=encoding_name,
            hint=f"Names: {', '.join(ENCODINGS)}.",
        )
    with _lock:
        if encoding_name not in _loaded:
            _loaded[encoding_name] = _load(encoding_name)
        return _loaded[encoding_name]


def list_encoding_names() -> list[str]:
    """Return the names that `get_encoding` knows."""
    return list(ENCODINGS)


def is_registered(encoding: Encoding) -> bool:
    """Whether `get_encoding` returns this very object for its name."""
    return _loaded.get(encoding.name) is encoding


_SECOND_TEXTS = {"o200k_harmony": {"<|reserved_200018|>": 200_018}}


def _load(name: str) -> Encoding:
    from digram.compat.tiktoken.core import Encoding

    found = find_encoding(name)
    if found is None:
        file = file_of(name)
        raise missing(file.address, f", or as {os.path.join(own_folder(), file.name)}")
    data = read_file(found.path)
    if found.merges is None:
        tok = Tokenizer._of(files.compact(data, found.path, encoding=name))
    else:
        merges = read_file(found.merges)
        both = vocab_merges.loads(data, merges, found.path, found.merges, encoding=name)
        tok = Tokenizer(both)
    return Encoding._of(name, tok, _SECOND_TEXTS.get(name))
