"""The error for a path that does not exist, and is not the name of a tokenizer on this machine."""

from __future__ import annotations

import difflib
import errno
import os
import re

from digram._util.system_errors import no_such_file, similar, system_error
from digram.formats._models import MODELS, model_like
from digram.formats._published import ENCODINGS, file_of, nearest
from digram.names import hub_cache, tiktoken_cache
from digram.names.download import has_hub, hub_address
from digram.names.own_folder import VARIABLE, own_folder
from digram.names.spelling import encoding_of, is_name, is_repository

__all__ = ["missing"]

_ADDRESS = re.compile(r"(https?|ftp):/+(.*)", re.DOTALL)


def missing(name: str) -> OSError:
    """The error for a name that is not found, with what would be fetched, from where, and how."""
    remedy = _remedy(name)
    if remedy is None:
        return no_such_file(name)
    here = similar(name) if is_name(name) else ""
    return system_error(errno.ENOENT, f"there is no such file or folder{here}, and {remedy}", name)


def _remedy(name: str) -> str | None:
    address = _ADDRESS.fullmatch(name)
    if address is not None:
        return (
            "digram fetches no addresses. Fetch the file, as with "
            f"`curl -O {address[1]}://{address[2]}`, and pass its path"
        )
    stem, suffix = os.path.splitext(name)
    if suffix == ".tiktoken" and stem in ENCODINGS:
        return f"the published encoding {stem} is loaded by its name, {stem!r}"
    if not is_name(name):
        return None
    encoding = encoding_of(name)
    if encoding is not None:
        return _of_encoding(name, encoding)
    near = model_like(name) or nearest(name, 0.8)
    if near is not None:
        return f"no tokenizer has this name; the most similar one is {near!r}"
    return _of_repository(name) if is_repository(name) else None


def _of_encoding(name: str, encoding: str) -> str:
    file = file_of(encoding)
    what = "" if name == encoding else f" (the encoding {encoding})"
    cache = tiktoken_cache.cache_folder()
    places = own_folder() if cache is None else f"{own_folder()} nor in tiktoken's cache, {cache}"
    shared = "" if file.name.startswith(f"{encoding}.") else f' with encoding="{encoding}"'
    return (
        f"the file of {name}{what} is {'not' if cache is None else 'neither'} in {places}. Pass "
        f"download=True to fetch {file.name} from {file.address} into the first folder, which the "
        f"variable {VARIABLE} sets. If you have {file.name}, copy it there, or pass its path in "
        f"place of {name!r}{shared}"
    )


def _of_repository(name: str) -> str:
    needed = "" if has_hub() else ' (which needs `pip install "digram[hub]"`)'
    files = ", ".join(hub_cache.TOKENIZER_FILES[:3])
    cache = hub_cache.cache_folder()
    near = difflib.get_close_matches(name, MODELS, n=1, cutoff=0.85)
    like = f"; the most similar one of OpenAI's models is {near[0]!r}" if near else ""
    return (
        f"no tokenizer has this name in {own_folder()} (see {VARIABLE}), or in Hugging Face's "
        f"cache, {cache}{like}. If {hub_address(name)} is meant, pass download=True{needed} to "
        f"fetch {files} and the like from there into that cache"
    )
