"""Files that trainers read: one format a file of this room, each listed here once."""

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
    room.FORMAT.name: room.FORMAT
    for room in (megatron, nanogpt, llmc, datatrove, dolma, npy, parquet, arrow)
}
"""All formats by name."""


def named(name: str) -> Format:
    """The format of a name; `OptionError` with all names for another.

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
