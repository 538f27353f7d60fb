"""The tokens that two vocabularies share, and those that only one of them has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from digram.analysis.metrics.kinds import Kinds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Numbers", "Overlap", "Used", "overlap", "plain"]


@dataclass(frozen=True, slots=True)
class Used:
    """A token, and its count in the text."""

    token: bytes
    count: int


class Numbers(NamedTuple):
    """How many tokens both vocabularies have, and how many only one of them has."""

    shared: int
    this: int
    other: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two vocabularies as sets of byte strings, without special tokens.

    >>> import digram
    >>> small = digram.train("low low lower lowest", vocab_size=258)
    >>> large = digram.train("low low lower lowest", vocab_size=261)
    >>> found = digram.compare(small, large, "low lowest").vocabulary
    >>> found.total, found.other_alone, round(found.jaccard, 3)
    (Numbers(shared=258, this=0, other=3), (b' low', b' lowe', b'st'), 0.989)
    >>> found.other_used
    (Used(token=b' lowe', count=1), Used(token=b'st', count=1))
    """

    total: Numbers
    by_kind: dict[str, Numbers]
    """The same for each kind of token; incomplete characters are "other bytes"."""
    this_alone: tuple[bytes, ...] = field(repr=False)
    """The tokens that only this tokenizer has, in the order of their ids."""
    other_alone: tuple[bytes, ...] = field(repr=False)
    this_used: tuple[Used, ...]
    """The most frequent of them in the text."""
    other_used: tuple[Used, ...]
    this_tokens: int
    """How many tokens of the text are among `this_alone`."""
    other_tokens: int

    @property
    def jaccard(self) -> float:
        """The shared tokens as a share of the union; 1 for equal sets. Jaccard 1901."""
        every = sum(self.total)
        return self.total.shared / every if every else 1.0

    def to_dict(self) -> dict[str, Any]:
        """All but the tokens that do not occur in the text, as plain values, ready for JSON."""
        return {
            **self.total._asdict(),
            "jaccard": self.jaccard,
            "by_kind": {kind: numbers._asdict() for kind, numbers in self.by_kind.items()},
            **{name: getattr(self, name) for name in ("this_tokens", "other_tokens")},
            **{
                name: [{**plain(one.token), "count": one.count} for one in getattr(self, name)]
                for name in ("this_used", "other_used")
            },
        }


def overlap(this: Tokenizer, other: Tokenizer, times: list[NDArray[np.int64]], top: int) -> Overlap:
    """Compare vocabularies; `times` holds the count of each id of each tokenizer in the text."""
    counts = [_counts(tok, of) for tok, of in zip((this, other), times, strict=True)]
    shared = counts[0].keys() & counts[1].keys()
    alone = [tuple(token for token in of if token not in shared) for of in counts]
    this_used, other_used = (
        sorted(
            (Used(token, of[token]) for token in mine if of[token]),
            key=lambda one: (-one.count, one.token),
        )
        for of, mine in zip(counts, alone, strict=True)
    )
    kinds = Kinds()
    numbers = [_of_kinds(kinds, tokens) for tokens in (shared, *alone)]
    rows = [Numbers(*row) for row in zip_longest(*numbers, fillvalue=0)]
    by_kind = sorted(zip(kinds.names, rows, strict=True), key=lambda item: -sum(item[1]))
    return Overlap(
        total=Numbers(len(shared), *map(len, alone)),
        by_kind=dict(by_kind),
        this_alone=alone[0],
        other_alone=alone[1],
        this_used=tuple(this_used[:top]),
        other_used=tuple(other_used[:top]),
        this_tokens=sum(one.count for one in this_used),
        other_tokens=sum(one.count for one in other_used),
    )


def _counts(tok: Tokenizer, times: NDArray[np.int64]) -> dict[bytes, int]:
    """The count of each token in the text; several ids may have the same bytes."""
    special = {*tok.special_tokens.values()}
    found: dict[bytes, int] = {}
    for id, (token, count) in enumerate(zip(tok._model.tokens(), times.tolist(), strict=False)):
        if token is not None and id not in special:
            found[token] = found.get(token, 0) + count
    return found


def _of_kinds(kinds: Kinds, tokens: Iterable[bytes]) -> list[int]:
    """The number of tokens of each kind, indexed by the number of the kind."""
    import numpy as np

    tokens = [*tokens]
    ends = np.cumsum(np.array([*map(len, tokens)], np.int64))
    starts = np.append(0, ends[:-1])[: len(ends)]
    data = np.frombuffer(b"".join(tokens), np.uint8)
    numbers: list[int] = np.bincount(kinds.of(data, starts, ends)).tolist()
    return numbers


def plain(data: bytes) -> dict[str, str]:
    r"""Bytes for JSON: as text, and in hexadecimal, since they may be part of a character.

    >>> plain(b" caf\xc3")
    {'text': ' caf�', 'hex': '20636166c3'}
    """
    return {"text": data.decode("utf-8", "replace"), "hex": data.hex()}
