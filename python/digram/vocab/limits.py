"""Truncation and padding as a `tokenizer.json` stores them, as options of `tok(text)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from digram._util.validation import check_text, choice
from digram.errors import OptionError, show

__all__ = ["Padding", "Truncation"]

_MAX = (1 << 63) - 1
_MAX_ID = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Truncation:
    """How a file says that texts are truncated; `Definition.truncation`.

    >>> import digram
    >>> digram.Truncation(512, overlap=64).options()
    {'max_length': 512, 'truncation_side': 'right', 'overlap': 64}

    `max_length` is a number of tokens, with those of the template. `strategy` says which text of a
    pair is truncated, `overlap` is the number of tokens that windows over the others have in
    common, and `side` where tokens are removed; see `Tokenizer.__call__`.
    """

    max_length: int
    strategy: Literal["longest_first", "only_first", "only_second"] = "longest_first"
    overlap: int = 0
    side: Literal["left", "right"] = "right"

    def __post_init__(self) -> None:
        _number("max_length", self.max_length)
        _number("overlap", self.overlap)
        choice("strategy", self.strategy, "longest_first", "only_first", "only_second")
        choice("side", self.side, "left", "right")

    def options(self) -> dict[str, Any]:
        """The arguments of `tok(text)` that truncate so, without what is the default of all."""
        named = {
            "max_length": self.max_length,
            "truncation": self.strategy,
            "truncation_side": self.side,
            "overlap": self.overlap,
        }
        return {name: value for name, value in named.items() if value != _DEFAULTS.get(name)}


@dataclass(frozen=True, slots=True)
class Padding:
    """How a file says that texts are padded; `Definition.padding`.

    >>> import digram
    >>> digram.Padding("<pad>", multiple_of=8, side="left").options()
    {'padding': 'longest', 'padding_side': 'left', 'pad_to_multiple_of': 8}

    `token` is the text of the token that is added. `length` is the number of tokens to which texts
    are padded, or None for that of the longest text of a call; it is rounded up to a multiple of
    `multiple_of`. `side` says where tokens are added, and `type_id` is their type id. `id` is their
    id; None is that of the special token with the text `token`.
    """

    token: str
    length: int | None = None
    side: Literal["left", "right"] = "right"
    multiple_of: int | None = None
    type_id: int = 0
    id: int | None = None

    def __post_init__(self) -> None:
        check_text("the token of Padding", self.token)
        choice("side", self.side, "left", "right")
        if self.length is not None:
            _number("length", self.length)
        if self.multiple_of is not None:
            _number("multiple_of", self.multiple_of, 1)
        _number("type_id", self.type_id, most=_MAX_ID)
        if self.id is not None:
            _number("id", self.id, most=_MAX_ID)

    def options(self) -> dict[str, Any]:
        """The arguments of `tok(text)` that pad so, without the token and such defaults."""
        named = {
            "padding": "longest" if self.length is None else self.length,
            "padding_side": self.side,
            "pad_to_multiple_of": self.multiple_of,
            "pad_type_id": self.type_id,
        }
        return {name: value for name, value in named.items() if value != _DEFAULTS.get(name)}


_DEFAULTS = {
    "truncation": "longest_first",
    "overlap": 0,
    "pad_type_id": 0,
}
"""The arguments of a call that do nothing, where None does not."""


def _number(name: str, value: object, least: int = 0, most: int = _MAX) -> None:
    if type(value) is not int:
        raise TypeError(f"{name} is a whole number, not {show(value)}")
    if not least <= value <= most:
        raise OptionError(
            f"{name}={show(value)} is not a number from {least} to {most:,}.", value=value
        )
