"""The pretokens of a text during a replay, with the counts of their pairs."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from digram.analysis.explain.pieces import Piece
from digram.analysis.explain.symbols import Applied, Symbols, way

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Pair", "State", "Word", "word_of"]

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """A pretoken of the text, with all its places."""

    starts: list[int]
    first: list[int]
    """The ids before the first merge; an id that nothing merges with is as in `Symbols.first`."""
    offsets: list[int]
    """The offset of each of them, in bytes."""
    applied: list[Applied]
    times: list[int]
    """The rank at which each merge is applied: its own, or a higher one of a merge before it.

    With the merges up to some rank, encoding takes the same steps until it reaches a merge that is
    not among them: then all applicable merges have higher ranks, so it ends there.
    """

    def ids_at(self, rank: int) -> list[int]:
        """The ids of the pretoken once the merges up to this rank are learned."""
        ids = [*self.first]
        for one in self.applied[: bisect_right(self.times, rank)]:
            ids[one.at : one.at + 2] = [one.rule.id]
        return ids


def word_of(tok: Tokenizer, piece: Piece, symbols: Symbols) -> Word:
    if not piece.is_special:
        how, first, applied = way(tok, piece.text, piece.ids, symbols)
        if how == "merges" or applied or len(first) == 1:
            offsets = [0, *accumulate(symbols.widths(piece.text))][:-1]
            times = [*accumulate((one.rule.rank for one in applied), max)]
            return Word([], first, offsets, applied, times)
    return Word([], [~id for id in piece.ids], [0], [], [])


class State:
    """A pretoken during a replay; its pairs are in the counts of the whole text."""

    def __init__(self, word: Word, counts: Counter[Pair]) -> None:
        self.word, self.counts = word, counts
        self.ids = [*word.first]
        number = len(self.ids)
        self.after = [*range(1, number), -1]
        self.before = [*range(-1, number - 1)]
        self.played = 0
        for pair in pairwise(self.ids):
            self._count(*pair, len(word.starts))

    def play(self, rank: int) -> list[Applied]:
        """Apply the merges up to this rank."""
        start, self.played = self.played, bisect_right(self.word.times, rank)
        applied = self.word.applied[start : self.played]
        times = len(self.word.starts)
        for rule, _, left, right in applied:
            ends = self.before[left], self.after[right]
            self._around(left, right, ends, -times)
            self.ids[left] = rule.id
            self.after[left] = ends[1]
            if ends[1] >= 0:
                self.before[ends[1]] = left
            self._around(left, left, ends, times)
        return applied

    def _around(self, left: int, right: int, ends: tuple[int, int], times: int) -> None:
        """Count the pairs that two adjacent tokens, or their merge, form with each other and with
        the tokens around them.
        """
        before, after = ends
        if left != right:
            self._count(self.ids[left], self.ids[right], times)
        if before >= 0:
            self._count(self.ids[before], self.ids[left], times)
        if after >= 0:
            self._count(self.ids[right], self.ids[after], times)

    def _count(self, left: int, right: int, times: int) -> None:
        if left < 0 or right < 0:  # takes part in no merge
            return
        self.counts[left, right] += times
        if not self.counts[left, right]:
            del self.counts[left, right]
