"""From a name to a path on this machine."""

from __future__ import annotations

import os
from os import PathLike
from typing import NamedTuple

from digram import formats
from digram._util.storage import read_file
from digram._util.validation import flag, path_name
from digram.errors import CorruptFileError
from digram.formats._published import file_of
from digram.names import tiktoken_cache
from digram.names.own_folder import in_own_folder, own_folder
from digram.names.spelling import encoding_of, is_name, is_repository

__all__ = ["Found", "describes_itself", "find", "find_encoding"]


class Found(NamedTuple):
    """Where a tokenizer is: its file or folder, and its published encoding if the name implies one.

    `merges` is the second file of GPT-2's two in the cache of tiktoken, of which `path` is the
    first; otherwise None.
    """

    path: str
    encoding: str | None = None
    merges: str | None = None


def find(name: str | PathLike[str], *, download: bool = False) -> Found:
    """Find the file or folder of a tokenizer by its path or name.

    >>> import digram
    >>> folder = getfixture("tmp_path")
    >>> getfixture("monkeypatch").setenv("DIGRAM_TOKENIZERS", str(folder))
    >>> digram.train("low low lower", vocab_size=258).save(folder / "low.json")
    >>> find("low").path == str(folder / "low.json")
    True

    A path that exists is the tokenizer. Otherwise a `str` may be a name, which is looked up in the
    folder of the variable DIGRAM_TOKENIZERS; then, for a published encoding or a model of OpenAI,
    in the cache of tiktoken, and for any other name, as that of a repository, in the cache of
    Hugging Face. Only with `download=True` a missing tokenizer is fetched from the network.

    Files of published encodings, and those of Hugging Face's cache, are compared with their
    digests. Raises FileNotFoundError for a name that is not found, `CorruptFileError` for a file
    with another digest, and OSError if a download fails. Takes milliseconds.
    """
    download = flag("download", download)
    path = path_name(name)
    if os.path.lexists(path):
        return Found(path)
    # Most tokenizers are given by a path, so what only names need is imported here.
    from digram.names._missing import missing

    if not isinstance(name, str) or not is_name(path):
        raise missing(path)
    own = in_own_folder(path)
    encoding = encoding_of(path)
    if own is not None:
        if encoding is None or not own.endswith(".tiktoken"):
            return Found(own)
        return _checked(own, encoding)
    found = (
        _repository(path, download)
        if encoding is None
        else find_encoding(encoding, download=download)
    )
    if found is None:
        raise missing(path)
    return found


def describes_itself(name: str | PathLike[str], *, download: bool = False) -> bool:
    """Whether a tokenizer is loaded without naming a pretokenizer; raises the errors of `find`."""
    found = find(name, download=download)
    return found.encoding is not None or formats.describes_itself(found.path)


def find_encoding(encoding: str, *, download: bool = False) -> Found | None:
    """Find the file of a published encoding, with its digest checked; None if there is none.

    It is looked for in the folder of DIGRAM_TOKENIZERS, and then in the cache of tiktoken.
    """
    file = file_of(encoding)
    own = os.path.join(own_folder(), file.name)
    for path in (own if os.path.lexists(own) else None, tiktoken_cache.cached(file.address)):
        if path is not None:
            return _checked(path, encoding)
    if encoding == "gpt2":
        both = [tiktoken_cache.cached(address) for address, _ in tiktoken_cache.GPT2_FILES]
        if both[0] is not None and both[1] is not None:
            for path, (_, sha256) in zip(both, tiktoken_cache.GPT2_FILES, strict=True):
                _check(str(path), sha256)
            return Found(both[0], encoding, both[1])
    if not download:
        return None
    from digram.names.download import fetch_published

    return Found(fetch_published(file), encoding)


def _checked(path: str, encoding: str) -> Found:
    _check(path, file_of(encoding).sha256)
    return Found(path, encoding)


def _check(path: str, sha256: str) -> None:
    import hashlib

    if hashlib.sha256(read_file(path)).hexdigest() != sha256:
        raise CorruptFileError(
            f"this is not the published file, whose SHA-256 is {sha256}.",
            path=path,
            value=sha256,
            hint="Remove it, and fetch the published one again. To load it as it is, pass its path "
            "and the pretokenizer.",
        )


def _repository(name: str, download: bool) -> Found | None:
    if not is_repository(name):
        return None
    from digram.names import hub_cache

    folder = hub_cache.snapshot(name)
    if (folder is None or not _has_tokenizer(folder)) and download:
        from digram.names.download import fetch_repository

        folder = fetch_repository(name)
    elif folder is None:
        return None
    elif not _has_tokenizer(folder):
        # One whose class is a program in Python may be complete without a tokenizer.
        from digram.formats._class_rules import refuse_python

        refuse_python(folder)
        return None
    hub_cache.check_digests(folder)
    return Found(folder)


def _has_tokenizer(folder: str) -> bool:
    """Whether a snapshot has a tokenizer; one of a model may have only its weights."""
    from digram.formats._folder import PIECES

    there = set(os.listdir(folder))
    return not there.isdisjoint(PIECES) or any(
        one.in_folder in there or any(there.issuperset(pair) for pair in one.pairs)
        for one in formats.FORMATS.values()
    )
