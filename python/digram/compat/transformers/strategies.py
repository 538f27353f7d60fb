"""The strategies of padding and truncation, with transformers' defaults."""

from __future__ import annotations

from typing import Any, NamedTuple

from digram._util.warning import warn
from digram.errors import OptionError, show

__all__ = ["LARGE", "Strategies", "strategies"]

LARGE = int(1e20)
"""Above this, a `model_max_length` is none."""

_PADDING = ("longest", "max_length", "do_not_pad")
_TRUNCATION = ("longest_first", "only_first", "only_second", "do_not_truncate")


class Strategies(NamedTuple):
    """What is padded and truncated, to which length."""

    padding: str
    truncation: str
    max_length: int | None


def strategies(
    padding: Any,
    truncation: Any,
    max_length: int | None,
    multiple: int | None,
    *,
    model_max_length: int,
    has_pad: bool,
    verbose: bool,
) -> Strategies:
    """The strategies of a call; `OptionError`, a `ValueError`, for those that contradict.

    >>> strategies(True, None, 8, None, model_max_length=4, has_pad=True, verbose=False)
    Strategies(padding='longest', truncation='do_not_truncate', max_length=8)
    """
    if max_length is not None and padding is False and truncation is None:
        truncation = "longest_first"
    if padding is True:
        if verbose and max_length is not None and truncation in (None, False, "do_not_truncate"):
            warn(
                "max_length is ignored with padding=True and without truncation. To pad to "
                "max_length, pass padding='max_length'."
            )
        padding = "longest"
    pads = _one("padding", "do_not_pad" if padding is False else padding, _PADDING)
    if truncation is True:
        truncation = "longest_first"
    none = truncation is None or truncation is False
    cuts = _one("truncation", "do_not_truncate" if none else truncation, _TRUNCATION)
    if max_length is None:
        known = model_max_length <= LARGE
        if pads == "max_length":
            pads, max_length = (pads, model_max_length) if known else ("do_not_pad", None)
        if cuts != "do_not_truncate":
            cuts, max_length = (cuts, model_max_length) if known else ("do_not_truncate", None)
    if pads != "do_not_pad" and not has_pad:
        raise OptionError(
            "padding needs a pad token, and this tokenizer has none.",
            hint="Set one, as in tokenizer.pad_token = tokenizer.eos_token, or add it: "
            "tokenizer.add_special_tokens({'pad_token': '[PAD]'}).",
        )
    both = cuts != "do_not_truncate" and pads != "do_not_pad"
    if both and multiple and max_length is not None and max_length % multiple:
        raise OptionError(
            f"texts are truncated to {max_length} tokens and padded, but {max_length} is no "
            f"multiple of pad_to_multiple_of={multiple}.",
            value=max_length,
        )
    return Strategies(pads, cuts, max_length)


def _one(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    value = getattr(value, "value", value)  # the enums of transformers
    if value not in allowed:
        known = ", ".join(map(repr, allowed))
        raise OptionError(f"{name}={show(value)} is not known. Pass {known}.", value=value)
    return str(value)
