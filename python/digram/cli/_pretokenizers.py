"""Options for a pretokenizer and for rules, and the values that they describe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from digram.cli import _options
from digram.cli._choices import OptionWithNames, either, pretokenizers

if TYPE_CHECKING:
    from digram.pretokenizers.pretokenizer import Pretokenizer
    from digram.pretokenizers.rules import Digits, Rules

__all__ = [
    "named_pretokenizer_option",
    "pretokenizer_from",
    "pretokenizer_options",
    "pretokenizer_spelled",
    "rules_from",
    "rules_option",
]

_DIGITS = ("individual", "threes_from_left", "threes_from_right")

_Verb = TypeVar("_Verb", bound=Callable[..., Any])

named_pretokenizer_option = click.option(
    "--pretokenizer",
    metavar="NAME",
    cls=OptionWithNames,
    names=pretokenizers,
    help="{names}.  [default: o200k]",
)
"""A pretokenizer by its name, for verbs that take a corpus."""

pretokenizer_options = _options.together(
    click.option(
        "--regex",
        multiple=True,
        metavar="PATTERN",
        help="A pattern of your own instead of a named pretokenizer; repeat it to apply several "
        "splits in turn.",
    ),
    click.option(
        "--digits",
        type=click.Choice(_DIGITS),
        metavar="RULE",
        help=f"Split numbers first, into digits or groups of three: {either(_DIGITS)}.",
    ),
)
"""What describes a pretokenizer without a name; `pretokenizer_from` reads it."""


def pretokenizer_from(
    name: str | None, regex: Sequence[str], digits: Digits | None
) -> Pretokenizer | None:
    """The pretokenizer of the three options; None if none of them is given."""
    from digram.pretokenizers.pretokenizer import Pretokenizer, Regex

    if regex and name is not None:
        raise click.UsageError("--regex and --pretokenizer exclude each other; give one of them.")
    if regex:
        return Pretokenizer([Regex(pattern) for pattern in regex], digits=digits)
    if name is None and digits is not None:
        raise click.UsageError("--digits needs --pretokenizer or --regex.")
    return None if name is None else Pretokenizer(None if name == "none" else name, digits=digits)


def pretokenizer_spelled(pretokenizer: Pretokenizer) -> str:
    """The options from which `pretokenizer_from` makes this pretokenizer."""
    import shlex

    if pretokenizer.name is None and pretokenizer.patterns:
        words = [word for pattern in pretokenizer.patterns for word in ("--regex", pattern)]
    else:
        words = ["--pretokenizer", pretokenizer.name or "none"]
    if pretokenizer.digits is not None:
        words += ["--digits", pretokenizer.digits]
    return shlex.join(words)


def rules_option(text: str) -> Callable[[_Verb], _Verb]:
    """The option that names a file of rules; `rules_from` reads it."""
    return click.option("--rules", metavar="PATH", help=f"{text} A JSON file; see docs/rules.md.")


def rules_from(path: str | None) -> Rules | None:
    """Load the rules of a file; None if no file is named."""
    if path is None:
        return None
    from digram.pretokenizers.rules import Rules

    return Rules.load(path)
