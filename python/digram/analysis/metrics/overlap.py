"""What two vocabularies share, and what each has alone."""

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
    """A token, and how often it stands in the text."""

    token: bytes
    count: int


class Numbers(NamedTuple):
    """How many tokens both vocabularies have, and how many each has alone."""

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
    """The same for tokens of each kind; parts of characters are other bytes."""
    this_alone: tuple[bytes, ...] = field(repr=False)
    """The tokens that this tokenizer has alone, in the order of their ids."""
    other_alone: tuple[bytes, ...] = field(repr=False)
    this_used: tuple[Used, ...]
    """Those of them that stand most often in the text."""
    other_used: tuple[Used, ...]
    this_tokens: int
    """How many tokens of the text are such that this tokenizer has alone."""
    other_tokens: int

    @property
    def jaccard(self) -> float:
        """The shared ones as a share of all that either has; 1 for equal sets. Jaccard 1901."""
        every = sum(self.total)
        return self.total.shared / every if every else 1.0

    def to_dict(self) -> dict[str, Any]:
        """All but the tokens that do not stand in the text, as plain values, as JSON has them."""
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
    """Compare vocabularies; `times` is how often each id of each stands in the text."""
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
    """How often each token stands in the text; several ids may have the same bytes."""
    special = {*tok.special_tokens.values()}
    found: dict[bytes, int] = {}
    for id, (token, count) in enumerate(zip(tok._model.tokens(), times.tolist(), strict=False)):
        if token is not None and id not in special:
            found[token] = found.get(token, 0) + count
    return found


def _of_kinds(kinds: Kinds, tokens: Iterable[bytes]) -> list[int]:
    """How many tokens there are of each kind, by its number."""
    import numpy as np

    tokens = [*tokens]
    ends = np.cumsum(np.array([*map(len, tokens)], np.int64))
    starts = np.append(0, ends[:-1])[: len(ends)]
    data = np.frombuffer(b"".join(tokens), np.uint8)
    numbers: list[int] = np.bincount(kinds.of(data, starts, ends)).tolist()
    return numbers


def plain(data: bytes) -> dict[str, str]:
    r"""Bytes as JSON has them: as text, and in hexadecimal, since they may be part of a character.

    >>> plain(b" caf\xc3")
    {'text': ' caf�', 'hex': '20636166c3'}
    """
    return {"text": data.decode("utf-8", "replace"), "hex": data.hex()}
