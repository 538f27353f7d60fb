"""Special tokens as values, so that trusted and untrusted text can share one call."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from digram._util.validation import word

__all__ = ["OnSpecial", "SpecialToken", "TextOrParts", "rule_of"]

OnSpecial = Literal["text", "parse", "raise"] | Collection[str]
"""What becomes of text that spells a special token; a collection names those that are parsed."""


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """A special token, named on purpose.

    Text never turns into a special token by itself; a `SpecialToken` among the parts of a text
    does:

    >>> import digram
    >>> tok = digram.train("a user wrote this", max_merges=0, special_tokens=["<|im_start|>"])
    >>> tok.encode([digram.SpecialToken("<|im_start|>"), "<|im_start|>"])[:3]
    [256, 60, 124]
    """

    text: str

    def __post_init__(self) -> None:
        word("the text of a special token", self.text)


TextOrParts: TypeAlias = str | bytes | Sequence[str | bytes | SpecialToken]
"""A text, or the parts of one in a list or tuple, which special tokens may stand between."""


def rule_of(special: OnSpecial) -> OnSpecial | None:
    """The argument that the core receives; None for "text", which is the fastest."""
    return None if isinstance(special, str) and special == "text" else special
