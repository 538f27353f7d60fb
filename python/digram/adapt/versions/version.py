"""Versions of a vocabulary, the log of a history, and the map of ids between two versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Literal

from digram._util.validation import whole_number
from digram.adapt import Change
from digram.errors import OptionError, several, show
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["CLOSING", "Entry", "Event", "VocabularyVersion", "mapped"]

Event = Literal["add", "forget", "decay", "version"]
CLOSING = ("decay", "version")
"""Text that is added after these events starts new batches."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the log: a step, and its data.

    `event` is "add" or "forget" (`name`, and of the counts: `documents`, `bytes`, `pretokens` and
    `digest`), "decay" (`weight` is the factor) or "version" (`number`, `how` it was made, and the
    `digest` of the tokenizer). `weight` is otherwise the weight of the added text. The digest of
    counts identifies them, but is no protection against forgery.
    """

    event: Event
    name: str | None = None
    weight: Fraction | None = None
    documents: int | None = None
    bytes: int | None = None
    pretokens: int | None = None
    digest: str | None = None
    number: int | None = None
    how: str | None = None

    def __str__(self) -> str:
        if self.event == "decay":
            return f"decay by {self.weight}"
        if self.event == "version":
            return f"version {self.number} {(self.digest or '')[:12]}: {self.how}"
        times = "" if self.weight in (None, 1) else f", {self.weight} times"
        return (
            f"{self.event} {self.name!r}: {several(self.documents or 0, 'document')}, "
            f"{several(self.bytes or 0, 'byte')}{times}"
        )


@dataclass(frozen=True, eq=False, slots=True)
class VocabularyVersion:
    """A tokenizer made by a history, with its `number` from 1 on.

    >>> import digram
    >>> history = digram.VocabularyHistory().add("low low lower").next(vocab_size=258).next(add=1)
    >>> print(history.versions[1])
    version 2 ...: 259 ids, 258 ids became 259, 1 token added, 0 removed

    `change` is the change from the previous version, None for the first. `place` is the index of
    its entry in the log; there is no clock.
    """

    number: int
    tokenizer: Tokenizer = field(repr=False)
    change: Change | None
    place: int
    epoch: int = field(repr=False)

    @property
    def digest(self) -> str:
        """`tokenizer.digest`."""
        return self.tokenizer.digest

    @property
    def vocab_size(self) -> int:
        """`tokenizer.vocab_size`."""
        return self.tokenizer.vocab_size

    def __str__(self) -> str:
        change = "" if self.change is None else f", {self.change}"
        return f"version {self.number} {self.digest[:12]}: {several(self.vocab_size, 'id')}{change}"


def mapped(versions: Sequence[VocabularyVersion], first: int, second: int) -> Change:
    """The change from one version to another, step by step; see `VocabularyHistory.map`."""
    for number in (first, second):
        if whole_number("a version", number, 1) > len(versions):
            raise OptionError(
                f"there is no version {show(number)}.",
                value=number,
                hint=f"There are {several(len(versions), 'version')}, from 1 on.",
            )
    low, high = sorted((first, second))
    steps = [one.change for one in versions[low:high] if one.change is not None]
    if second < first:
        steps = [step.inverse() for step in reversed(steps)]
    start = versions[first - 1].tokenizer
    return reduce(Change.then, steps, Change.of(start, start))
