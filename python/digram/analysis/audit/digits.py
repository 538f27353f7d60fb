"""How numbers are split into tokens: the groups of digits, and whether one rule splits all numbers.

>>> import digram
>>> tok = digram.train(["10 11 12 2024"] * 2, max_merges=4, pretokenizer="gpt2")
>>> [(group.size, group.spaced, len(group.ids)) for group in groups(tok)]
[(1, False, 10), (1, True, 2), (2, False, 2)]
>>> splits(tok)[2]
Counter({(1, 1): 89, (2,): 1})
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Group", "groups", "splits"]

_DIGITS = re.compile(rb"( ?)([0-9]+)")
_NUMBERS = 1000  # numbers of each length at most, evenly spaced
_LENGTHS = range(2, 7)


class Group(NamedTuple):
    """The tokens that consist of this number of digits, with or without a space before them."""

    size: int
    spaced: bool
    ids: tuple[int, ...]

    @property
    def is_complete(self) -> bool:
        """Whether all numbers of this length are tokens, including those with leading zeros."""
        total: int = 10**self.size
        return len(self.ids) == total


def groups(tok: Tokenizer, never: Collection[int] = ()) -> list[Group]:
    """The tokens that are digits, 0 to 9, by their length; without those in `never`."""
    ids_by_group: dict[tuple[int, bool], list[int]] = {}
    left_out = {*tok.special_tokens.values(), *never}
    for id, token in enumerate(tok._model.tokens()):
        match = None if token is None or id in left_out else _DIGITS.fullmatch(token)
        if match is not None:
            ids_by_group.setdefault((len(match[2]), bool(match[1])), []).append(id)
    return [Group(size, spaced, tuple(ids)) for (size, spaced), ids in sorted(ids_by_group.items())]


def splits(tok: Tokenizer) -> dict[int, Counter[tuple[int, ...]]]:
    """How numbers of two to six digits are split, by the number of digits per token.

    Up to 1,000 evenly spaced numbers of each length, each as a separate text. A digit that takes
    several tokens counts as one for each.
    """
    counts = {}
    for length in _LENGTHS:
        first, end = 10 ** (length - 1), 10**length
        numbers = [b"%d" % n for n in range(first, end, max(1, (end - first) // _NUMBERS))]
        ids, offsets = tok._encode_batch_numpy(numbers, None, 1)
        tokens = tok.tokens(ids)
        counts[length] = Counter(
            tuple(map(len, tokens[start:stop])) for start, stop in pairwise(offsets.tolist())
        )
    return counts
