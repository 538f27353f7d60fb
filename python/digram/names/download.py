"""Downloads, which nothing starts unless the caller asks for it."""

from __future__ import annotations

import errno
import os
from importlib.util import find_spec
from typing import Any

from digram._util.storage import atomic_write
from digram._util.system_errors import system_error
from digram.errors import CorruptFileError, LimitExceededError, OptionError
from digram.formats._published import PublishedFile
from digram.names.hub_cache import TOKENIZER_FILES, cache_folder
from digram.names.own_folder import own_folder

__all__ = ["fetch_published", "fetch_repository", "has_hub", "hub_address"]

_SECONDS = 60
_LARGEST = 1 << 24
"""The maximum size of a published file. The largest has 3.6 MB."""


def fetch_published(file: PublishedFile) -> str:
    """Fetch the file of a published encoding into the own folder; returns its path.

    Raises OSError if it cannot be fetched or written, and `CorruptFileError` for other content than
    the published one.
    """
    import hashlib
    from http.client import HTTPException
    from urllib.request import urlopen

    try:
        with urlopen(file.address, timeout=_SECONDS) as answer:
            data: bytes = answer.read(_LARGEST + 1)
    except (OSError, HTTPException) as error:
        by_hand = (
            f"Fetch the file otherwise, and save it as {os.path.join(own_folder(), file.name)}"
        )
        raise _failed(file.address, error, by_hand) from None
    if len(data) > _LARGEST:
        raise LimitExceededError(f"{file.address} has more than {_LARGEST:,} bytes.")
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise CorruptFileError(
            f"what {file.address} returned is not the published file: its SHA-256 differs.",
            value=file.sha256,
            hint="Is there a proxy that answers in its place? Otherwise try again.",
        )
    folder = own_folder()
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, file.name)
    atomic_write(path, data)
    return path


def has_hub() -> bool:
    """Whether huggingface_hub is installed."""
    return find_spec("huggingface_hub") is not None


def hub_address(repository: str) -> str:
    """The address of a repository."""
    return f"{os.environ.get('HF_ENDPOINT') or 'https://huggingface.co'}/{repository}"


def fetch_repository(repository: str) -> str:
    """Fetch the tokenizer of a repository into Hugging Face's cache; returns its folder.

    Raises `OptionError` if huggingface_hub is not installed, and OSError if it cannot fetch it.
    """
    if not has_hub():
        raise OptionError(
            f"a download of {hub_address(repository)} needs the package huggingface_hub.",
            value=repository,
            hint='Install it, as with `pip install "digram[hub]"`. Without it: '
            f"{_by_hand(repository)}.",
        )
    import huggingface_hub

    hub: Any = huggingface_hub
    try:
        return str(
            hub.snapshot_download(
                repository, allow_patterns=list(TOKENIZER_FILES), cache_dir=cache_folder()
            )
        )
    except Exception as error:  # its errors have many bases, which differ between its versions
        raise _failed(hub_address(repository), error, _by_hand(repository)) from None


def _by_hand(repository: str) -> str:
    """How the files of a repository are copied."""
    folder = os.path.join(own_folder(), *repository.split("/"))
    return (
        f"fetch tokenizer.json and tokenizer_config.json, or what the repository has in their "
        f"place, from {hub_address(repository)}/tree/main, and save them in the folder {folder}, "
        f"where {repository!r} is found"
    )


def _failed(address: str, error: BaseException, by_hand: str) -> OSError:
    reason = getattr(error, "reason", None)  # of urllib's error for a failed connection
    why = reason.strerror or reason if isinstance(reason, OSError) else error
    cause = " ".join(str(why).split()).rstrip(".") or type(error).__name__
    number = getattr(error, "errno", None)
    told = f"the download failed: {cause[:600]}. {by_hand[0].upper()}{by_hand[1:]}"
    return system_error(number or errno.EIO, told, address)
