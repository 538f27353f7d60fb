"""Where two tokenizers split the same text differently, between shared boundaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from digram.analysis.metrics.kinds import Kinds
from digram.pretokenizers.pretokenizer import Pretokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from digram.tokenizer.tokenizer import Tokenizer

    Ends = NDArray[np.int64]

__all__ = ["Cut", "Differences", "Place", "Sums", "both"]


@dataclass(frozen=True, slots=True)
class Place:
    """A text that two tokenizers split differently, its count, and the tokens of each."""

    text: bytes
    count: int
    this: tuple[bytes, ...]
    """The tokens of this tokenizer, as bytes, at the first occurrence."""
    other: tuple[bytes, ...]
    """The tokens of the other."""

    @property
    def saved(self) -> int:
        """How many fewer tokens the other needs at all such places; negative for more."""
        return self.count * (len(self.this) - len(self.other))


class Sums(NamedTuple):
    """Sums over texts or parts of them."""

    bytes: int = 0
    this: int = 0
    """The tokens of this tokenizer."""
    other: int = 0
    same: int = 0
    """The bytes that both split alike."""

    def plus(self, more: Sums) -> Sums:
        """The sums of both."""
        return Sums(*(a + b for a, b in zip(self, more, strict=True)))


class Cut(NamedTuple):
    """The boundaries of a tokenizer in concatenated texts, as byte offsets."""

    ids: NDArray[np.uint32]
    ends: Ends
    """The end of each token."""
    pretokens: Ends
    """The end of each pretoken; without a pretokenizer, of each token."""


# A text with the number of tokens of each tokenizer; and the bytes of these tokens.
_Key = tuple[bytes, int, int]
_Tokens = tuple[bytes, ...]


class Differences:
    """The places where two tokenizers differ, summed over batches of texts."""

    def __init__(self) -> None:
        self._counts: Counter[_Key] = Counter()
        self._first: dict[_Key, tuple[_Tokens, _Tokens]] = {}

    def add(self, raw: bytes, starts: Ends, ends: Ends, this: Cut, other: Cut) -> None:
        """Add the places `raw[start:end]`; both tokenizers have a token boundary at their ends."""
        import numpy as np

        bounds = [
            (np.searchsorted(cut.ends, starts, "right"), np.searchsorted(cut.ends, ends, "right"))
            for cut in (this, other)
        ]
        numbers = [(last - first).tolist() for first, last in bounds]
        texts = [raw[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        keys = list(zip(texts, *numbers, strict=True))
        self._counts.update(keys)
        where = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))
        for key in where.keys() - self._first.keys():
            index = where[key]
            one, two = (
                _pieces(raw, int(starts[index]), cut.ends[first[index] : last[index]].tolist())
                for cut, (first, last) in zip((this, other), bounds, strict=True)
            )
            self._first[key] = one, two

    def most(self, number: int) -> tuple[list[Place], list[Place], list[Place]]:
        """The places where this tokenizer needs fewer tokens, where the other does, and where both
        need as many.

        The first two lists hold the places that save the most, the third the most frequent ones.
        """
        ranked: tuple[list[tuple[int, _Key]], ...] = [], [], []
        for key, count in self._counts.items():
            saved = key[1] - key[2]
            ranked[0 if saved < 0 else 1 if saved > 0 else 2].append(
                (-count * (abs(saved) or 1), key)
            )
        first, second, third = (self._places(of, number) for of in ranked)
        return first, second, third

    def _places(self, ranked: list[tuple[int, _Key]], number: int) -> list[Place]:
        from heapq import nsmallest

        keys = [key for _, key in nsmallest(number, ranked)]
        return [Place(key[0], self._counts[key], *self._first[key]) for key in keys]


def both(
    texts: Sequence[bytes],
    this: Tokenizer,
    other: Tokenizer,
    kinds: Kinds,
    differences: Differences,
    threads: int | None,
) -> tuple[dict[int, Sums], NDArray[np.uint32], NDArray[np.uint32]]:
    """Encode a batch of texts with two tokenizers: sums by kind, and the ids of each.

    Kinds are those of **pieces**: the shortest stretches at whose ends both tokenizers have a
    pretoken boundary. Differences are found in **places**: the shortest stretches of whole
    characters at whose ends both have a token boundary.
    """
    import numpy as np

    raw = b"".join(texts)
    data = np.frombuffer(raw, np.uint8)
    lengths = np.array([*map(len, texts)], np.int64)
    text_ends = np.cumsum(lengths)
    # A text may begin with the continuation bytes of a character; its start is a boundary anyway.
    is_border = np.append((data & 0xC0) != 0x80, True)
    is_border[text_ends] = True
    one, two = (_cut(tok, texts, lengths, text_ends, threads) for tok in (this, other))
    shared = np.intersect1d(one.ends, two.ends, assume_unique=True)
    ends = shared[is_border[shared]]
    starts = _starts(ends)
    numbers = [_between(cut, ends) for cut in (one.ends, two.ends, shared)]
    is_same = (numbers[0] == numbers[2]) & (numbers[1] == numbers[2])
    apart = np.flatnonzero(~is_same)
    differences.add(raw, starts[apart], ends[apart], one, two)
    pieces = np.intersect1d(one.pretokens, two.pretokens, assume_unique=True)
    pieces = pieces[is_border[pieces]]
    same = np.append(0, np.cumsum(np.where(is_same, ends - starts, 0)))
    same = np.diff(np.append(0, same[np.searchsorted(ends, pieces, "right")]))
    first = _starts(pieces)
    found = kinds.of(data, first, pieces)
    columns = (pieces - first, _between(one.ends, pieces), _between(two.ends, pieces), same)
    sums = [np.bincount(found, column, len(kinds.names)).astype(np.int64) for column in columns]
    by_kind = {n: Sums(*(int(column[n]) for column in sums)) for n in np.unique(found).tolist()}
    return by_kind, one.ids, two.ids


def _cut(
    tok: Tokenizer, texts: Sequence[bytes], lengths: Ends, text_ends: Ends, threads: int | None
) -> Cut:
    import numpy as np

    encoded = tok._encoded([*texts], None, "bytes", threads)
    bounds = np.array(encoded.bounds(), np.int64)
    ends = encoded.numpy_spans()[:, 1] + np.repeat(text_ends - lengths, np.diff(bounds))
    pretokens = ends
    if tok.pretokenizer != Pretokenizer(None):
        of = np.array(encoded.pretokens(0, len(ends)), np.int64)
        is_last = np.zeros(len(ends), np.bool_)
        is_last[:-1] = of[1:] != of[:-1]
        # Pretokens are numbered anew in each text, so the pretokens of two texts may share a
        # number.
        is_last[bounds[1:][lengths > 0] - 1] = True
        pretokens = ends[is_last]
    return Cut(encoded.numpy_ids(), ends, pretokens)


def _starts(ends: Ends) -> Ends:
    import numpy as np

    return np.append(0, ends[:-1]) if len(ends) else ends


def _between(borders: Ends, ends: Ends) -> Ends:
    """The number of boundaries in each interval up to an end."""
    import numpy as np

    return np.diff(np.append(0, np.searchsorted(borders, ends, "right")))


def _pieces(raw: bytes, start: int, ends: list[int]) -> tuple[bytes, ...]:
    return tuple(raw[a:b] for a, b in zip([start, *ends], ends, strict=False))
