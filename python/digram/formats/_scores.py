"""Convert the scores of SentencePiece's BPE to merges, and back.

SentencePiece, and llama.cpp for such models, merge two neighbours if the joined text is a token,
the one with the highest score first, and of equal scores the leftmost. So a token is always made of
the two parts that remain when its own text is encoded (see `_alone`). These pairs, ordered by the
score of the token, are merges in order of rank, with the same result, except in two cases. A token
whose part has a lower score is refused. So are tokens of equal scores that can overlap, since the
leftmost comes first there, except for runs of one character such as those of spaces in the
vocabulary of Llama 2: see `_runs`.
(github.com/google/sentencepiece, src/bpe_model.cc)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import NamedTuple

from digram.errors import VocabError
from digram.formats._alone import NEVER, Alone
from digram.formats._runs import is_length, run_of
from digram.formats._show import show

__all__ = ["check_scores", "merges_of", "scores_of", "without"]

Merge = tuple[int, int, int]


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
    alone = Alone(lambda left, right: ranks.get(left + right, NEVER), path)
    found: list[_Made] = []
    for name, rank in ranks.items():
        parts = alone.last_parts(name)
        if parts is not None:
            _check_parts(name, rank, parts, ids, ranks, path)
            found.append(_Made(rank, len(name), name, *parts))
    found.sort()
    ordered = chain.from_iterable(
        _without_ties([*group], path) for _, group in groupby(found, attrgetter("rank"))
    )
    return [(ids[left], ids[right], ids[left + right]) for left, right in ordered]


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
        if lengths != {*range(2, longest + 1)} or not is_length(longest):
            raise VocabError(
                f"tokens of {show(character)} repeated have the same score, and not each length "
                "from 2 to a power of two.",
                path=path,
                value=character,
                hint="No merges in order of rank encode as this file specifies.",
            )
        yield from ((character * left, character * right) for left, right in run_of(longest))
    yield from ((made.left, made.right) for made in group if not runs & {*made.name})


def without(ids: dict[str, int], found: Collection[str]) -> dict[str, int]:
    """The tokens without any of these texts in them, which are found in all text before merges.

    >>> without({"a": 0, "ab": 1, "b": 2}, ["b"])
    {'a': 0}
    """
    if not found:
        return ids
    one = re.compile("|".join(map(re.escape, found)))
    return {name: token_id for name, token_id in ids.items() if one.search(name) is None}


def scores_of(size: int, merges: Sequence[Merge]) -> list[float]:
    """Scores that fall along the merges; tokens that no merge makes have lower ones.

    >>> scores_of(4, [(0, 1, 3)])
    [-1.0, -1.0, -1.0, -0.0]
    """
    scores = [-float(len(merges))] * size
    for rank, (_, _, made) in reversed([*enumerate(merges)]):
        scores[made] = -float(rank)
    return scores


def check_scores(
    names: Sequence[str],
    ids: Mapping[str, int],
    scores: Sequence[float],
    merges: Sequence[Merge],
    what: str,
    hint: str,
) -> None:
    """Raise `VocabError` unless the scores of these tokens mean these merges.

    `names` are those of all ids, and `what` is the file that has scores, for messages.
    """
    implied = merges_of(ids, scores, None)
    wanted = set(implied)
    # A token that several pairs make is made by one of them alone.
    used = [merge for merge in merges if merge in wanted]
    if used != implied or {made for _, _, made in implied} != {made for _, _, made in merges}:
        differ = {made for _, _, made in {*implied} ^ {*merges}}
        first = show(names[min(differ)]) if differ else "them"
        raise VocabError(
            f"{what} stores scores of tokens instead of merges, and no scores mean the merges of "
            f"{first}.",
            hint=hint,
        )
