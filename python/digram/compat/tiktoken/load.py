"""The files of encodings in the folder where tiktoken keeps those that it has downloaded."""

from __future__ import annotations

import errno
import hashlib

from digram import formats
from digram._util.storage import atomic_write, read_file
from digram._util.system_errors import system_error
from digram._util.validation import path_name
from digram.compat.tiktoken.checks import typed
from digram.errors import CorruptFileError
from digram.names import tiktoken_cache

__all__ = ["dump_tiktoken_bpe", "load_tiktoken_bpe", "missing"]


def missing(address: str, other: str = "") -> OSError:
    """The error for a file that tiktoken has not downloaded from this address, with the remedy.

    `other` names another place for it.
    """
    path = tiktoken_cache.place_of(address)
    kept = f"as {path}" if path else "and name its folder in TIKTOKEN_CACHE_DIR"
    reason = f"{address} is not there, and digram downloads nothing here. Save it {kept}{other}"
    return system_error(errno.ENOENT, reason, path)


def load_tiktoken_bpe(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Read the tokens and ranks of a .tiktoken file: a path, or an address.

    The file of an address is the one that tiktoken has downloaded from there.
    Raises `CorruptFileError` if its SHA-256 is not `expected_hash`, the errors of `digram.load` for
    its content, and `OSError`.
    """
    if isinstance(tiktoken_bpe_file, str) and "://" in tiktoken_bpe_file:
        cached = tiktoken_cache.cached(tiktoken_bpe_file)
        if cached is None:
            raise missing(tiktoken_bpe_file)
        path = cached
    else:
        path = path_name(tiktoken_bpe_file, "tiktoken_bpe_file")
    data = read_file(path)
    _check(data, expected_hash, path)
    tokens = formats.tiktoken.loads(data, path, pretokenizer=None).tokens
    return {token: rank for rank, token in enumerate(tokens) if token is not None}


def dump_tiktoken_bpe(bpe_ranks: dict[bytes, int], tiktoken_bpe_file: str) -> None:
    """Write tokens and ranks to a .tiktoken file, atomically."""
    from base64 import b64encode

    typed("bpe_ranks", bpe_ranks, dict)
    in_order = sorted(bpe_ranks.items(), key=lambda item: item[1])
    lines = [b"%s %d\n" % (b64encode(token), rank) for token, rank in in_order]
    atomic_write(tiktoken_bpe_file, b"".join(lines))


def _check(data: bytes, expected: str | None, path: str) -> None:
    if expected is not None and hashlib.sha256(data).hexdigest() != expected:
        raise CorruptFileError(
            "the content is not the expected one: it has another SHA-256.",
            path=path,
            value=expected,
            hint="Fetch the file again.",
        )
