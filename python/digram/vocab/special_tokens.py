"""Special tokens as values, so that trusted and untrusted text can share one call."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from digram._util.validation import word

__all__ = ["OnSpecial", "SpecialToken", "TextOrParts", "rule_of"]

OnSpecial = Literal["text", "parse", "raise"] | Collection[str]
"""How the text of special tokens is encoded; a collection names the tokens to parse."""


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """A special token as part of a text.

    By default the text of a special token is encoded as plain text; a `SpecialToken` among the
    parts of a text is encoded as the token:

    >>> import digram
    >>> tok = digram.train("a user wrote this", max_merges=0, special_tokens=["<|im_start|>"])
    >>> tok.encode([digram.SpecialToken("<|im_start|>"), "<|im_start|>"])[:3]
    [256, 60, 124]
    """

    text: str

    def __post_init__(self) -> None:
        word("the text of a special token", self.text)


TextOrParts: TypeAlias = str | bytes | Sequence[str | bytes | SpecialToken]
"""A text, or a list or tuple of its parts, which may include special tokens."""


def rule_of(special: OnSpecial) -> OnSpecial | None:
    """The argument for the core; None for "text", which is the fastest."""
    return None if isinstance(special, str) and special == "text" else special
