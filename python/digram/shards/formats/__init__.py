"""The formats of training files, one per module, and their list."""

from __future__ import annotations

from digram.errors import OptionError, show
from digram.shards.formats import arrow, datatrove, dolma, llmc, megatron, nanogpt, npy, parquet
from digram.shards.formats._format import (
    About,
    Bounds,
    Documents,
    Format,
    Ids,
    Open,
    Run,
    Stored,
    Writer,
)

__all__ = [
    "FORMATS",
    "About",
    "Bounds",
    "Documents",
    "Format",
    "Ids",
    "Open",
    "Run",
    "Stored",
    "Writer",
    "named",
]

FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT
    for module in (megatron, nanogpt, llmc, datatrove, dolma, npy, parquet, arrow)
}
"""All formats by name."""


def named(name: str) -> Format:
    """The format with a name; `OptionError` for an unknown name.

    >>> named("megatron").suffix
    '.bin'
    """
    if name not in FORMATS:
        raise OptionError(
            f"format={show(name)} is not known.",
            value=name,
            hint=f"Formats: {', '.join(FORMATS)}.",
        )
    return FORMATS[name]
