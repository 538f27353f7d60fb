"""The range of a global id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from digram.errors import TokenIdError
from digram.multimodal.id_space.ranges import IdRange

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Ids: TypeAlias = NDArray[np.int64]

__all__ = ["Lookup", "whole_numbers"]


class Lookup:
    """From ids to ranges, by binary search in the sorted starts and stops of all ranges.

    `names` and `starts` belong to the ranges in their order, `place` maps a name to its index, and
    `markers` are the ids of all markers.
    """

    __slots__ = ("_borders", "_owners", "markers", "names", "place", "starts")

    def __init__(self, ranges: Sequence[IdRange]) -> None:
        borders = sorted({0, *(edge for one in ranges for edge in (one.start, one.stop))})
        self._borders = np.array(borders, np.int64)
        self._owners = np.array([_owner(ranges, border) for border in borders], np.int64)
        self.names = np.array([one.name for one in ranges], object)
        self.starts = np.array([one.start for one in ranges], np.int64)
        self.place = {one.name: place for place, one in enumerate(ranges)}
        found = [one for of in ranges for one in (of.begin, of.end) if one is not None]
        self.markers = np.array([one.id for one in found], np.int64)

    def which(self, ids: Ids) -> Ids:
        """The index of the range of each id; `TokenIdError` for an id in no range."""
        found = self._owners[np.searchsorted(self._borders, ids, side="right") - 1]
        none = np.argwhere(found < 0)
        if len(none):
            index = tuple(none[0].tolist())
            raise TokenIdError(
                f"ids[{', '.join(map(str, index))}] = {ids[index]} is in no range of this space.",
                index=index[0] if len(index) == 1 else None,
                value=int(ids[index]),
                hint="Print the space to see its ids.",
            )
        return found

    def size_of(self, place: int) -> int:
        """The number of ids of a range, without those of ranges inside it."""
        lengths = np.diff(self._borders)
        return int(lengths[self._owners[:-1] == place].sum())


def whole_numbers(name: str, values: ArrayLike, limit: int, what: str, hint: str) -> Ids:
    """An array of whole numbers from 0 to below `limit`, with the shape of `values`."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise TypeError(f"{name} is not an array of whole numbers: {error}") from None
    if not array.size:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be whole numbers, not {array.dtype}")
    wrong = np.argwhere((array < 0) | (array >= limit))
    if len(wrong):
        index = tuple(wrong[0].tolist())
        raise TokenIdError(
            f"{name}[{', '.join(map(str, index))}] = {array[index]} is not {what} "
            f"(0..{limit - 1}).",
            index=index[0] if len(index) == 1 else None,
            value=int(array[index]),
            hint=hint,
        )
    return array.astype(np.int64)


def _owner(ranges: Sequence[IdRange], id: int) -> int:
    """The index of the range of an id: the inner one of two; -1 for none."""
    found = [place for place, one in enumerate(ranges) if id in one.ids]
    inner = [(ranges[place].size, ranges[place].is_text, place) for place in found]
    return min(inner, default=(0, False, -1))[2]
