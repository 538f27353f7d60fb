"""The merge tree of a token, as a list of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

from digram.errors import LimitExceededError

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["MOST_NODES", "Made", "made", "tree"]

MOST_NODES = 2000
"""What a page can still show; a token of 1,000 bytes."""


@dataclass(frozen=True, slots=True)
class Made:
    """How a token is made: the rank of its merge, the two parts, and their count in training."""

    rank: int
    left: int
    right: int
    count: int | None


def made(tok: Tokenizer) -> dict[int, Made]:
    """How each token that a merge makes is made, by id; of several merges it is the first.

    >>> import digram
    >>> made(digram.train("low low", max_merges=2))
    {256: Made(rank=0, left=108, right=111, count=2), 257: Made(rank=1, left=256, right=119, ...)}
    """
    record = tok.training
    counts = repeat(None) if record is None else record.counts
    found: dict[int, Made] = {}
    merges = tok._model.merges()
    for rank, ((left, right, id), count) in enumerate(zip(merges, counts, strict=False)):
        found.setdefault(id, Made(rank, left, right, count))
    return found


def tree(tok: Tokenizer, id: int, how: Mapping[int, Made]) -> list[dict[str, Any]]:
    """The token and all that it is merged from: each node with the places of its two parts.

    >>> import digram
    >>> tok = digram.train("low low", max_merges=2)
    >>> for node in tree(tok, 257, made(tok)):
    ...     print(node)
    {'id': 257, 'hex': '6c6f77', 'rank': 1, 'count': 2, 'parts': [1, 2]}
    {'id': 256, 'hex': '6c6f', 'rank': 0, 'count': 2, 'parts': [3, 4]}
    {'id': 119, 'hex': '77', 'rank': None, 'count': None, 'parts': None}
    {'id': 108, 'hex': '6c', 'rank': None, 'count': None, 'parts': None}
    {'id': 111, 'hex': '6f', 'rank': None, 'count': None, 'parts': None}

    The first is the token itself; one that no merge makes has no parts. Raises `TokenIdError` for
    an id that is not there, and `LimitExceededError` for a tree of more than 2,000 nodes.
    """
    nodes: list[dict[str, Any]] = []
    ids = [id]
    for node in ids:  # which grows meanwhile
        parts = None
        if (one := how.get(node)) is not None:
            parts = [len(ids), len(ids) + 1]
            ids += [one.left, one.right]
            if len(ids) > MOST_NODES:
                raise LimitExceededError(
                    f"the merge tree of token {id} has more than {MOST_NODES:,} nodes.",
                    value=id,
                    hint="Look at one of the tokens that it is merged from.",
                )
        nodes.append(
            {
                "id": node,
                "hex": tok.token_bytes(node).hex(),
                "rank": None if one is None else one.rank,
                "count": None if one is None else one.count,
                "parts": parts,
            }
        )
    return nodes
