"""Special tokens as values, so that trusted and untrusted text can share one call."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Special"]


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
