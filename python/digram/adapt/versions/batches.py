"""What a history has counted: batches with weights, from which one rounding gives counts.

A batch keeps its counts as they were made, and decaying changes its weight alone. So weights are
exact, and a count is rounded once, whenever it is asked for; counts that were rounded at each step
would never fall below 4 at a factor of 0.9. `digram.reference.weigh` says what they come to.
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

_MOST = (1 << 64) - 1  # the largest number in a weight that the core takes

Batches: TypeAlias = "tuple[Batch, ...]"
"""By epoch, name and weight: in whatever order they were added, it is the same tuple."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What was counted under one name and with one weight, between two decays or versions.

    `epoch` is the number of decays and versions before it. Pretokens that stand less often than
    `least` times were left out when it decayed: their counts come to 0, and weights never rise.
    """

    name: str
    counts: Counts
    weight: Fraction
    epoch: int
    least: int = 1

    @property
    def key(self) -> tuple[int, str, Fraction]:
        """Where it stands among others. What is added with the same one is joined to it."""
        return self.epoch, self.name, self.weight

    def weighted(self) -> Counts:
        """What the batch counts for."""
        return self.counts if self.weight == 1 else self.counts.scale(self.weight)


def joined(batches: Batches, new: Batch) -> Batches:
    """The batches with one more; what has the same key becomes one."""
    for batch in batches:  # one at most: of those that can still be joined no two share a key
        if batch.key == new.key:
            new = replace(new, counts=batch.counts + new.counts)
    others = [batch for batch in batches if batch.key != new.key]
    return _sorted([*others, *_without_rare(new)])


def decayed(batches: Batches, factor: Fraction) -> Batches:
    """The batches with their weights times a factor that is at most 1; what comes to 0 is gone.

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
        # A half is rounded to 0, so count * weight <= 1/2 is.
        least = weight.denominator // (2 * weight.numerator) + 1
        found += _without_rare(replace(batch, weight=weight, least=least))
    return _sorted(found)


def forgotten(batches: Batches, name: str, counts: Counts) -> Batches:
    """The batches without some counts: the newest of that name that holds all of them has fewer.

    Where nothing of that name is left there is nothing to take away.
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
        f"{name!r} does not hold all that is to be forgotten: {refused.message}",
        value=name,
        hint="Forget what was added under one name between two decays or versions.",
    ) from None


def total(batches: Iterable[Batch], empty: Counts) -> Counts:
    """What batches come to together: each rounded by itself, then added."""
    return Counts.merge([empty, *(batch.weighted() for batch in batches)]).without_first()


def _still_there(batch: Batch, counts: Counts) -> Counts:
    """Counts without the pretokens that a batch may have left out when it decayed."""
    if batch.least == 1:
        return counts
    here = batch.counts
    pairs = [(piece, n) for piece, n in counts.items() if n >= batch.least or here[piece]]
    core = _core.Counts.from_pairs(pairs).of_corpus(counts.documents, None)
    return Counts._of(core, counts.pretokenizer, counts.unit, counts.skipped)


def _without_rare(batch: Batch) -> list[Batch]:
    """The batch without what comes to 0; none where that is all of it."""
    counts, least = batch.counts, batch.least
    if least == 1:  # a text without pretokens is a document all the same
        return [batch] if len(counts) or counts.documents else []
    if least > _MOST:
        return []
    kept = counts.filter(min_count=least)
    return [replace(batch, counts=kept)] if len(kept) else []


def _in_64_bits(weight: Fraction, most: Fraction) -> Fraction:
    """The nearest weight whose numbers have 64 bits, and which is not above another that has."""
    if max(weight.numerator, weight.denominator) <= _MOST:
        return weight
    return min(weight.limit_denominator(_MOST // max(1, math.ceil(weight))), most)


def _sorted(batches: Sequence[Batch]) -> Batches:
    return tuple(sorted(batches, key=lambda batch: batch.key))
