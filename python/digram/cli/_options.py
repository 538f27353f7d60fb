"""Options and arguments that several verbs have, each defined once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

__all__ = [
    "NUMBER",
    "color_option",
    "counting_limit_option",
    "file_argument",
    "json_option",
    "memory_limit_option",
    "no_summary_option",
    "quiet_option",
    "rows_option",
    "special_option",
    "threads_option",
    "together",
    "unit_option",
    "values_by_name",
    "width_option",
]

_Verb = TypeVar("_Verb", bound=Callable[..., Any])


def together(*options: Callable[[Any], Any]) -> Callable[[_Verb], _Verb]:
    """One decorator for several options, which the help page lists in this order."""

    def give(verb: _Verb) -> _Verb:
        for option in reversed(options):
            verb = option(verb)
        return verb

    return give


class _Number(click.ParamType):  # type: ignore[type-arg]
    """A whole number, written out or as 32k, 1.5M, 7B: `k` is a thousand, not 1,024."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        from fractions import Fraction

        match = re.fullmatch(_NUMBER, value, re.ASCII)
        scale = 1 if match is None else 1000 ** " kmb".index((match[2] or " ").lower())
        number = Fraction("0.5" if match is None else match[1].replace("_", "")) * scale
        if number.denominator != 1:
            self.fail(f"{value!r} is not a whole number, as in 32000, 32k or 1.5M.", param, ctx)
        return number.numerator


_NUMBER = r"([+-]?[0-9](?:_?[0-9])*(?:\.[0-9]{1,9})?)([kKmMbB])?"

NUMBER = _Number()
"""The type of options for sizes: a number of tokens or of merges."""


def values_by_name(option: str, values: Sequence[str], form: str, example: str) -> dict[str, str]:
    """The values of an option of the form NAME=VALUE by their names; a name may be given once."""
    found: dict[str, str] = {}
    for one in values:
        name, equals, value = one.partition("=")
        if not (name and equals and value):
            raise click.UsageError(f"{option} {one!r} is not {form}, such as {example}.")
        if name in found:
            raise click.UsageError(f"{option} {name!r} is given twice.")
        found[name] = value
    return found


file_argument = click.argument("file", default="-", metavar="[FILE]")
"""One file to read; without it, stdin."""

threads_option = click.option(
    "--threads", type=int, metavar="N", help="Number of threads.  [default: one per core]"
)

memory_limit_option = click.option(
    "--memory-limit",
    metavar="SIZE",
    help='Limit of memory, such as "2 GB"; data beyond it goes to temporary files.',
)

counting_limit_option = click.option(
    "--memory-limit", metavar="SIZE", help='Limit of memory for counting, such as "2 GB".'
)
"""For verbs that hold all counts in memory in the end."""

unit_option = click.option(
    "--unit",
    type=click.Choice(["byte", "char"]),
    default="byte",
    show_default=True,
    help="The unit that merges start from; char requires UTF-8.",
)

width_option = click.option(
    "--width",
    type=int,
    metavar="N",
    help="Width of the model's embeddings.  [default: typical for its size]",
)

special_option = click.option(
    "--special",
    type=click.Choice(["text", "parse", "raise"]),
    default="text",
    show_default=True,
    help="How the text of a special token in the input is treated: as plain text, as that token, "
    "or as an error.",
)

color_option = click.option(
    "--color/--no-color",
    default=None,
    help="Show tokens in colours or in brackets.  [default: colours on a terminal]",
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


quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Show no progress bar and no summary."
)

no_summary_option = click.option("-q", "--quiet", is_flag=True, help="Show no summary.")
"""For verbs without a progress bar."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
