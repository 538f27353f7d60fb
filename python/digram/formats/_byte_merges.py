"""Tokens in GPT-2's letters with merges, in the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import gt

from digram import _core
from digram.errors import VocabError
from digram.formats._alone import in_order, late
from digram.formats._check import id_table
from digram.formats._letters import LETTERS, from_letters

__all__ = ["core_model"]

Pair = Sequence[str]


def core_model(
    ids: Mapping[str, int], pairs: Sequence[Pair], path: str | None
) -> _core.Model | None:
    """Ordinary tokens by their names, and their merges; None if there is a fault.

    Merges that are never applied and have a part that is made later are left out (see `_alone`).
    Raises `LimitExceededError` if it would take long to find them.
    """
    if late(pairs):
        found = _all_splits(ids, pairs)
        if found is not None:
            return found
        pairs = in_order(pairs, ids, path)
    return _core.Model.from_letters(dict(ids), [], [[*pair] for pair in pairs], LETTERS)


def _all_splits(ids: Mapping[str, int], pairs: Sequence[Pair]) -> _core.Model | None:
    """The model of merges that are the ways to split the tokens in two, in the order of ids.

    Such merges mean the same as the ids alone: the pair whose joined text has the lowest id comes
    first. Of the ways to split a token one is ever applied, and the core finds it. If all of those
    are among the merges, the others are without effect. None if the merges are not of this kind.
    """
    find = ids.get
    lefts = [find(left, -1) for left, _ in pairs]
    rights = [find(right, -1) for _, right in pairs]
    made = [find(left + right, -1) for left, right in pairs]
    if min(map(min, lefts, rights, made), default=-1) < 0 or any(map(gt, made, made[1:])):
        return None
    try:
        table = id_table([*ids.values()], from_letters(ids), None)
        model = _core.Model.from_ranks(_core.Ranks(table))
    except (UnicodeEncodeError, VocabError):
        return None
    there = set(zip(lefts, rights, strict=True))
    return model if all((left, right) in there for left, right, _ in model.merges()) else None
