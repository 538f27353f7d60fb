"""The options of `tok(text)`, checked."""

from __future__ import annotations

from functools import lru_cache
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args

from digram.errors import OptionError, show
from digram.vocab.settings import Side

__all__ = ["Offsets", "Options", "Padding", "Truncation", "checked"]

Offsets = Literal["characters", "bytes", "utf16"]
Padding = Literal["longest", "max_length"] | int
Truncation = Literal["longest_first", "only_first", "only_second", "raise"]
_PLAIN = (str, int, float, NoneType)


class Options(NamedTuple):
    """The options of a call. See `Tokenizer.__call__`."""

    add_special_tokens: bool
    max_length: int | Literal["context"] | None
    truncation: Truncation
    truncation_side: Side | None
    overlap: int
    padding: Padding | None
    padding_side: Side | None
    pad_to_multiple_of: int | None
    offsets: Offsets | None
    pad_id: int | None = None
    pad_type_id: int = 0


def checked(options: Options) -> Options:
    """Check the options; `OptionError` for invalid ones, and for those without effect."""
    for name, value in zip(Options._fields, options, strict=True):
        # Other types, such as arrays, may not support comparison.
        if not isinstance(value, _PLAIN):
            raise OptionError(f"{name}={show(value)} is not known.", value=value)
    return _DEFAULT if options == _DEFAULT else _checked(*options)


# Most programs pass the same options many times, and a look-up takes a tenth of the time of a
# check. Typed, since True equals 1.
@lru_cache(maxsize=256, typed=True)
def _checked(*values: Any) -> Options:
    options = Options(*values)
    _word("truncation", options.truncation, Truncation)
    _word("truncation_side", options.truncation_side, Side, or_none=True)
    _word("padding_side", options.padding_side, Side, or_none=True)
    if type(options.padding) is int:
        _number("padding", options.padding, 1, ' Pass a number of tokens, "longest" or None.')
    elif options.padding not in ("longest", "max_length", None):
        raise OptionError(
            f"padding={show(options.padding)} is not known. Pass 'longest', 'max_length', a number "
            "of tokens or None.",
            value=options.padding,
        )
    _number("pad_type_id", options.pad_type_id, 0)
    if options.pad_id is not None:
        _number("pad_id", options.pad_id, 0)
    _word("offsets", options.offsets, Offsets, or_none=True)
    if type(options.add_special_tokens) is not bool:
        shown = show(options.add_special_tokens)
        raise OptionError(
            f"add_special_tokens={shown} is not known. Pass True or False.",
            value=options.add_special_tokens,
        )
    if options.max_length != "context" and options.max_length is not None:
        _number("max_length", options.max_length, 1, ' Pass a number of tokens, "context" or None.')
    _number("overlap", options.overlap, 0)
    if options.pad_to_multiple_of is not None:
        _number("pad_to_multiple_of", options.pad_to_multiple_of, 1)
    if options.max_length is None:
        _useless("overlap", options.overlap, 0, "max_length")
        _useless("truncation", options.truncation, "longest_first", "max_length")
        _useless("truncation_side", options.truncation_side, None, "max_length")
        if options.padding == "max_length":
            raise OptionError('padding="max_length" needs max_length, too.', value=options.padding)
    elif options.truncation == "raise":
        _useless("overlap", options.overlap, 0, "truncation")
        _useless("truncation_side", options.truncation_side, None, "truncation")
    if options.padding is None:
        _useless("padding_side", options.padding_side, None, "padding")
        _useless("pad_to_multiple_of", options.pad_to_multiple_of, None, "padding")
        _useless("pad_id", options.pad_id, None, "padding")
        _useless("pad_type_id", options.pad_type_id, 0, "padding")
    return options


_DEFAULT = Options(True, None, "longest_first", None, 0, None, None, None, None)


def _word(name: str, value: object, words: Any, *, or_none: bool = False) -> None:
    if value not in get_args(words) and not (or_none and value is None):
        known = [repr(word) for word in get_args(words)] + ["None"] * or_none
        raise OptionError(
            f"{name}={show(value)} is not known. Pass {', '.join(known[:-1])} or {known[-1]}.",
            value=value,
        )


def _number(name: str, value: object, minimum: int, hint: str = "") -> None:
    if type(value) is not int or value < minimum:
        raise OptionError(
            f"{name}={show(value)} is not a whole number of at least {minimum}.{hint}", value=value
        )


def _useless(name: str, value: object, default: object, other: str) -> None:
    if value != default:
        reason = "truncation does not cut" if other == "truncation" else f"{other} is not given"
        raise OptionError(f"{name}={show(value)} does nothing, since {reason}.", value=value)
