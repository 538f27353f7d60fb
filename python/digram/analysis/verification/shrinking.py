"""The shortest text on which two tokenizers differ, from a text on which they do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product
from typing import Any, TypeAlias

from digram.analysis.verification.alphabet import SIMPLEST

__all__ = ["Shrinker"]

Text: TypeAlias = Any
"""A `str` or `bytes`; all texts of one shrinker are of the same kind."""

_BATCH, _CHARACTERS = 256, 1 << 18
_ALL_TEXTS = 8_000
"""The most texts of one length that are all tried."""
_NEAR = 24  # characters: texts up to this length are shortened at every place
_RANKS = {character: rank for rank, character in enumerate(SIMPLEST)}


class Shrinker:
    """Shortens texts; `differing` returns which of several texts still differ, as their indices."""

    def __init__(self, differing: Callable[[list[Text]], list[int]], seconds: float) -> None:
        self._differing = differing
        self._end = time.monotonic() + seconds
        self.in_time = True
        """Whether the time sufficed for all that is tried."""

    def shortest(self, texts: list[Text], places: list[int]) -> Text:
        """The shortest and simplest text that differs, starting from each of these.

        `places` are the positions in the texts near which they differ.
        """
        found = [
            self._simplified(self._shortened(self._near(text, place)))
            for text, place in zip(texts, places, strict=True)
        ]
        best = min(found, key=_rank)
        shorter = self._all_shorter(best, found)
        return best if shorter is None else min(best, self._simplified(shorter), key=_rank)

    def _near(self, text: Text, place: int) -> Text:
        """A part of a long text around the place, if it differs too."""
        widths = (8, 32, 128, 512, 4096)
        parts = [text[max(0, place - n) : place + n] for n in widths if 2 * n < len(text)]
        begun = [text[: place + n] for n in widths if place + n < len(text)]
        return self._first([*parts, *begun]) or text

    def _shortened(self, text: Text) -> Text:
        """Leave out parts, long ones first, until nothing can be left out."""
        size = max(1, len(text) // 2)
        while text and size:
            step = 1 if len(text) <= _NEAR else max(1, size // 2)
            cut = (text[:at] + text[at + size :] for at in range(0, len(text), step))
            shorter = self._first(cut)
            if shorter is None:
                size //= 2
            else:
                text, size = shorter, min(size, max(1, len(shorter) // 2))
        return text

    def _simplified(self, text: Text) -> Text:
        """Replace characters by simpler ones, one at a time or all that are equal."""
        while True:
            simpler = self._first(_simpler(text))
            if simpler is None:
                return text
            text = self._shortened(simpler)

    def _all_shorter(self, best: Text, found: list[Text]) -> Text | None:
        """The first of all shorter texts of the characters found that differs."""
        kind = type(best)
        letters = {one[i : i + 1] for one in found for i in range(len(one)) if len(one) < _NEAR}
        letters |= set(_each(kind, "a 0A.")) if kind is str or best else set()
        alphabet = sorted(letters, key=_rank)
        for length in range(1, len(best)):
            if len(alphabet) ** length > _ALL_TEXTS:
                return None
            text = self._first(kind().join(parts) for parts in product(alphabet, repeat=length))
            if text is not None:
                return text
        return None

    def _first(self, candidates: Iterable[Text]) -> Text | None:
        """The first candidate that differs; None if there is none, or no time."""
        for batch in _lists(iter(candidates)):
            if time.monotonic() > self._end:
                self.in_time = False
                return None
            found = self._differing(batch)
            if found:
                return batch[found[0]]
        return None


def _lists(texts: Iterator[Text]) -> Iterator[list[Text]]:
    """Lists that start small, since the first text may differ already."""
    count = 8
    while first := list(islice(texts, 1)):
        most = max(1, min(count, _CHARACTERS // max(1, len(first[0]))))
        yield first + list(islice(texts, most - 1))
        count = min(_BATCH, 4 * count)


def _rank(text: str | bytes) -> tuple[int, list[int]]:
    """The order of texts: the shortest, then the simplest."""
    known = text if isinstance(text, str) else text.decode("latin-1")
    return len(text), [_RANKS.get(one, len(_RANKS) + ord(one)) for one in known]


def _each(kind: type, characters: str) -> list[Text]:
    if kind is str:
        return list(characters)
    return [character.encode() for character in characters]


def _simpler(text: Text) -> Iterator[Text]:
    """The texts with a simpler character in one place, or wherever it occurs."""
    kind = type(text)
    simplest = _each(kind, SIMPLEST)
    for character in dict.fromkeys(text[i : i + 1] for i in range(len(text))):
        better = [one for one in simplest if _rank(one) < _rank(character)]
        if text.count(character) > 1:
            yield from (text.replace(character, one) for one in better)
    for at in range(min(len(text), 64)):
        rank = _rank(text[at : at + 1])
        yield from (text[:at] + one + text[at + 1 :] for one in simplest if _rank(one) < rank)
