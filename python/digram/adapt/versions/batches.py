"""The counts of a history: batches with weights, whose weighted counts are rounded once.

A batch keeps its original counts, and decay changes only its weight. So weights are exact, and a
count is rounded once, when it is used; counts that were rounded at each step would never fall below
4 at a factor of 0.9. `digram.reference.weigh` defines the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from digram import _core
from digram.errors import OptionError
from digram.training.counts import Counts

__all__ = ["Batch", "decayed", "forgotten", "joined", "total"]

_MOST = (1 << 64) - 1  # the maximum number in a weight for the core

Batches: TypeAlias = "tuple[Batch, ...]"
"""Sorted by epoch, name and weight, so the order of adding does not matter."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The counts added under one name and with one weight, between two decays or versions.

    `epoch` is the number of decays and versions before it. Pretokens with a count below `least`
    were dropped on decay: their weighted counts round to 0, and weights never rise.
    """

    name: str
    counts: Counts
    weight: Fraction
    epoch: int
    least: int = 1

    @property
    def key(self) -> tuple[int, str, Fraction]:
        """The sort key. A batch that is added with the same key is joined to this one."""
        return self.epoch, self.name, self.weight

    def weighted(self) -> Counts:
        """The weighted counts, rounded."""
        return self.counts if self.weight == 1 else self.counts.scale(self.weight)


def joined(batches: Batches, new: Batch) -> Batches:
    """The batches with a further one; batches with the same key are joined."""
    for batch in batches:  # at most one matches: no two joinable batches share a key
        if batch.key == new.key:
            new = replace(new, counts=batch.counts + new.counts)
    others = [batch for batch in batches if batch.key != new.key]
    return _sorted([*others, *_without_rare(new)])


def decayed(batches: Batches, factor: Fraction) -> Batches:
    """The batches with their weights times a factor of at most 1, without counts that round to 0.

    >>> few = Batch("news", Counts({"low": 3, "new": 1}, pretokenizer=None), Fraction(1), 0)
    >>> (faded,) = decayed((few,), Fraction(1, 2))
    >>> faded.weight, dict(faded.counts.items()), dict(faded.weighted().items())
    (Fraction(1, 2), {b'low': 3}, {b'low': 2})
    """
    found = []
    for batch in batches:
        weight = _in_64_bits(batch.weight * factor, batch.weight)
        if not weight:
            continue
        # A half is rounded to 0, so this holds for count * weight <= 1/2.
        least = weight.denominator // (2 * weight.numerator) + 1
        found += _without_rare(replace(batch, weight=weight, least=least))
    return _sorted(found)


def forgotten(batches: Batches, name: str, counts: Counts) -> Batches:
    """The batches without some counts, which are taken from the newest batch of that name with all
    of them.

    If no batch of that name is left, there is nothing to remove.
    """
    refused: OptionError | None = None
    for batch in [batch for batch in reversed(batches) if batch.name == name]:
        try:
            left = batch.counts - _still_there(batch, counts)
        except OptionError as error:
            refused = refused or error
            continue
        rest = [other for other in batches if other is not batch]
        return _sorted([*rest, *_without_rare(replace(batch, counts=left))])
    if refused is None:
        return batches
    raise OptionError(
        f"{name!r} does not contain all counts to forget: {refused.message}",
        value=name,
        hint="Forget text that was added under one name between two decays or versions.",
    ) from None


def total(batches: Iterable[Batch], empty: Counts) -> Counts:
    """The sum of the weighted counts of batches, each rounded by itself."""
    return Counts.merge([empty, *(batch.weighted() for batch in batches)]).without_first()


def _still_there(batch: Batch, counts: Counts) -> Counts:
    """Counts without the pretokens that a batch may have dropped on decay."""
    if batch.least == 1:
        return counts
    here = batch.counts
    pairs = [(piece, n) for piece, n in counts.items() if n >= batch.least or here[piece]]
    core = _core.Counts.from_pairs(pairs).of_corpus(counts.documents, None)
    return Counts._of(core, counts.pretokenizer, counts.unit, counts.skipped)


def _without_rare(batch: Batch) -> list[Batch]:
    """The batch without pretokens that round to 0; empty if none are left."""
    counts, least = batch.counts, batch.least
    if least == 1:  # keep a batch without pretokens, since its documents count
        return [batch] if len(counts) or counts.documents else []
    if least > _MOST:
        return []
    kept = counts.filter(min_count=least)
    return [replace(batch, counts=kept)] if len(kept) else []


def _in_64_bits(weight: Fraction, most: Fraction) -> Fraction:
    """The nearest weight with 64-bit numbers that is not above another weight."""
    if max(weight.numerator, weight.denominator) <= _MOST:
        return weight
    return min(weight.limit_denominator(_MOST // max(1, math.ceil(weight))), most)


def _sorted(batches: Sequence[Batch]) -> Batches:
    return tuple(sorted(batches, key=lambda batch: batch.key))
