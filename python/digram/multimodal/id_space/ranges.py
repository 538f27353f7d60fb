"""The ranges of an id space, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from digram.errors import OptionError, show
from digram.multimodal.sequences import SequenceTokenizer
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["MOST", "Holding", "IdRange", "Marker", "whole"]

MOST = 1 << 31
"""Ids in all: those of 32 bits with a sign, as frameworks have them."""

Holding: TypeAlias = int | range | Tokenizer | SequenceTokenizer | Sequence[str]
"""What a range holds: a number of ids, ids at a fixed place, a tokenizer, or named ids."""


class Marker(NamedTuple):
    """The id that stands before or after the parts of a range, and its name."""

    name: str
    id: int


@dataclass(frozen=True, slots=True)
class IdRange:
    """A range of ids with a name: `start` to `stop - 1`, and `room` to grow behind them.

    Local ids count from 0; those of a `tokenizer` are its own ids. With several `codebooks`, that
    of code c in codebook k is `k * codes + c`, and `codes` is how many each has. `names` are the
    names of the ids, where they have any. Other ranges may stand inside that of a tokenizer: their
    ids are theirs. Where the tokenizer is not there, as after loading, `wanted` is its digest.
    Parts of the range stand between `begin` and `end`.
    """

    name: str
    start: int
    size: int
    room: int = 0
    codebooks: int = 1
    names: tuple[str, ...] | None = None
    tokenizer: Tokenizer | SequenceTokenizer | None = field(default=None, repr=False)
    wanted: str | None = field(default=None, repr=False)
    begin: Marker | None = None
    end: Marker | None = None

    @property
    def stop(self) -> int:
        """One more than the last id."""
        return self.start + self.size

    @property
    def ids(self) -> range:
        """The global ids, without the room."""
        return range(self.start, self.stop)

    @property
    def codes(self) -> int:
        """How many ids a codebook has; without codebooks all."""
        return self.size // self.codebooks

    @property
    def digest(self) -> str | None:
        """That of the tokenizer, None where the range has none."""
        return self.wanted if self.tokenizer is None else self.tokenizer.digest

    @property
    def tokens(self) -> Tokenizer | None:
        """The tokenizer that has the tokens: one of sequences rests on one of text."""
        tok = self.tokenizer
        return tok.tokenizer if isinstance(tok, SequenceTokenizer) else tok

    @property
    def is_text(self) -> bool:
        """Whether the ids are those of a tokenizer."""
        return self.tokenizer is not None or self.wanted is not None

    def holds(self, other: IdRange) -> bool:
        """Whether another range stands inside this one of a tokenizer."""
        inside = self.start <= other.start and other.stop <= self.stop
        return self.is_text and inside and not other.room

    def named(self) -> dict[str, int]:
        """The global ids that have a name: those of `names`, and special tokens of text."""
        found = {name: self.start + place for place, name in enumerate(self.names or ())}
        if self.tokens is not None:
            found |= {text: self.start + id for text, id in self.tokens.special_tokens.items()}
        return found


def whole(name: str, value: Any, least: int) -> int:
    """A whole number from `least` on."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is a whole number, not {show(value)}")
    if not least <= value <= MOST:
        raise OptionError(f"{name}={show(value)} is not between {least} and {MOST:,}.", value=value)
    return value
