"""The files of encodings in the folder where tiktoken keeps those that it has downloaded."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile

from digram import formats
from digram._util.storage import atomic_write, read_file
from digram._util.validation import path_name
from digram.compat.tiktoken.checks import typed
from digram.errors import CorruptFileError

__all__ = ["cached", "dump_tiktoken_bpe", "load_tiktoken_bpe"]

# The SHA-256 of the published files, by the part of their address behind the host.
_DIGESTS = {
    "encodings/r50k_base.tiktoken": (
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
    ),
    "encodings/p50k_base.tiktoken": (
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"
    ),
    "encodings/cl100k_base.tiktoken": (
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
    ),
    "encodings/o200k_base.tiktoken": (
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
    ),
    "main/vocab.bpe": "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    "main/encoder.json": "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
}


def cached(address: str) -> tuple[bytes, str]:
    """The content and the path of a file that tiktoken has downloaded from this address.

    The folder is that of the environment variable TIKTOKEN_CACHE_DIR, else DATA_GYM_CACHE_DIR, else
    `data-gym-cache` in the folder of temporary files; the name of a file in it is the SHA-1 of its
    address.

    Raises `FileNotFoundError` with the remedy, and `CorruptFileError` for a content that is not the
    published one.
    """
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if folder is None:
        folder = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    path = os.path.join(folder, hashlib.sha1(address.encode()).hexdigest())
    if not folder or not os.path.exists(path):
        kept = f"as {path}" if folder else "and name its folder in TIKTOKEN_CACHE_DIR"
        reason = f"{address} is not there, and digram downloads nothing. Save it {kept}"
        raise FileNotFoundError(errno.ENOENT, reason, path)
    data = read_file(path)
    _check(data, _DIGESTS.get("/".join(address.rsplit("/", 2)[-2:])), path)
    return data, path


def load_tiktoken_bpe(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Read the tokens and ranks of a .tiktoken file: a path, or an address, see `cached`.

    Raises `CorruptFileError` if its SHA-256 is not `expected_hash`, the errors of `digram.load` for
    its content, and `OSError`.
    """
    if isinstance(tiktoken_bpe_file, str) and "://" in tiktoken_bpe_file:
        data, path = cached(tiktoken_bpe_file)
    else:
        path = path_name(tiktoken_bpe_file)
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
