"""Options that several verbs have, each defined once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = [
    "NUMBER",
    "color_option",
    "json_option",
    "rows_option",
    "special_option",
]

_Verb = TypeVar("_Verb", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

color_option = click.option(
    "--color/--no-color",
    default=None,
    help="Show tokens in colours or in brackets.  [default: colours on a terminal]",
)

special_option = click.option(
    "--special",
    type=click.Choice(["text", "parse", "raise"]),
    default="text",
    show_default=True,
    help="How the text of a special token in the input is treated: as plain text, as that token, "
    "or as an error.",
)


def rows_option(default: int, text: str) -> Callable[[_Verb], _Verb]:
    """The option for the number of rows to show."""
    return click.option(
        "-n",
        "--rows",
        type=click.IntRange(min=0),
        metavar="N",
        default=default,
        help=f"{text}  [default: {default}]",
    )


class _Number(click.ParamType):  # type: ignore[type-arg]
    """A whole number, written out or as 32k, 1.5M, 7B: `k` is a thousand, not 1,024."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        from fractions import Fraction

        match = _NUMBER.fullmatch(value)
        scale = 1 if match is None else 1000 ** " kmb".index((match[2] or " ").lower())
        number = Fraction("0.5" if match is None else match[1].replace("_", "")) * scale
        if number.denominator != 1:
            self.fail(f"{value!r} is not a whole number, as in 32000, 32k or 1.5M.", param, ctx)
        return number.numerator


_NUMBER = re.compile(r"([+-]?[0-9](?:_?[0-9])*(?:\.[0-9]{1,9})?)([kKmMbB])?", re.ASCII)

NUMBER = _Number()
"""The type of options for sizes: a number of tokens or of merges."""
