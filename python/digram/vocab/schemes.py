"""Schemes: ways to encode by the tokens of BPE other than by the rank of merges alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from digram import _core
from digram.errors import several
from digram.pretokenizers.pretokenizer import Pretokenizer, Regex

__all__ = ["SCHEMES", "Fewest", "Picky", "Scheme", "Superwords"]


@dataclass(frozen=True, slots=True)
class Superwords:
    """Pretokens are split into words, which are merged first; then words of one token join.

    `words` splits a pretoken into words, and `ranks` are the ranks of the merges that join words,
    in increasing order; see `digram.Boundless`.
    """

    words: Pretokenizer
    ranks: tuple[int, ...]

    kind: ClassVar[str] = "superwords"

    def core(self) -> _core.Algorithm:
        """The algorithm for the core."""
        return _core.Algorithm.superwords(self.words.splitter(), list(self.ranks))

    def __str__(self) -> str:
        cut = self.words.name or " then ".join(self.words.patterns) or "none"
        return f"{several(len(self.ranks), 'merge')} join words, which are split by {cut}"

    def to_dict(self) -> dict[str, Any]:
        """The scheme as JSON, for files and digests."""
        words = {"patterns": list(self.words.patterns), "digits": self.words.digits}
        return {"kind": self.kind, "words": words, "ranks": list(self.ranks)}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Superwords:
        """The reverse of `to_dict`; KeyError, TypeError and ValueError for invalid content."""
        _check_keys(content, "kind", "words", "ranks")
        _check_keys(content["words"], "patterns", "digits")
        patterns, digits = content["words"]["patterns"], content["words"]["digits"]
        if type(patterns) is not list or not all(isinstance(one, str) for one in patterns):
            raise TypeError("patterns are texts")
        if not all(type(rank) is int and 0 <= rank < 1 << 32 for rank in content["ranks"]):
            raise TypeError("ranks are whole numbers below 2^32")
        words = Pretokenizer([Regex(pattern) for pattern in patterns] or None, digits=digits)
        return cls(words, tuple(content["ranks"]))


@dataclass(frozen=True, slots=True)
class Picky:
    """Tokens are merged and dropped by events in a fixed order; see `digram.train`.

    An event is a pair of numbers of tokens to merge, or the number of a token to drop. Numbers
    start with the base, bytes by value or characters by code point, followed by the other tokens in
    the order in which they were first made. `tok.events` has the events with the bytes of tokens.
    """

    events: tuple[tuple[int, ...], ...]

    kind: ClassVar[str] = "picky"

    def __str__(self) -> str:
        drops = sum(len(event) == 1 for event in self.events)
        merges = several(len(self.events) - drops, "merge")
        return f"{merges} and {drops:,} dropped tokens, applied in order"

    def core(self) -> _core.Algorithm:
        """The algorithm for the core."""
        return _core.Algorithm.events([(event[0], [*event, None][1]) for event in self.events])

    def to_dict(self) -> dict[str, Any]:
        """The scheme as JSON, for files and digests."""
        return {"kind": self.kind, "events": [list(event) for event in self.events]}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Picky:
        """The reverse of `to_dict`; KeyError, TypeError and ValueError for invalid content."""
        _check_keys(content, "kind", "events")
        events = tuple(tuple(event) for event in content["events"])
        for event in events:
            if not 1 <= len(event) <= 2:
                raise ValueError("an event is one number or two")
            if not all(type(number) is int and 0 <= number < 1 << 32 for number in event):
                raise TypeError("numbers of tokens are whole numbers below 2^32")
        return cls(events)


@dataclass(frozen=True, slots=True)
class Fewest:
    """A pretoken becomes the fewest tokens, whatever the merges are.

    Of equal numbers, those with the longest first token are taken, then with the longest second
    one, and so on; see `Tokenizer.with_segmentation`. Characters without a token are as few as
    possible.
    """

    kind: ClassVar[str] = "fewest"

    def __str__(self) -> str:
        return "the fewest tokens, in place of the merges"

    def core(self) -> _core.Algorithm:
        """The algorithm for the core."""
        return _core.Algorithm.fewest()

    def to_dict(self) -> dict[str, Any]:
        """The scheme as JSON, for files and digests."""
        return {"kind": self.kind}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Fewest:
        """The reverse of `to_dict`; TypeError and ValueError for invalid content."""
        _check_keys(content, "kind")
        return cls()


def _check_keys(content: dict[str, Any], *known: str) -> None:
    """Raises for a value that is not an object, and for unknown keys."""
    if not isinstance(content, dict):
        raise TypeError(f"{content!r} is not an object")
    for key in content:
        if key not in known:
            raise ValueError(f"the key {key!r} is not known")


Scheme = Superwords | Picky | Fewest

SCHEMES: dict[str, type[Superwords] | type[Picky] | type[Fewest]] = {
    scheme.kind: scheme for scheme in (Superwords, Picky, Fewest)
}
"""The schemes by their names in files."""
