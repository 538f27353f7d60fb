"""The files that the library tiktoken keeps on this machine."""

from __future__ import annotations

import hashlib
import os

__all__ = ["GPT2_FILES", "cache_folder", "cached"]

_GPT2 = "https://openaipublic.blob.core.windows.net/gpt-2/encodings/main"
GPT2_FILES = (
    (f"{_GPT2}/encoder.json", "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"),
    (f"{_GPT2}/vocab.bpe", "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"),
)
"""The addresses and SHA-256 of the files of which tiktoken makes `gpt2`."""


def cache_folder() -> str | None:
    """The folder of the cache; None if an empty variable switches it off.

    It is that of tiktoken: in TIKTOKEN_CACHE_DIR, in DATA_GYM_CACHE_DIR, or `data-gym-cache` in the
    folder for temporary files.
    """
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return os.environ[variable] or None
    import tempfile

    return os.path.join(tempfile.gettempdir(), "data-gym-cache")


def cached(address: str) -> str | None:
    """The path of the file that was fetched from an address; None if it is not in the cache."""
    folder = cache_folder()
    if folder is None:
        return None
    path = os.path.join(folder, hashlib.sha1(address.encode()).hexdigest())
    return path if os.path.exists(path) else None
