"""An id space as a table for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram.analysis.metrics.table import aligned
from digram.errors import several

if TYPE_CHECKING:
    from digram.multimodal.id_space.ranges import IdRange
    from digram.multimodal.id_space.space import IdSpace

__all__ = ["table"]


def table(space: IdSpace) -> str:
    """A row per range, by its first id; ids of ranges inside text do not count as text."""
    rows: list[tuple[str, ...]] = [("range", "first", "last", "ids", "spare", "")]
    places = enumerate(space.ranges.values())
    for place, one in sorted(places, key=lambda item: item[1].start):
        numbers = one.start, one.stop - 1, space._lookup.size_of(place)
        spare = f"{one.spare:,}" if one.spare else ""
        rows.append((one.name, *(f"{number:,}" for number in numbers), spare, _noted(one)))
    return f"{aligned(rows, '<>>>><')}\n{several(space.size, 'id')}"


def _noted(one: IdRange) -> str:
    notes = []
    if one.names is not None:
        notes.append(several(len(one.names), "name"))
    if one.codebooks > 1:
        notes.append(f"{one.codebooks} codebooks of {one.codes:,}")
    if one.is_text and one.tokenizer is None:
        notes.append("tokenizer not loaded")
    if one.begin is not None and one.end is not None:
        notes.append(f"{one.begin.name} … {one.end.name}")
    return ", ".join(notes)
