"""Names of ids, and the markers around parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from digram._util.validation import mapping
from digram.errors import OptionError, show
from digram.multimodal.id_space.ranges import IdRange, Marker

__all__ = ["Markers", "marked", "names"]

Markers = Mapping[str, tuple[str, str]]
"""For each range the names of the ids before and after each part of it."""


def names(ranges: Iterable[IdRange]) -> dict[str, int]:
    """The global ids of all names, except for special tokens of two tokenizers.

    Raises `OptionError` if a name of a list belongs to two ids.
    """
    found: dict[str, tuple[int, IdRange]] = {}
    several = set()
    for one in ranges:
        for name, id in one.named().items():
            first, other = found.setdefault(name, (id, one))
            if first != id and one.is_text and other.is_text:
                several.add(name)
            elif first != id:
                raise OptionError(
                    f"{show(name)} is the name of two ids, {first} and {id}.",
                    value=name,
                    hint=f"Choose another name in the range {one.name!r} or {other.name!r}.",
                )
    return {name: id for name, (id, _) in found.items() if name not in several}


def marked(old: Sequence[IdRange], new: Sequence[IdRange], markers: Markers) -> list[IdRange]:
    """All ranges, the new ones with their markers."""
    mapping("markers", markers, "ranges and the names of their two markers")
    named = names([*old, *new])
    taken = {one.id for of in old for one in (of.begin, of.end) if one is not None}
    built = {one.name for one in new}
    unknown = [name for name in markers if name not in built]
    if unknown:
        there = ", ".join(repr(one.name) for one in new)
        raise OptionError(
            f"markers names {show(unknown[0])}, which is not one of the new ranges.",
            value=unknown[0],
            hint=f"Choose from {there}.",
        )
    found = {one.name: one for one in [*old, *new]}
    for name, pair in markers.items():
        begin, end = _pair(name, pair, named, taken)
        found[name] = replace(found[name], begin=begin, end=end)
    return [*found.values()]


def _pair(
    range: str, pair: tuple[str, str], named: Mapping[str, int], taken: set[int]
) -> tuple[Marker, Marker]:
    """The markers with these names, which are then in use."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(f"markers[{show(range)}] must be two names, not {show(pair)}")
    for name in pair:
        if name not in named:
            raise OptionError(
                f"markers[{show(range)}]: no id has the name {show(name)}.",
                value=name,
                hint='Add a range for it, as in "control": [name, ...], or give the tokenizer '
                "this special token.",
            )
        if named[name] in taken:
            raise OptionError(
                f"markers[{show(range)}]: {show(name)} is already a marker.",
                value=name,
                hint="Choose another name: a marker has only one meaning.",
            )
        taken.add(named[name])
    return Marker(pair[0], named[pair[0]]), Marker(pair[1], named[pair[1]])
