"""A merge that a tokenizer learned, as a value."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Merge", "RunnerUp"]


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """A pair that was considered for a merge but not chosen: its parts and its count."""

    left: bytes
    right: bytes
    count: int


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge: its two parts and the token that they form, as bytes, with its rank and id.

    `count` is the number of occurrences of the pair in the training corpus when it was chosen; None
    if that is not known. `runners_up` are the next pairs at that point, if they were requested by
    `train(runners_up=...)`. `language` is the language for which `digram.train_fair` made the
    merge, and in whose text it was counted.
    """

    rank: int
    left: bytes
    right: bytes
    token: bytes
    id: int
    count: int | None
    runners_up: tuple[RunnerUp, ...] = field(default=(), repr=False)
    language: str | None = field(default=None, repr=False)
