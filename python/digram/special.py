"""Special tokens as values, so that trusted and untrusted text can share one call."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

__all__ = ["OnSpecial", "Special"]

OnSpecial = Literal["text", "parse", "raise"] | Collection[str]
"""What becomes of text that spells a special token; a collection names those that are parsed."""


@dataclass(frozen=True, slots=True)
class Special:
    """A special token, named on purpose.

    Text never turns into a special token by itself; a `Special` among the parts of a text does:

    >>> import digram
    >>> tok = digram.train("a user wrote this", max_merges=0, special_tokens=["<|im_start|>"])
    >>> tok.encode([digram.Special("<|im_start|>"), "<|im_start|>"])[:3]
    [256, 60, 124]
    """

    text: str
