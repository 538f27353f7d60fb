"""`digram audit`: find defects of a vocabulary, and compare their numbers with limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from digram.cli import _files_argument, _inputs, _loading, _options, _printing, _reading, _verbs

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["audit"]

_Verb = TypeVar("_Verb", bound=Callable[..., Any])

# The kinds of `digram.analysis.audit.KINDS`, for the help page; a test compares the two.
LIMITS = {
    "unreachable": "Tokens that encoding never produces.",
    "bytes_only": "Tokens produced only for bytes that are not UTF-8.",
    "undecided": "Tokens not shown to be reachable or unreachable.",
    "unused": "Tokens that do not occur in FILES.",
    "rare": "Tokens that occur rarely in FILES.",
    "partial": "Tokens that begin or end inside a character.",
    "duplicates": "Tokens equal to another one when normalized.",
    "punctuation": "Tokens that are another token plus punctuation.",
    "case": "Tokens that differ from another only in case.",
    "junk": "All tokens of the kinds junk_*.",
    "junk_controls": "Control and format characters.",
    "junk_private": "Private-use characters and noncharacters.",
    "junk_mojibake": "Text decoded with the wrong charset.",
    "junk_markup": "Tags and entities of HTML or XML.",
    "junk_urls": "Parts of addresses.",
    "junk_rules": "Rows of punctuation characters.",
    "junk_repeats": "Repetitions of a few characters.",
    "junk_encoded": "Hexadecimal or base64.",
    "junk_names": "User names, numbered identifiers.",
    "digits": "Numbers of a length of which some lack a token.",
    "number_splits": "Lengths of numbers, out of 5, split unevenly.",
    "long": "Tokens longer than --long.",
    "special_ordinary": "Special tokens that read like ordinary text.",
    "special_overlap": "Special tokens that are part of another.",
    "special_spaced": "Special tokens that contain white space.",
    "special_markup": "Special tokens that look like markup.",
    "special_in_text": "Special tokens that occur in FILES as text.",
    "gaps": "Ids without a token.",
    "ids_beyond": "Ids at or above the number of tokens.",
    "round_trip": "Texts that decoding does not restore.",
}

_NEED_FILES = ("unused", "rare", "special_in_text")


class _Limit(click.ParamType):  # type: ignore[type-arg]
    """A number, or a share such as 5%."""

    name = "limit"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | float:
        if isinstance(value, int | float):
            return value
        if re.fullmatch(r"[0-9]+", value):
            return int(value)
        if not re.fullmatch(r"[0-9]+(\.[0-9]+)?%", value) or float(value[:-1]) > 100:
            hint = "give a number, or a share such as 5%."
            self.fail(f"{value!r} is not a limit: {hint}", param, ctx)
        return float(value[:-1]) / 100


def _limit_options(verb: _Verb) -> _Verb:
    for kind, text in reversed(LIMITS.items()):
        name = f"--max-{kind.replace('_', '-')}"
        click.option(name, f"max_{kind}", type=_Limit(), metavar="N", help=text)(verb)
    return verb


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH [OPTIONS]",
    epilog=_verbs.example(
        "digram audit -t tokenizer.json",
        "digram audit -t tokenizer.json corpus/ --max-unreachable 0 --max-unused 5%",
    ),
)
@_files_argument.optional
@_loading.with_tokenizer
@_reading.source_options
@click.option(
    "--rare",
    type=click.IntRange(min=1),
    default=10,
    metavar="N",
    help="Tokens that occur fewer times are rare.  [default: 10]",
)
@click.option(
    "--long",
    "long_",
    type=click.IntRange(min=1),
    default=32,
    metavar="N",
    help="Tokens with more characters are long.  [default: 32]",
)
@_options.threads_option
@_limit_options
@_options.json_option
def audit(
    *,
    files: tuple[str, ...],
    tok: Tokenizer,
    read_options: _reading.ReadOptions,
    rare: int,
    long_: int,
    threads: int | None,
    as_json: bool,
    **limits: int | float | None,
) -> None:
    """Find defects of a vocabulary: unreachable tokens, tokens that a corpus does not use,
    duplicate, broken and junk tokens, dangerous special tokens, text that decoding does not
    restore.

    {files}, - for stdin; without FILES, the checks that need a
    corpus are left out. --max-KIND N allows N findings of a kind, or a share such as 5%; if there
    are more, the exit code is 1 and stderr names the limits that were exceeded.
    """
    import digram

    limits_by_kind = {kind: limits[f"max_{kind}"] for kind in LIMITS}
    given = {kind: limit for kind, limit in limits_by_kind.items() if limit is not None}
    missing = [kind for kind in given if not files and kind in _NEED_FILES]
    if missing:
        name = missing[0].replace("_", "-")
        raise click.UsageError(f"--max-{name} needs a corpus; name FILES, or - for stdin.")
    source = _inputs.texts_in(files, read_options)[0] if files else None
    result = digram.audit(tok, source, rare=rare, long=long_, threads=threads)
    breaches = result.check(given)
    if as_json:
        shown = [breach.to_dict() for breach in breaches]
        _printing.emit_json({**result.to_dict(), "breaches": shown})
    else:
        _printing.emit(f"{result}\n")
    for breach in breaches:
        _printing.log(f"Too many: {breach}.")
    if breaches:
        click.get_current_context().exit(1)
