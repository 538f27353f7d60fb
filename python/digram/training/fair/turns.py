"""Check the options that select the language of each merge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from digram._util.validation import whole_number
from digram.errors import OptionError, show

__all__ = ["Turns", "checked_turns"]

USUAL_ALPHA = 2.0


class Turns(NamedTuple):
    """The options that select the language of each merge, for the core."""

    names: list[str]
    has_dev: bool
    ratios: list[float] | None
    global_merges: int
    window: tuple[int, float] | None
    """The number of previous steps, and the allowed multiple of an even share of them."""

    def options(self) -> dict[str, Any]:
        """The options as arguments, for the training record."""
        size, alpha = self.window or (None, None)
        return {
            "languages": self.names,
            "dev": self.has_dev,
            "ratios": self.ratios and dict(zip(self.names, self.ratios, strict=True)),
            "global_merges": self.global_merges,
            "window": size,
            "alpha": alpha,
        }


def checked_turns(
    languages: Mapping[str, Any],
    dev: Mapping[str, Any] | None,
    ratios: Mapping[str, float] | None,
    global_merges: int,
    window: int | None,
    alpha: float | None,
) -> Turns:
    """Check the arguments of `train_fair` that select languages.

    Raises `TypeError` for arguments that are not a dictionary or a number, `OptionError` for names
    of other languages, and for invalid numbers and combinations.
    """
    names = [*_named("languages", languages)]
    if not names:
        raise OptionError("languages= names no language.")
    if dev is not None and ratios is not None:
        raise OptionError("dev= and ratios= cannot be combined.", hint="Pass one of them, or none.")
    if dev is not None:
        _check_same("dev", dev, names)
    if ratios is not None:
        _check_same("ratios", ratios, names)
        ratios = {name: _above_zero(f"ratios[{name!r}]", ratios[name]) for name in names}
    if window is not None:
        alpha = USUAL_ALPHA if alpha is None else _above_zero("alpha", alpha)
        window = whole_number("window", window, 1)
    elif alpha is not None:
        raise OptionError(
            "alpha= needs window=, which is missing.",
            value=alpha,
            hint="Pass window= too; 100 is usual.",
        )
    return Turns(
        names,
        dev is not None,
        None if ratios is None else [*ratios.values()],
        whole_number("global_merges", global_merges, 0),
        None if window is None or alpha is None else (window, alpha),
    )


def _named(argument: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f'{argument} is a dictionary by language, as in {{"en": ..., "sw": ...}}')
    for name in value:
        if not isinstance(name, str):
            raise TypeError(f"{argument}: the name of a language is text, not {show(name)}")
    return value


def _check_same(argument: str, value: Mapping[str, Any], names: list[str]) -> None:
    """Raises `OptionError` if the names are not exactly those of the languages."""
    given = _named(argument, value)
    for name in names:
        if name not in given:
            raise OptionError(
                f"{argument}= lacks the language {show(name)}.",
                value=name,
                hint="Name every language, or leave it out.",
            )
    for name in given:
        if name not in names:
            raise OptionError(
                f"{argument}= names {show(name)}, but no language has that name.",
                value=name,
                hint=f"Languages: {', '.join(map(repr, names))}.",
            )


def _above_zero(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is a number, not {show(value)}")
    if not (math.isfinite(value) and value > 0):
        raise OptionError(f"{name}={value} is not a number above 0.", value=value)
    return float(value)
