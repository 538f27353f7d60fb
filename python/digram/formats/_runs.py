"""Merges of runs of one character, such as those of spaces in the vocabulary of Llama 2.

SentencePiece and the programs that follow it cut a run from the left into pieces of the longest
length, and a rest: the leftmost piece grows by one character at a time, since longer pieces have
the same score as shorter ones, or a merge of a lower rank. No merges in order of rank say it that
way. But others have the same result, if the longest length is a power of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

__all__ = ["is_length", "run_of", "with_runs"]

Pair = Sequence[str]


def is_length(longest: int) -> bool:
    """Whether `run_of` has merges for runs of this length: it is a power of two.

    >>> [length for length in range(20) if is_length(length)]
    [1, 2, 4, 8, 16]
    """
    return longest > 0 and not longest & (longest - 1)


def run_of(longest: int) -> Iterator[tuple[int, int]]:
    """Merges of lengths that cut a run into pieces of the longest length and one of the rest.

    They first make powers of two, as many of the longest as there are. What is left is the rest in
    binary, the highest power first, which is then added up from the left.

    >>> [*run_of(4)]
    [(1, 1), (2, 2), (2, 1)]
    """
    powers = [1 << n for n in range(longest.bit_length() - 1)]
    yield from ((power, power) for power in powers)
    for highest in reversed(powers):  # the sums that begin with this power, the shortest first
        for left in range(highest, 2 * highest):
            lowest = left & -left
            yield from ((left, power) for power in reversed(powers) if power < lowest)


def with_runs(merges: list[Pair], late: set[str], rank: Callable[[str, str], int]) -> list[Pair]:
    """The merges, with those of `run_of` in place of runs among the tokens that are made too late.

    `rank` gives the rank of a pair. Runs that are not cut in this way stay as they are.
    """
    for character in sorted({name[0] for name in late if len({*name}) == 1}):
        of = [n for n, (left, right) in enumerate(merges) if {*left, *right} == {character}]
        lengths = {len("".join(merges[n])) for n in of}
        longest, first, end = max(lengths), of[0], of[-1] + 1
        earlier = {part for pair in merges[:first] for part in pair}
        names = [character * length for length in range(2, longest)]
        if (
            lengths == {*range(2, longest + 1)}
            and is_length(longest)
            and of == [*range(first, end)]
            and earlier.isdisjoint([*names, character * longest])
            # A piece of two or more characters grows before another begins.
            and all(rank(name, character) < rank(character, character) for name in names)
        ):
            merges[first:end] = [(character * a, character * b) for a, b in run_of(longest)]
    return merges
