"""Where the ranges of an id space are placed, and how they grow."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

from digram._util.validation import mapping
from digram.errors import OptionError, several, show
from digram.multimodal.id_space.ranges import MOST, Holding, IdRange, whole
from digram.multimodal.sequences import SequenceTokenizer
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["check_overlap", "check_replaced", "placed_ranges", "replacing", "resized"]


def placed_ranges(
    holdings: Mapping[str, Holding],
    after: int,
    align: int,
    room: Mapping[str, int],
    codebooks: Mapping[str, int],
    replace: Collection[str],
) -> list[IdRange]:
    """The ranges one after the other, from `after` on, each from a multiple of `align`.

    Raises `OptionError` for what cannot be, `TypeError` for what is not a holding.
    """
    if isinstance(replace, str):
        raise TypeError(f"replace is a list of names, as in [{show(replace)}]")
    mapping("room", room, "ranges and numbers of ids")
    mapping("codebooks", codebooks, "ranges and numbers of codebooks")
    options: Any = {"room": room, "codebooks": codebooks, "replace": replace}
    for option, given in options.items():
        unknown = [name for name in given if name not in holdings]
        if unknown:
            raise _unknown(option, unknown[0], holdings)
    found: list[IdRange] = []
    for name, holding in holdings.items():
        if not isinstance(name, str) or not name:
            raise OptionError(
                f"ranges: {show(name)} is not a name.", value=name, hint="Give a text."
            )
        start = holding.start if isinstance(holding, range) else after + -after % align
        if start % align:
            raise OptionError(
                f"the range {show(name)} begins at {start}, which is not a multiple of "
                f"align={align}.",
                value=start,
                hint="Give it another place, or leave out align=.",
            )
        free = whole(f"room[{name!r}]", room.get(name, 0), 0)
        books = whole(f"codebooks[{name!r}]", codebooks.get(name, 1), 1)
        one = IdRange(name, start, **_held(name, holding), room=free, codebooks=books)
        if one.size % books or (books > 1 and (one.is_text or one.names)):
            raise OptionError(
                f"the range {show(name)} has {several(one.size, 'id')}, which are not {books} "
                "codebooks of one size.",
                value=books,
                hint="Give it as many ids as all codebooks have together.",
            )
        if free and books > 1:
            raise OptionError(
                f"the range {show(name)} has codebooks, and so does not grow.",
                value=free,
                hint="Leave out its room.",
            )
        found.append(one)
        after = max(after, start + one.size + free)
    return found


def resized(old: IdRange, holding: Holding, free: int | None) -> IdRange:
    """The range with what it holds now; `free` ids are behind it, None for any number.

    Raises `OptionError` where that is less, other, or more than there is room for.
    """
    if old.codebooks > 1:
        raise OptionError(
            f"the range {old.name!r} has {old.codebooks} codebooks, and with more ids its frames "
            "would be others.",
            value=holding,
            hint="Put the new ids into a range of their own (with_ranges).",
        )
    if isinstance(holding, range):
        raise TypeError(f"a range keeps its place; give the new size of {old.name!r}")
    held = _held(old.name, holding)
    kind = "tokenizer" if old.is_text else "names" if old.names is not None else None
    if held.keys() - {"size"} != ({kind} if kind else set()):
        what = {"tokenizer": "a tokenizer", "names": "a list of names", None: "a number of ids"}
        raise OptionError(f"the range {old.name!r} grows by {what[kind]}.", value=holding)
    new = dataclasses.replace(old, **held, wanted=None)
    if new.size < old.size:
        raise OptionError(
            f"the range {old.name!r} has {several(old.size, 'id')}, and ranges only grow.",
            value=new.size,
            hint="Build a new space for fewer.",
        )
    _check_same(old, new)
    growth = new.size - old.size
    if free is not None and growth > free:
        raise OptionError(
            f"the range {old.name!r} has room for {several(free, 'id')} more, and {growth:,} are "
            "asked for.",
            value=new.size,
            hint="Keep room for it when the space is built (room=), or put the new ids into a "
            "range at the end (with_ranges).",
        )
    return dataclasses.replace(new, room=max(0, old.room - growth))


def check_overlap(ranges: Sequence[IdRange]) -> None:
    """`OptionError` for two ranges that have an id in common, their room included.

    A range may stand inside that of a tokenizer, and takes its ids from it; so it has no room,
    which would be ids of text until it grows.
    """
    order = sorted(ranges, key=lambda one: one.start)
    for one, next in combinations(order, 2):
        end = one.stop + one.room
        if end > next.start and not (one.holds(next) or next.holds(one)):
            raise OptionError(
                f"the ranges {_span(one)} and {_span(next)} overlap.",
                value=next.name,
                hint=f"Let {next.name!r} begin at {end}, or leave the places to digram."
                + (" Inside a text it has no room." if next.room and one.is_text else ""),
            )
    last = max((one.stop + one.room for one in ranges), default=0)
    if last > MOST:
        raise OptionError(f"there are {last:,} ids, and {MOST:,} are the most.", value=last)


def check_replaced(ranges: Sequence[IdRange], replaced: Collection[str]) -> None:
    """`OptionError` for a range in place of tokens of a text that it was not told to replace."""
    for one, other in permutations(ranges, 2):
        found = None if other.name in replaced else _replaced(one, other)
        if found is not None:
            id, token = found
            raise OptionError(
                f"the range {other.name!r} ({other.start} to {other.stop - 1}) stands in place of "
                f"tokens of {one.name!r}: {id} is {show(token)}.",
                value=id,
                hint=f"Give it another place, or say replace=[{other.name!r}]: text with these "
                "tokens is an error then.",
            )


def replacing(ranges: Sequence[IdRange]) -> list[str]:
    """The names of ranges that stand in place of tokens of a text."""
    return [other.name for one, other in permutations(ranges, 2) if _replaced(one, other)]


def _replaced(text: IdRange, other: IdRange) -> tuple[int, bytes] | None:
    """The first token of a text, with its id, that another range stands in place of.

    Special tokens are none: text does not become them.
    """
    tok = text.tokens
    if tok is None or not text.holds(other):
        return None
    special, tokens = set(tok.special_tokens.values()), tok._model.tokens()
    for id in range(other.start - text.start, min(other.stop - text.start, len(tokens))):
        token = tokens[id]
        if token is not None and id not in special:
            return id, token
    return None


def _span(one: IdRange) -> str:
    """A range with its ids, for a message."""
    room = f", with room for {one.room:,}" if one.room else ""
    return f"{one.name!r} ({one.start} to {one.stop - 1}{room})"


def _held(name: str, holding: Holding) -> dict[str, Any]:
    """The fields of a range that say what it holds."""
    place = f"ranges[{name!r}]"
    if isinstance(holding, Tokenizer | SequenceTokenizer):
        return {"size": holding.vocab_size, "tokenizer": holding}
    if isinstance(holding, range):
        if holding.step != 1 or holding.start < 0:
            raise OptionError(
                f"{place}={show(holding)} is not a range of ids.",
                value=holding,
                hint="Begin at 0 or above, and go by steps of 1.",
            )
        return {"size": whole(f"the size of {place}", len(holding), 1)}
    if isinstance(holding, Sequence) and not isinstance(holding, str | bytes):
        return _names(place, holding)
    if isinstance(holding, int):
        return {"size": whole(place, holding, 1)}
    raise TypeError(
        f"{place} is a number of ids, a range of them, a tokenizer, or a list of names, not "
        f"{show(holding)}"
    )


def _names(place: str, names: Sequence[Any]) -> dict[str, Any]:
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{place} is a list of names, and {show(name)} is none")
        if not name or name in seen:
            raise OptionError(
                f"{place} has the name {show(name)}{' twice' if name else ''}.",
                value=name,
                hint="Each id has a name of its own.",
            )
        seen.add(name)
    return {"size": whole(f"the size of {place}", len(names), 1), "names": tuple(names)}


def _check_same(old: IdRange, new: IdRange) -> None:
    """`OptionError` where an id of a range would stand for something else."""
    if old.names is not None and (new.names or ())[: old.size] != old.names:
        raise OptionError(
            f"the names of {old.name!r} do not begin with those it has.",
            value=new.names,
            hint="Add new names at the end.",
        )
    if old.wanted is not None and new.digest != old.wanted:
        raise OptionError(
            f"which ids of {old.name!r} stay cannot be told without its tokenizer.",
            hint="Load the space with tokenizers=.",
        )
    if old.tokens is not None and new.tokens is not None:
        from digram.adapt import Change

        if _alphabet(old) != _alphabet(new):
            raise OptionError(
                f"the new tokenizer for {old.name!r} is of other symbols than the present one.",
                value=new.tokenizer,
                hint="Give one of the same kind, over the same symbols.",
            )
        change = Change.of(old.tokens, new.tokens)  # what pads may become tokens
        moved = (id for id, other in enumerate(change.id_map.tolist()) if other not in (-1, id))
        if gone := sorted([*change.removed, *moved]):
            raise OptionError(
                f"the new tokenizer for {old.name!r} has something else for the id {gone[0]} than "
                "the present one.",
                value=gone[0],
                hint="Extend the present one (digram.extend, tok.with_special_tokens).",
            )


def _alphabet(one: IdRange) -> Any:
    """The numbers that a tokenizer of sequences is of; None for one of text."""
    return one.tokenizer.alphabet if isinstance(one.tokenizer, SequenceTokenizer) else None


def _unknown(option: str, name: Any, known: Iterable[str]) -> OptionError:
    names = ", ".join(map(repr, known)) or "none"
    return OptionError(
        f"{option} names {show(name)}, which is not a range.",
        value=name,
        hint=f"There are {names}.",
    )
