"""Options for a pretokenizer and for rules, and the values that they describe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from digram.cli import _options
from digram.cli._choices import OptionWithNames, either, pretokenizers, stages

if TYPE_CHECKING:
    from digram.pretokenizers.normalizers import Normalizer
    from digram.pretokenizers.pretokenizer import Digits, Pretokenizer
    from digram.pretokenizers.rules import Rules

__all__ = [
    "named_pretokenizer_option",
    "pretokenizer_from",
    "pretokenizer_options",
    "rules_from",
    "rules_option",
]

_DIGITS = ("individual", "threes_from_left", "threes_from_right")

_Verb = TypeVar("_Verb", bound=Callable[..., Any])


class _Stage(click.ParamType):  # type: ignore[type-arg]
    """A stage of a normalizer: its name, or a list in JSON with its name and values.

    >>> _Stage().convert("nfc", None, None), _Stage().convert('["strip", true, false]', None, None)
    (NFC(), Strip(left=True, right=False))
    """

    name = "stage"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        import json

        from digram.errors import OptionError, PatternError
        from digram.pretokenizers.normalizers import from_described

        try:
            described = json.loads(value) if value.startswith("[") else [value]
            (stage,) = from_described([described])
        except (ValueError, RecursionError) as error:
            self.fail(f"{value!r} is not a list in JSON: {error}.", param, ctx)
        except (TypeError, OptionError, PatternError) as error:
            self.fail(f"{value!r} is not a stage of a normalizer: {error}", param, ctx)
        return stage


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
    click.option(
        "--normalizer",
        type=_Stage(),
        multiple=True,
        metavar="STAGE",
        cls=OptionWithNames,
        names=stages,
        help="Change text before it is split: {names}, or a stage with its values in "
        'JSON, such as \'["replace", "a", "b"]\'; repeat it to apply several in turn.',
    ),
)
"""What describes a pretokenizer without a name; `pretokenizer_from` reads it."""


def pretokenizer_from(
    name: str | None,
    regex: Sequence[str],
    digits: Digits | None,
    normalizer: Sequence[Normalizer] = (),
) -> Pretokenizer | None:
    """The pretokenizer of the four options; None if none of them is given."""
    from digram.pretokenizers.pretokenizer import Pretokenizer, Regex

    if regex and name is not None:
        raise click.UsageError("--regex and --pretokenizer exclude each other; give one of them.")
    if regex:
        patterns = [Regex(pattern) for pattern in regex]
        return Pretokenizer(patterns, digits=digits, normalizer=normalizer)
    if name is None:
        for option, value in (("--digits", digits), ("--normalizer", normalizer)):
            if value:
                raise click.UsageError(f"{option} needs --pretokenizer or --regex.")
        return None
    return Pretokenizer(None if name == "none" else name, digits=digits, normalizer=normalizer)


def rules_option(text: str) -> Callable[[_Verb], _Verb]:
    """The option that names a file of rules; `rules_from` reads it."""
    return click.option("--rules", metavar="PATH", help=f"{text} A JSON file; see docs/rules.md.")


def rules_from(path: str | None) -> Rules | None:
    """Load the rules of a file; None if no file is named."""
    if path is None:
        return None
    from digram.pretokenizers.rules import Rules

    return Rules.load(path)
