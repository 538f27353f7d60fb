"""The ranges of an id space, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from digram.errors import OptionError, show
from digram.multimodal.sequences import SequenceTokenizer
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["MAX_IDS", "Holding", "IdRange", "Marker", "whole"]

MAX_IDS = 1 << 31
"""The maximum number of ids: those of signed 32-bit integers, as in frameworks."""

Holding: TypeAlias = int | range | Tokenizer | SequenceTokenizer | Sequence[str]
"""The content of a range: a number of ids, fixed ids, a tokenizer, or names of ids."""


class Marker(NamedTuple):
    """The id before or after the parts of a range, and its name."""

    name: str
    id: int


@dataclass(frozen=True, slots=True)
class IdRange:
    """A named range of ids: `start` to `stop - 1`, followed by `spare` ids for growth.

    Local ids count from 0; those of a `tokenizer` are its own ids. With several `codebooks`, the id
    of code c in codebook k is `k * codes + c`, where `codes` is the size of each. `names` are the
    names of the ids, if they have any. Other ranges may lie inside the range of a tokenizer, and
    take their ids from it. If the tokenizer is missing, as after loading, `wanted` is its digest.
    Parts of the range are enclosed by `begin` and `end`.
    """

    name: str
    start: int
    size: int
    spare: int = 0
    codebooks: int = 1
    names: tuple[str, ...] | None = None
    tokenizer: Tokenizer | SequenceTokenizer | None = field(default=None, repr=False)
    wanted: str | None = field(default=None, repr=False)
    begin: Marker | None = None
    end: Marker | None = None

    @property
    def stop(self) -> int:
        """The last id plus 1."""
        return self.start + self.size

    @property
    def ids(self) -> range:
        """The global ids of the range, without spare ids."""
        return range(self.start, self.stop)

    @property
    def codes(self) -> int:
        """The number of ids of each codebook; without codebooks, of the range."""
        return self.size // self.codebooks

    @property
    def digest(self) -> str | None:
        """The digest of the tokenizer; None if the range has none."""
        return self.wanted if self.tokenizer is None else self.tokenizer.digest

    @property
    def tokens(self) -> Tokenizer | None:
        """The tokenizer of text, also of a `SequenceTokenizer`; None if the range has none."""
        tok = self.tokenizer
        return tok.tokenizer if isinstance(tok, SequenceTokenizer) else tok

    @property
    def is_text(self) -> bool:
        """Whether the ids belong to a tokenizer."""
        return self.tokenizer is not None or self.wanted is not None

    def holds(self, other: IdRange) -> bool:
        """Whether another range lies inside this range of a tokenizer."""
        inside = self.start <= other.start and other.stop <= self.stop
        return self.is_text and inside and not other.spare

    def named(self) -> dict[str, int]:
        """The global ids that have a name: in `names`, or as special tokens."""
        found = {name: self.start + place for place, name in enumerate(self.names or ())}
        if self.tokens is not None:
            found |= {text: self.start + id for text, id in self.tokens.special_tokens.items()}
        return found


def whole(name: str, value: Any, minimum: int) -> int:
    """Check that a value is a whole number of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {show(value)}")
    if not minimum <= value <= MAX_IDS:
        raise OptionError(
            f"{name}={show(value)} is not between {minimum} and {MAX_IDS:,}.", value=value
        )
    return value
