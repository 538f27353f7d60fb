"""The placement of the ranges of an id space, and how they grow."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

from digram._util.validation import iterable, mapping
from digram.errors import OptionError, several, show
from digram.multimodal.id_space.ranges import MAX_IDS, Holding, IdRange, whole
from digram.multimodal.sequences import SequenceTokenizer
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["check_overlap", "check_replaced", "placed_ranges", "replacing", "resized"]


def placed_ranges(
    holdings: Mapping[str, Holding],
    after: int,
    align: int,
    spare: Mapping[str, int],
    codebooks: Mapping[str, int],
    replace: Collection[str],
) -> list[IdRange]:
    """Place the ranges one after the other from `after` on, each at a multiple of `align`.

    Raises `OptionError` for impossible ranges, and `TypeError` for an invalid value.
    """
    if isinstance(replace, str):
        raise TypeError(f"replace must be a list of names, as in [{show(replace)}]")
    iterable("replace", replace, "names of ranges")
    mapping("spare", spare, "ranges and numbers of ids")
    mapping("codebooks", codebooks, "ranges and numbers of codebooks")
    options: Any = {"spare": spare, "codebooks": codebooks, "replace": replace}
    for option, given in options.items():
        unknown = [name for name in given if name not in holdings]
        if unknown:
            raise _unknown(option, unknown[0], holdings)
    found: list[IdRange] = []
    for name, holding in holdings.items():
        if not isinstance(name, str) or not name:
            raise OptionError(
                f"ranges: {show(name)} is not a name.", value=name, hint="Use a non-empty str."
            )
        start = holding.start if isinstance(holding, range) else after + -after % align
        if start % align:
            raise OptionError(
                f"the range {show(name)} begins at {start}, which is not a multiple of "
                f"align={align}.",
                value=start,
                hint="Choose another start, or leave out align=.",
            )
        free = whole(f"spare[{name!r}]", spare.get(name, 0), 0)
        books = whole(f"codebooks[{name!r}]", codebooks.get(name, 1), 1)
        one = IdRange(name, start, **_held(name, holding), spare=free, codebooks=books)
        if one.size % books or (books > 1 and (one.is_text or one.names)):
            raise OptionError(
                f"the range {show(name)} has {several(one.size, 'id')}, which cannot be {books} "
                "codebooks of equal size.",
                value=books,
                hint="Pass the number of ids of all codebooks together.",
            )
        if free and books > 1:
            raise OptionError(
                f"the range {show(name)} has codebooks, and so cannot grow.",
                value=free,
                hint="Leave out its spare ids.",
            )
        found.append(one)
        after = max(after, start + one.size + free)
    return found


def resized(old: IdRange, holding: Holding, free: int | None) -> IdRange:
    """The range with new content; `free` is the number of ids it may grow by, None for no limit.

    Raises `OptionError` if the range would shrink, change what it holds, or need more spare ids.
    """
    if old.codebooks > 1:
        raise OptionError(
            f"the range {old.name!r} has {old.codebooks} codebooks, and with more ids its frames "
            "would have other ids.",
            value=holding,
            hint="Put the new ids into a new range (with_ranges).",
        )
    if isinstance(holding, range):
        raise TypeError(f"a range cannot move; pass the new size of {old.name!r}")
    held = _held(old.name, holding)
    kind = "tokenizer" if old.is_text else "names" if old.names is not None else None
    if held.keys() - {"size"} != ({kind} if kind else set()):
        what = {"tokenizer": "a tokenizer", "names": "a list of names", None: "a number of ids"}
        raise OptionError(f"the range {old.name!r} grows by {what[kind]}.", value=holding)
    new = dataclasses.replace(old, **held, wanted=None)
    if new.size < old.size:
        raise OptionError(
            f"the range {old.name!r} has {several(old.size, 'id')}, and ranges cannot shrink.",
            value=new.size,
            hint="Build a new space with fewer ids.",
        )
    _check_same(old, new)
    growth = new.size - old.size
    if free is not None and growth > free:
        raise OptionError(
            f"the range {old.name!r} has {several(free, 'spare id')}, and {growth:,} are needed.",
            value=new.size,
            hint="Set spare= when you build the space, or put the new ids into a range at the end "
            "(with_ranges).",
        )
    return dataclasses.replace(new, spare=max(0, old.spare - growth))


def check_overlap(ranges: Sequence[IdRange]) -> None:
    """`OptionError` for two ranges that have an id in common, their spare ids included.

    A range may lie inside the range of a tokenizer, and takes its ids from it. Such a range has no
    spare ids: they would be ids of text until it grows.
    """
    order = sorted(ranges, key=lambda one: one.start)
    for one, next in combinations(order, 2):
        end = one.stop + one.spare
        if end > next.start and not (one.holds(next) or next.holds(one)):
            raise OptionError(
                f"the ranges {_span(one)} and {_span(next)} overlap.",
                value=next.name,
                hint=f"Let {next.name!r} begin at {end}, or pass sizes instead of ranges."
                + (" A range inside text has no spare ids." if next.spare and one.is_text else ""),
            )
    last = max((one.stop + one.spare for one in ranges), default=0)
    if last > MAX_IDS:
        raise OptionError(f"there are {last:,} ids, and {MAX_IDS:,} are the maximum.", value=last)


def check_replaced(ranges: Sequence[IdRange], replaced: Collection[str]) -> None:
    """`OptionError` for a range that takes ids of tokens in a text range without `replace`."""
    for one, other in permutations(ranges, 2):
        found = None if other.name in replaced else _replaced(one, other)
        if found is not None:
            id, token = found
            raise OptionError(
                f"the range {other.name!r} ({other.start} to {other.stop - 1}) takes the ids of "
                f"tokens of {one.name!r}: {id} is {show(token)}.",
                value=id,
                hint=f"Choose another start, or pass replace=[{other.name!r}]: text with these "
                "tokens is then an error.",
            )


def replacing(ranges: Sequence[IdRange]) -> list[str]:
    """The names of ranges that take ids of tokens in a text range."""
    return [other.name for one, other in permutations(ranges, 2) if _replaced(one, other)]


def _replaced(text: IdRange, other: IdRange) -> tuple[int, bytes] | None:
    """The first token of a text range, with its id, whose id another range takes.

    Special tokens do not count: text does not become them.
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
    spare = f", {one.spare:,} spare" if one.spare else ""
    return f"{one.name!r} ({one.start} to {one.stop - 1}{spare})"


def _held(name: str, holding: Holding) -> dict[str, Any]:
    """The fields of a range that describe its content."""
    place = f"ranges[{name!r}]"
    if isinstance(holding, Tokenizer | SequenceTokenizer):
        return {"size": holding.vocab_size, "tokenizer": holding}
    if isinstance(holding, range):
        if holding.step != 1 or holding.start < 0:
            raise OptionError(
                f"{place}={show(holding)} is not a range of ids.",
                value=holding,
                hint="Begin at 0 or above, with steps of 1.",
            )
        return {"size": whole(f"the size of {place}", len(holding), 1)}
    if isinstance(holding, Sequence) and not isinstance(holding, str | bytes):
        return _names(place, holding)
    if isinstance(holding, int):
        return {"size": whole(place, holding, 1)}
    raise TypeError(
        f"{place} must be a number of ids, a range of them, a tokenizer, or a list of names, not "
        f"{show(holding)}"
    )


def _names(place: str, names: Sequence[Any]) -> dict[str, Any]:
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{place} must be a list of names, and {show(name)} is not a str")
        if not name or name in seen:
            raise OptionError(
                f"{place} has the name {show(name)}{' twice' if name else ''}.",
                value=name,
                hint="Give each id a different name.",
            )
        seen.add(name)
    return {"size": whole(f"the size of {place}", len(names), 1), "names": tuple(names)}


def _check_same(old: IdRange, new: IdRange) -> None:
    """`OptionError` if an id of a range would change its meaning."""
    if old.names is not None and (new.names or ())[: old.size] != old.names:
        raise OptionError(
            f"the new names of {old.name!r} do not begin with the present ones.",
            value=new.names,
            hint="Add new names at the end.",
        )
    if old.wanted is not None and new.digest != old.wanted:
        raise OptionError(
            f"whether the ids of {old.name!r} stay the same is unknown without its tokenizer.",
            hint="Load the space with tokenizers=.",
        )
    if old.tokens is not None and new.tokens is not None:
        from digram.adapt import Change

        if _alphabet(old) != _alphabet(new):
            raise OptionError(
                f"the new tokenizer for {old.name!r} has other symbols than the present one.",
                value=new.tokenizer,
                hint="Pass a tokenizer of the same kind, over the same symbols.",
            )
        change = Change.of(old.tokens, new.tokens)  # padding may become tokens
        moved = (id for id, other in enumerate(change.id_map.tolist()) if other not in (-1, id))
        if gone := sorted([*change.removed, *moved]):
            raise OptionError(
                f"the new tokenizer for {old.name!r} has another token for the id {gone[0]} than "
                "the present one.",
                value=gone[0],
                hint="Extend the present one (digram.extend, tok.with_special_tokens).",
            )


def _alphabet(one: IdRange) -> Any:
    """The alphabet of a tokenizer of sequences; None for one of text."""
    return one.tokenizer.alphabet if isinstance(one.tokenizer, SequenceTokenizer) else None


def _unknown(option: str, name: Any, known: Iterable[str]) -> OptionError:
    names = ", ".join(map(repr, known)) or "none"
    return OptionError(
        f"{option} names {show(name)}, which is not a range.",
        value=name,
        hint=f"Choose from {names}.",
    )
