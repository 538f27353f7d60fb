"""The published encodings by name."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from digram.compat.tiktoken.load import cached
from digram.errors import OptionError, show
from digram.formats import ENCODINGS, published_at, vocab_merges
from digram.formats import tiktoken as files
from digram.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from digram.compat.tiktoken.core import Encoding

__all__ = ["get_encoding", "is_registered", "list_encoding_names"]

_lock = threading.RLock()
_loaded: dict[str, Encoding] = {}


def get_encoding(encoding_name: str) -> Encoding:
    """Return a published encoding, from the file that tiktoken has downloaded.

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


_GPT2 = "https://openaipublic.blob.core.windows.net/gpt-2/encodings/main/"
"""Where tiktoken reads the vocabulary of gpt2, the same as that of r50k_base, from two files."""
_SECOND_TEXTS = {"o200k_harmony": {"<|reserved_200018|>": 200_018}}


def _load(name: str) -> Encoding:
    from digram.compat.tiktoken.core import Encoding

    try:
        data, path = cached(published_at(name))
    except FileNotFoundError as missing:
        if name != "gpt2":
            raise
        try:
            (vocab, path), (merges, second) = (
                cached(_GPT2 + file) for file in ("encoder.json", "vocab.bpe")
            )
        except FileNotFoundError:
            raise missing from None
        found = vocab_merges.loads(vocab, merges, path, second, encoding=name)
        return Encoding._of(name, Tokenizer(found))
    tok = Tokenizer._of(files.compact(data, path, encoding=name))
    return Encoding._of(name, tok, _SECOND_TEXTS.get(name))
