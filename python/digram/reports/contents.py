"""The tokens of a vocabulary, and their use in a text: by length, by kind, and one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest, nsmallest
from typing import TYPE_CHECKING, Any, NamedTuple

from digram.analysis.metrics.kinds import WORDS, Kinds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Contents", "Entry", "Group", "contents", "length_group"]

_LONGEST, _WORDS, _MOST, _LEAST = 8, 24, 24, 24
_LISTS = ("longest", "longest_words", "most_used", "least_used")
_ALONE = 16  # bytes; longer tokens form one group


class Group(NamedTuple):
    """A group of tokens with something in common."""

    name: str
    tokens: int
    """The number of tokens in the vocabulary."""
    used: int
    """The number of those that occur in the text."""
    times: int
    """The number of their occurrences in the text."""


class Entry(NamedTuple):
    """A token, and its count in the text."""

    id: int
    token: bytes
    times: int

    def to_dict(self) -> dict[str, Any]:
        """The token as text and as hexadecimal bytes, ready for JSON."""
        text = self.token.decode("utf-8", "replace")
        return {"id": self.id, "text": text, "hex": self.token.hex(), "times": self.times}


@dataclass(frozen=True)
class Contents:
    """The ordinary tokens of a vocabulary; special ones are left out.

    `least` are the learned tokens with the fewest occurrences in the text, equal ones in the order
    of learning; `unused` is the number of learned tokens that do not occur.
    """

    by_length: list[Group]
    by_kind: list[Group]
    longest: list[Entry]
    longest_words: list[Entry]
    """The longest tokens that are a word, with or without a leading space."""
    most_used: list[Entry]
    least_used: list[Entry]
    learned: int
    unused: int

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON."""
        return {
            "learned": self.learned,
            "unused": self.unused,
            **{n: [one._asdict() for one in getattr(self, n)] for n in ("by_length", "by_kind")},
            **{n: [one.to_dict() for one in getattr(self, n)] for n in _LISTS},
        }


def contents(tok: Tokenizer, times: NDArray[np.uint64]) -> Contents:
    """Examine each token once; `times[id]` is its count in the text.

    >>> import digram
    >>> tok = digram.train("low low lower дом", vocab_size=258, pretokenizer="whitespace")
    >>> found = contents(tok, digram.evaluate(tok, "low lower low").total.times)
    >>> found.by_length
    [Group(name='1', tokens=256, used=3, times=4), Group(name='2', tokens=1, used=0, times=0),
    Group(name='3', tokens=1, used=1, times=3)]
    >>> found.most_used[0], found.least_used[0], found.unused
    (Entry(id=257, token=b'low', times=3), Entry(id=256, token=b'lo', times=0), 1)

    Takes some 1 µs per token.
    """
    left_out = {*tok.special_tokens.values()}
    made = tok._made()
    entries = [
        Entry(id, token, int(times[id]))
        for id, token in enumerate(tok._model.tokens())
        if token is not None and token and id not in left_out
    ]
    learned = [one for one in entries if one.id in made]
    kinds = _kinds(entries)
    words = (one for one, kind in zip(entries, kinds, strict=True) if kind.startswith(WORDS))
    by_kind = [*_grouped(zip(kinds, entries, strict=True))]
    return Contents(
        by_length=_lengths(entries),
        by_kind=nlargest(len(by_kind), by_kind, key=lambda group: group.tokens),
        longest=nsmallest(_LONGEST, learned, key=_by_length),
        longest_words=nsmallest(_WORDS, words, key=_by_length),
        most_used=nsmallest(_MOST, (one for one in entries if one.times), key=_by_use),
        least_used=nsmallest(_LEAST, learned, key=lambda one: (one.times, one.id)),
        learned=len(learned),
        unused=sum(one.times == 0 for one in learned),
    )


def length_group(length: int) -> str:
    """The name of a length in bytes; lengths over 16 share one.

    >>> [length_group(length) for length in (1, 16, 17, 128)]
    ['1', '16', '17+', '17+']
    """
    return str(length) if length <= _ALONE else f"{_ALONE + 1}+"


def _by_use(one: Entry) -> tuple[int, int]:
    return -one.times, one.id


def _by_length(one: Entry) -> tuple[int, int]:
    return -len(one.token), one.id


def _lengths(entries: Sequence[Entry]) -> list[Group]:
    longest = max((len(one.token) for one in entries), default=0)
    # Lengths without tokens are included, because the axis passes through them.
    names = dict.fromkeys(length_group(length) for length in range(1, longest + 1))
    named = ((length_group(len(one.token)), one) for one in entries)
    return [*_grouped(named, names)]


def _kinds(entries: Sequence[Entry]) -> list[str]:
    """The kind of text and the script of each token."""
    import numpy as np

    data = np.frombuffer(b"".join(one.token for one in entries), np.uint8)
    ends = np.cumsum([len(one.token) for one in entries], dtype=np.int64)
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    kinds = Kinds()
    numbers = kinds.of(data, starts, ends).tolist() if entries else []
    return [kinds.names[number] for number in numbers]


def _grouped(named: Iterable[tuple[str, Entry]], names: Iterable[str] = ()) -> Iterable[Group]:
    """Groups in the order of their names, then of their first tokens."""
    sums = {name: [0, 0, 0] for name in names}
    for name, one in named:
        of = sums.setdefault(name, [0, 0, 0])
        of[0] += 1
        of[1] += one.times > 0
        of[2] += one.times
    return (Group(name, *of) for name, of in sums.items())
