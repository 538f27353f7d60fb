"""digram's own format, for tokenizers that no other library supports.

It is a tokenizer.json whose model has its own type, so that other programs refuse it instead of
producing other ids. `huggingface` reads both.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from digram._util.storage import LARGEST, atomic_write
from digram.formats import huggingface

if TYPE_CHECKING:
    from digram.vocab.definition import Definition

__all__ = ["dumps", "load", "loads", "read", "write"]

read = huggingface.read
loads = huggingface.loads
load = huggingface.load


def write(definition: Definition, path: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write the file atomically; see `dumps`. Also raises OSError."""
    atomic_write(path, dumps(definition, allow_loss=allow_loss), LARGEST)


def dumps(definition: Definition, *, allow_loss: bool = False) -> bytes:
    """The bytes of the file. Nothing is lost; `allow_loss` has no effect."""
    return huggingface.dumps(definition, allow_loss=allow_loss, own=True)
