"""How a token is made when its own text is encoded, and merges that are never applied.

What happens inside a stretch of text depends on nothing outside it until a merge crosses its
border. So a token is only ever made of the two parts that remain when its own text is encoded
alone, and never if that ends with more than one token. Published files have other merges too:
programs that convert ranks or scores to merges write each way to split a token in two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise

from digram.errors import LimitExceededError
from digram.formats._runs import with_runs
from digram.formats._show import show

__all__ = ["NEVER", "Alone", "in_order", "late"]

NEVER = 1 << 62
"""The rank of a pair that is not merged."""
_MOST_STEPS = 1 << 26
"""The maximum number of comparisons, some seconds. The tokens of Llama 2 need 0.8 million."""
_MOST_ROUNDS = 50
"""Leaving out merges can leave others without parts, so it is repeated; twice is usual."""

Pair = Sequence[str]


class Alone:
    """Encodes the text of tokens alone, by the ranks of pairs; counts the comparisons."""

    def __init__(self, rank: Callable[[str, str], int], path: str | None) -> None:
        self.rank, self._path = rank, path
        self._steps = 0

    def last_parts(self, name: str) -> tuple[str, str] | None:
        """The two parts that a token is made of; None if merging ends with several tokens.

        The pair with the lowest rank is merged first, the leftmost of those. Raises
        `LimitExceededError` if all calls together would take too long.
        """
        rank, parts = self.rank, [*name]
        pairs = [rank(left, right) for left, right in pairwise(parts)]
        self._count(len(pairs), name)
        while pairs:
            best = min(pairs)
            if best == NEVER:
                break
            at = pairs.index(best)
            if len(parts) == 2:
                return parts[0], parts[1]
            joined = parts[at] + parts[at + 1]
            self._count(len(pairs) + len(joined), name)
            parts[at : at + 2] = [joined]
            del pairs[at]
            if at:
                pairs[at - 1] = rank(parts[at - 1], joined)
            if at < len(pairs):
                pairs[at] = rank(joined, parts[at + 1])
        return None

    def _count(self, steps: int, name: str) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise LimitExceededError(
                f"the tokens are too long: {show(name)} has {len(name):,} characters.",
                path=self._path,
                value=len(name),
                hint="Finding the merges that make them would take long.",
            )


def in_order(merges: Sequence[Pair], vocab: Collection[str], path: str | None) -> Sequence[Pair]:
    """The merges without those that are never applied and have a part that is made later.

    >>> vocab = {"a", "b", "c", "ab", "bc", "abc"}
    >>> in_order([("b", "c"), ("ab", "c"), ("a", "bc"), ("a", "b")], vocab, None)
    [('b', 'c'), ('a', 'bc'), ('a', 'b')]

    The ids of all texts stay the same. Merges of which that cannot be shown are kept, and so are
    all if one of them is not of tokens of the vocabulary. Linear if there are none to leave out;
    otherwise some 20 µs for each token of such a merge.
    """
    if not late(merges) or not all(
        left and right and left in vocab and right in vocab and left + right in vocab
        for left, right in merges
    ):
        return merges
    ranks: dict[tuple[str, str], int] = {}
    for rank, (left, right) in enumerate(merges):
        ranks.setdefault((left, right), rank)
    alone = Alone(lambda left, right: ranks.get((left, right), NEVER), path)
    kept: list[Pair] = [*merges]
    ways: dict[str, tuple[str, str] | None] = {}
    for _ in range(_MOST_ROUNDS):
        found = late(kept) - ways.keys()
        if not found:
            break
        ways |= {name: alone.last_parts(name) for name in found}
        kept = [
            pair
            for pair in kept
            if (name := pair[0] + pair[1]) not in ways or ways[name] == (pair[0], pair[1])
        ]
    return with_runs(kept, late(kept) & ways.keys(), alone.rank)


def late(merges: Sequence[Pair]) -> set[str]:
    """The tokens of merges with a part that is first made by a later merge."""
    made: dict[str, int] = {}
    for rank, (left, right) in enumerate(merges):
        made.setdefault(left + right, rank)
    first = made.get
    return {
        left + right
        for rank, (left, right) in enumerate(merges)
        if first(left, -1) >= rank or first(right, -1) >= rank
    }
