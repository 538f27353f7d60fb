"""`digram audit`: what is wrong with a vocabulary, and whether that is within limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from digram.cli import common, corpus

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["audit"]

_Verb = TypeVar("_Verb", bound=Callable[..., Any])

# What `digram.analysis.audit.KINDS` holds, for the help page; the tests hold them equal.
LIMITS = {
    "unreachable": "Tokens that nothing ever becomes.",
    "bytes_only": "Tokens that only bytes that are no UTF-8 become.",
    "undecided": "Tokens with neither a text that becomes them nor a proof.",
    "unused": "Tokens that do not occur in FILES.",
    "rare": "Tokens that occur in FILES, but seldom.",
    "partial": "Tokens that begin or end inside a character.",
    "duplicates": "Tokens that equal another one in normal form.",
    "punctuation": "Words that are a token, with punctuation.",
    "case": "Words that are a token, but for case.",
    "junk": "Tokens of all kinds of junk together.",
    "junk_controls": "Control and format characters.",
    "junk_private": "Private use and noncharacters.",
    "junk_mojibake": "Text decoded in the wrong charset.",
    "junk_markup": "Tags and entities of HTML or XML.",
    "junk_urls": "Parts of addresses.",
    "junk_rules": "Lines of signs.",
    "junk_repeats": "A few characters again and again.",
    "junk_encoded": "Hexadecimal or base64.",
    "junk_names": "User names, numbered identifiers.",
    "digits": "Numbers, where not all of their size are tokens.",
    "number_splits": "Lengths of numbers, of 5, that are split unevenly.",
    "long": "Tokens longer than --long.",
    "special_ordinary": "Special tokens that read like ordinary text.",
    "special_overlap": "Special tokens that are part of another.",
    "special_spaced": "Special tokens that hold white space.",
    "special_markup": "Special tokens that look like markup.",
    "special_in_text": "Special tokens that occur in FILES as text.",
    "gaps": "Ids without a token.",
    "ids_beyond": "Ids not below the number of tokens.",
    "round_trip": "Texts that ids do not give back.",
}

_NEED_FILES = ("unused", "rare", "special_in_text")


class _Limit(click.ParamType):  # type: ignore[type-arg]
    """A number, or a share as in 5%."""

    name = "limit"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | float:
        if isinstance(value, int | float):
            return value
        if re.fullmatch(r"[0-9]+", value):
            return int(value)
        if not re.fullmatch(r"[0-9]+(\.[0-9]+)?%", value) or float(value[:-1]) > 100:
            hint = "give a number of them, or a share as in 5%."
            self.fail(f"{value!r} is no limit: {hint}", param, ctx)
        return float(value[:-1]) / 100


def _limit_options(verb: _Verb) -> _Verb:
    for kind, text in reversed(LIMITS.items()):
        name = f"--max-{kind.replace('_', '-')}"
        click.option(name, f"max_{kind}", type=_Limit(), metavar="N", help=text)(verb)
    return verb


@click.command(
    options_metavar="-t PATH [OPTIONS]",
    epilog=common.example(
        "digram audit -t tokenizer.json",
        "digram audit -t tokenizer.json corpus/ --max-unreachable 0 --max-unused 5%",
    ),
)
@click.argument("files", nargs=-1, metavar="[FILES]...")
@common.with_tokenizer
@common.source_options
@click.option(
    "--rare",
    type=click.IntRange(min=1),
    default=10,
    metavar="N",
    help="Tokens that occur less often are rare.  [default: 10]",
)
@click.option(
    "--long",
    "long_",
    type=click.IntRange(min=1),
    default=32,
    metavar="N",
    help="Tokens of more characters are long.  [default: 32]",
)
@click.option("--threads", type=int, metavar="N", help="Default: one for each core.")
@_limit_options
@common.json_option
def audit(
    *,
    files: tuple[str, ...],
    tok: Tokenizer,
    told: common.Told,
    rare: int,
    long_: int,
    threads: int | None,
    as_json: bool,
    **limits: int | float | None,
) -> None:
    """Find what is wrong with a vocabulary: tokens that no text becomes, that a corpus does not
    use, that are doubled, broken or junk; dangerous special tokens; text that does not come back.

    FILES are files, folders and quoted patterns, - for stdin; without any, what needs no corpus is
    looked at. --max-KIND N allows N of a kind, or a share of them, as in 5%; where more are found
    the exit code is 1, and stderr says which limits do not hold.
    """
    import digram

    typed = {kind: limits[f"max_{kind}"] for kind in LIMITS}
    given = {kind: limit for kind, limit in typed.items() if limit is not None}
    needed = [kind for kind in given if not files and kind in _NEED_FILES]
    if needed:
        name = needed[0].replace("_", "-")
        raise click.UsageError(f"--max-{name} is about a corpus; name FILES, or - for stdin.")
    source = corpus.texts_in(files, told)[0] if files else None
    found = digram.audit(tok, source, rare=rare, long=long_, threads=threads)
    breaches = found.check(given)
    if as_json:
        told_breaches = [breach.to_dict() for breach in breaches]
        common.emit_json({**found.to_dict(), "breaches": told_breaches})
    else:
        common.emit(f"{found}\n")
    for breach in breaches:
        common.log(f"Too many: {breach}.")
    if breaches:
        click.get_current_context().exit(1)
