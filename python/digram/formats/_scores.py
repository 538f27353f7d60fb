"""Convert the scores of SentencePiece's BPE to merges, and back.

SentencePiece, and llama.cpp for such models, merge two neighbours if the joined text is a token,
the one with the highest score first, and of equal scores the leftmost. What happens inside the text
of a token depends on nothing outside it until a merge crosses its border. So a token is always made
of the same two parts: those that remain when its own text is encoded. These pairs, ordered by the
score of the token, are merges in order of rank, with the same result, except in two cases. A token
whose part has a lower score is refused. So are tokens of equal scores that can overlap, since the
leftmost comes first there, except for runs of one character such as those of spaces in the
vocabulary of Llama 2: see `_run`.
(github.com/google/sentencepiece, src/bpe_model.cc)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby, pairwise
from operator import attrgetter
from typing import NamedTuple

from digram.errors import LimitExceededError, VocabError
from digram.formats._show import show

__all__ = ["merges_of", "scores_of"]

Merge = tuple[int, int, int]

_NONE = 1 << 62  # above all ranks
_MOST_STEPS = 1 << 26
"""The maximum number of comparisons, some seconds. The tokens of Llama 2 need 0.8 million."""


class _Made(NamedTuple):
    """How a token is made; the order is that of merges, with tokens of one score by length."""

    rank: int
    length: int
    name: str
    left: str
    right: str


def merges_of(ids: Mapping[str, int], scores: Sequence[float], path: str | None) -> list[Merge]:
    """The merges that give the same ids as the scores of tokens.

    >>> ids = {"a": 0, "b": 1, "c": 2, "bc": 3, "ab": 4, "abc": 5}
    >>> merges_of(ids, [0, 0, 0, -1, -2, -3], None)
    [(1, 2, 3), (0, 1, 4), (0, 3, 5)]

    Raises `VocabError` if no merges do, and `LimitExceededError` for tokens so long that this would
    take long. Otherwise some 10 µs per token.
    """
    for name, token_id in ids.items():
        if scores[token_id] != scores[token_id]:
            raise VocabError(f"the score of {show(name)} is not a number.", path=path, value=name)
    distinct = {scores[token_id] for token_id in ids.values()}
    order = {score: rank for rank, score in enumerate(sorted(distinct, reverse=True))}
    ranks = {name: order[scores[token_id]] for name, token_id in ids.items() if len(name) > 1}
    steps = 0
    found: list[_Made] = []
    for name, rank in ranks.items():
        parts, taken = _last_parts(name, ranks, _MOST_STEPS - steps)
        steps += taken
        if steps > _MOST_STEPS:
            raise LimitExceededError(
                f"the tokens are too long: {show(name)} has {len(name):,} characters.",
                path=path,
                value=len(name),
                hint="Converting their scores to merges would take long.",
            )
        if parts is not None:
            _check_parts(name, rank, parts, ids, ranks, path)
            found.append(_Made(rank, len(name), name, *parts))
    found.sort()
    ordered = chain.from_iterable(
        _without_ties([*group], path) for _, group in groupby(found, attrgetter("rank"))
    )
    return [(ids[left], ids[right], ids[left + right]) for left, right in ordered]


def _last_parts(
    name: str, ranks: Mapping[str, int], most: int
) -> tuple[tuple[str, str] | None, int]:
    """The two parts of a token when its own text is merged, and the number of comparisons.

    None if merging ends with more than one token.
    """
    parts = list(name)
    pairs = [ranks.get(left + right, _NONE) for left, right in pairwise(parts)]
    steps = len(pairs)
    while pairs and steps <= most:
        best = min(pairs)
        if best == _NONE:
            break
        at = pairs.index(best)
        if len(parts) == 2:
            return (parts[0], parts[1]), steps
        joined = parts[at] + parts[at + 1]
        steps += len(pairs) + len(joined)
        parts[at : at + 2] = [joined]
        del pairs[at]
        if at:
            pairs[at - 1] = ranks.get(parts[at - 1] + joined, _NONE)
        if at < len(pairs):
            pairs[at] = ranks.get(joined + parts[at + 1], _NONE)
    return None, steps


def _check_parts(
    name: str,
    rank: int,
    parts: tuple[str, str],
    ids: Mapping[str, int],
    ranks: Mapping[str, int],
    path: str | None,
) -> None:
    for part in parts:
        if part not in ids:
            raise VocabError(
                f"token {show(name)} is made of {show(part)}, which is not a token.",
                path=path,
                value=name,
                hint="Merges have two tokens each, so digram cannot encode as this file specifies.",
            )
        if ranks.get(part, -1) > rank:
            raise VocabError(
                f"token {show(name)} has a higher score than its part {show(part)}.",
                path=path,
                value=name,
                hint="Merges are applied in the order of ranks, so digram cannot encode as this "
                "file specifies.",
            )


def _without_ties(group: list[_Made], path: str | None) -> Iterator[tuple[str, str]]:
    """The parts of tokens of one score in the order of merges.

    Raises `VocabError` if two tokens, other than runs of a character, can share a part of a text.
    """
    lefts: dict[str, list[str]] = {}
    for made in group:
        lefts.setdefault(made.left, []).append(made.name)
    runs: set[str] = set()
    for made in group:
        for other in lefts.get(made.right, ()):
            if other == made.name:
                continue
            if {*made.name} != {*other} or len({*other}) > 1:
                raise VocabError(
                    f"tokens {show(made.name)} and {show(other)} have the same score, and can "
                    "share a part of a text.",
                    path=path,
                    value=made.name,
                    hint="Then the leftmost comes first, whichever it is, so digram cannot encode "
                    "as this file specifies.",
                )
            runs.add(other[0])
    for character in sorted(runs):
        lengths = {made.length for made in group if {*made.name} == {character}}
        longest = max(lengths)
        if lengths != {*range(2, longest + 1)} or longest & (longest - 1):
            raise VocabError(
                f"tokens of {show(character)} repeated have the same score, and not each length "
                "from 2 to a power of two.",
                path=path,
                value=character,
                hint="No merges in order of rank encode as this file specifies.",
            )
        yield from ((character * left, character * right) for left, right in _run(longest))
    yield from ((made.left, made.right) for made in group if not runs & {*made.name})


def _run(longest: int) -> Iterator[tuple[int, int]]:
    """Merges of lengths that cut a run into pieces of the longest length and one of the rest.

    So does the rule of scores: the leftmost piece grows by one character at a time until it has the
    longest length, a power of two. These merges first make powers of two, as many of the longest as
    there are. What is left is the rest in binary, the highest power first, which is then added up
    from the left.

    >>> [*_run(4)]
    [(1, 1), (2, 2), (2, 1)]
    """
    powers = [1 << n for n in range(longest.bit_length() - 1)]
    yield from ((power, power) for power in powers)
    for highest in reversed(powers):  # the sums that begin with this power, the shortest first
        for left in range(highest, 2 * highest):
            lowest = left & -left
            yield from ((left, power) for power in reversed(powers) if power < lowest)


def scores_of(size: int, merges: Sequence[Merge]) -> list[float]:
    """Scores that fall along the merges; tokens that no merge makes have lower ones.

    >>> scores_of(4, [(0, 1, 3)])
    [-1.0, -1.0, -1.0, 0.0]
    """
    scores = [-float(len(merges))] * size
    for rank, (_, _, made) in reversed([*enumerate(merges)]):
        scores[made] = -float(rank)
    return scores
