"""Shared by the verbs: options, loading a tokenizer, stdin and stdout, JSON and tables."""

from __future__ import annotations

import contextlib
import errno
import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from io import BufferedReader
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

import click

from digram.cli._choices import (
    OneOf,
    OptionWithNames,
    either,
    encodings,
    pretokenizers,
    tokenizer_formats,
)
from digram.errors import several

if TYPE_CHECKING:
    from pathlib import Path

    from digram.corpus import Files
    from digram.pretokenizers.pretokenizer import Pretokenizer
    from digram.pretokenizers.rules import Digits, Rules
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = [
    "NUMBER",
    "ReadOptions",
    "TokenizerPath",
    "Verbs",
    "allow_loss_option",
    "by_option",
    "check_folder",
    "check_stdout",
    "color_option",
    "described_options",
    "emit",
    "emit_bytes",
    "emit_json",
    "emit_table",
    "emit_whole",
    "example",
    "files",
    "format_option",
    "heading",
    "json_option",
    "load",
    "log",
    "named_pretokenizer_option",
    "one_file",
    "one_of",
    "open_bytes",
    "open_input",
    "output_option",
    "pretokenizer_from",
    "pretokenizer_options",
    "pretokenizer_spelled",
    "rules_from",
    "rules_option",
    "save",
    "saved",
    "several",
    "source_options",
    "special_option",
    "stdin",
    "token_named",
    "tokenizer_option",
    "unescaped",
    "verb_name",
    "with_encoding",
    "with_tokenizer",
]

_DIGITS = ("individual", "threes_from_left", "threes_from_right")
_Verb = TypeVar("_Verb", bound=Callable[..., Any])

allow_loss_option = click.option(
    "--allow-loss", is_flag=True, help="Leave out data that the format cannot store."
)
format_option = click.option(
    "--format",
    "format_",
    type=OneOf(tokenizer_formats),
    help="Format of the output.  [default: by its name]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
color_option = click.option(
    "--color/--no-color",
    default=None,
    help="Show tokens in colours or in brackets.  [default: colours on a terminal]",
)
by_option = click.option(
    "--by",
    type=click.Choice(["text", "id", "hex"]),
    default="text",
    show_default=True,
    help="How TOKEN is given: as text, as an id, or as bytes in hexadecimal.",
)
special_option = click.option(
    "--special",
    type=click.Choice(["text", "parse", "raise"]),
    default="text",
    show_default=True,
    help="How the text of a special token in the input is treated: as plain text, as that token, "
    "or as an error.",
)


class TokenizerPath(click.types.StringParamType):
    """The path of a tokenizer; the error for a missing one shows `example`."""

    def __init__(self, example: str = "Name a tokenizer with it, as in -t tokenizer.json.") -> None:
        self.example = example

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        return self.example


tokenizer_option = click.option(
    "-t",
    "--tokenizer",
    type=TokenizerPath(),
    metavar="PATH",
    required=True,
    help="A tokenizer's file or folder.",
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


output_option = click.option(
    "-o",
    "--output",
    metavar="PATH",
    required=True,
    help="Where to save the tokenizer; - is stdout. An existing file is replaced atomically.",
)


def example(*commands: str) -> str:
    """The end of a help page: example commands."""
    return "\n".join(["\b", "Example:", *(f"  {command}" for command in commands)])


def with_tokenizer(verb: _Verb) -> _Verb:
    """Give a verb the options that name a tokenizer, and the tokenizer itself as `tok`."""

    @functools.wraps(verb)
    def loading(*args: Any, tokenizer: str, **rest: Any) -> Any:
        return verb(*args, tok=load(tokenizer, rest), **rest)

    described_options(loading)
    return tokenizer_option(loading)  # type: ignore[return-value]


def described_options(verb: _Verb) -> _Verb:
    """Add the options for facts that a tokenizer's file may not store; `load` reads them."""
    click.option(
        "--encoding",
        metavar="NAME",
        cls=OptionWithNames,
        names=encodings,
        help="The published encoding that a .tiktoken file contains; names its pattern and special "
        "tokens: {names}.",
    )(verb)
    pretokenizer_options(verb)
    return click.option(
        "--pretokenizer",
        metavar="NAME",
        cls=OptionWithNames,
        names=pretokenizers,
        help="The pretokenizer of a file that does not store one (a .tiktoken file, vocab.json "
        "with merges.txt): {names}.",
    )(verb)


def load(path: str, options: dict[str, Any]) -> Tokenizer:
    """Load the tokenizer at a path; removes the options of `described_options` from `options`.

    A path may end with the encoding of its file, as in `cl100k_base.tiktoken:cl100k_base`. It
    overrides the option, so that each of several files can name its own.
    """
    import digram

    given = path
    path, own = with_encoding(path)
    name, regex, digits = (options.pop(key) for key in ("pretokenizer", "regex", "digits"))
    keywords: dict[str, Any] = {}
    pretokenizer = pretokenizer_from(name, regex, digits)
    if pretokenizer is not None:
        keywords["pretokenizer"] = pretokenizer
    encoding = options.pop("encoding")
    if own is not None or encoding is not None:
        keywords["encoding"] = own or encoding
    try:
        return digram.load(path, **keywords)
    except FileNotFoundError as error:
        if error.filename == path:
            error.filename = f"-t {given}"
        raise


def with_encoding(path: str) -> tuple[str, str | None]:
    """Split a path from the encoding named after it.

    >>> with_encoding("here/cl100k_base.tiktoken:cl100k_base")
    ('here/cl100k_base.tiktoken', 'cl100k_base')
    >>> with_encoding("tokenizer.json")
    ('tokenizer.json', None)
    """
    import os

    file, colon, encoding = path.rpartition(":")
    if not colon or os.path.lexists(path):
        return path, None
    known = encodings()
    if encoding in known:
        return file, encoding
    if os.path.lexists(file):
        raise click.UsageError(
            f"{encoding!r}, after {file!r}, is not a published encoding. Choose from "
            f"{either(known)}."
        )
    return path, None


def token_named(value: str, by: str) -> int | str | bytes:
    """Parse TOKEN as `by_option` says: an id, a text or bytes."""
    import os

    if by == "text":
        typed = os.fsencode(value)
        return value if typed == value.encode("utf-8", "replace") else typed
    try:
        return int(value) if by == "id" else bytes.fromhex(value)
    except ValueError:
        wanted = "an id, as in 300" if by == "id" else "hexadecimal, as in e4b8"
        raise click.UsageError(f"with --by {by} TOKEN is {wanted}, not {value!r}.") from None


def named_pretokenizer_option(verb: _Verb) -> _Verb:
    """A pretokenizer by its name, for verbs that take a corpus."""
    shown = "{names}.  [default: o200k]"
    return click.option(
        "--pretokenizer", metavar="NAME", cls=OptionWithNames, names=pretokenizers, help=shown
    )(verb)


class ReadOptions(NamedTuple):
    """The options that say how files are read."""

    separator: str | None = None
    field: str = "text"
    format: str | None = None
    on_error: Literal["raise", "skip"] = "raise"


def source_options(verb: _Verb) -> _Verb:
    """Give a verb the options that say how a corpus is read, as one value `read_options`."""

    @functools.wraps(verb)
    def with_read_options(*args: Any, **rest: Any) -> Any:
        names = ("separator", "field", "source_format", "on_error")
        return verb(*args, read_options=ReadOptions(*(rest.pop(name) for name in names)), **rest)

    for option in (
        click.option(
            "--on-error",
            type=click.Choice(["raise", "skip"]),
            default="raise",
            show_default=True,
            help="Whether a record without a text is an error, or is skipped and counted.",
        ),
        click.option(
            "--field",
            default="text",
            show_default=True,
            metavar="NAME",
            help="The field of the text in JSON, or the column in tables; meta.text is a nested "
            "field, also in the items of a list.",
        ),
        click.option(
            "--source-format",
            callback=_known_format,
            metavar="FORMAT",
            help="text, jsonl, json, csv, tsv, parquet or arrow; jsonl.zst is compressed.  "
            "[default: by the names of the files]",
        ),
        click.option(
            "--separator",
            callback=unescaped,
            metavar="TEXT",
            help=r"Split files into documents at TEXT; \n, \t, \0 and \xHH are escapes.",
        ),
    ):
        option(with_read_options)
    return with_read_options  # type: ignore[return-value]


def _known_format(
    _ctx: click.Context, _parameter: click.Parameter, value: str | None
) -> str | None:
    """A click callback: check the format of source files."""
    if value is not None:
        from digram.corpus import check_format
        from digram.errors import OptionError

        try:
            check_format(value)
        except OptionError as error:
            raise click.BadParameter(f"{value!r} is not known. {error.hint}") from None
    return value


def pretokenizer_options(verb: _Verb) -> _Verb:
    """Add the options that describe a pretokenizer; `pretokenizer_from` reads them."""
    for option in (
        click.option(
            "--digits",
            type=click.Choice(_DIGITS),
            metavar="RULE",
            help=f"Split numbers first, into digits or groups of three: {either(_DIGITS)}.",
        ),
        click.option(
            "--regex",
            multiple=True,
            metavar="PATTERN",
            help="A pattern of your own instead of a named pretokenizer; repeat it to apply "
            "several splits in turn.",
        ),
    ):
        option(verb)
    return verb


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


def rules_option(text: str) -> Callable[[_Verb], _Verb]:
    """The option that names a file of rules; `rules_from` reads it."""
    return click.option("--rules", metavar="PATH", help=f"{text} A JSON file; see docs/rules.md.")


def rules_from(path: str | None) -> Rules | None:
    """Load the rules of a file; None if no file is named."""
    if path is None:
        return None
    from digram.pretokenizers.rules import Rules

    return Rules.load(path)


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


def check_folder(option: str, path: str | None) -> None:
    """Raise a usage error if files would be written to stdout."""
    if path == "-":
        raise click.UsageError(
            f"{option} - means stdout, but several files are written; ./- is a path named -."
        )


def check_stdout(output: str | None, as_json: bool) -> None:
    """Raise a usage error if two outputs would go to stdout."""
    if output == "-" and as_json:
        raise click.UsageError("-o - and --json both write to stdout; give one of them.")


def saved(tok: Tokenizer, output: str | None) -> dict[str, Any]:
    """Facts about a tokenizer for JSON; `output` is the path where it was saved, if it was."""
    return {
        "path": output,
        "vocab_size": tok.vocab_size,
        "tokens": len(tok),
        "merges": len(tok.merges),
        "digest": tok.digest,
    }


def save(tok: Tokenizer, output: str, format_: str | None, allow_loss: bool) -> None:
    """Save to a path, or to stdout if `output` is `-`."""
    from pathlib import Path

    if output != "-":
        tok.save(Path(output), format=format_, allow_loss=allow_loss)
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "tokenizer.json"
        tok.save(saved, format=format_, allow_loss=allow_loss)
        if saved.is_dir():
            raise click.UsageError(
                "this format is a folder of files; it cannot be written to stdout."
            )
        emit_whole(saved.read_bytes(), "the tokenizer")


def emit_whole(data: bytes, what: str) -> None:
    """Write data to stdout that is useless when incomplete."""
    try:
        emit_bytes(data, flush=True)
    except BrokenPipeError:
        # A reader may stop early in a text, but a part of this data is an error.
        raise OSError(
            errno.EIO, f"the reader stopped before {what} was written", "stdout"
        ) from None


def unescaped(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    r"""A click callback: `\n`, `\r`, `\t`, `\0`, `\x1e` and `\\` as in Python."""
    if value is None:
        return None
    named = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "\\": "\\"}
    return re.sub(
        r"\\([nrt0\\]|x[0-7][0-9a-fA-F])",
        lambda match: named.get(match[1]) or chr(int(match[1][1:], 16)),
        value,
    )


def stdin() -> BufferedReader:
    """Bytes from stdin."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "stdin is closed")
    return cast(BufferedReader, sys.stdin.buffer)


def emit_bytes(data: bytes, *, flush: bool = False) -> None:
    """Write all of `data` to stdout."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "stdout is closed")
    rest = memoryview(data)
    while rest:  # with PYTHONUNBUFFERED a write may be partial
        rest = rest[sys.stdout.buffer.write(rest) :]
    if flush:
        sys.stdout.buffer.flush()


@contextlib.contextmanager
def open_input(path: str, format: str | None = None) -> Iterator[BufferedReader]:
    """Open a text file, or stdin if `path` is `-`; decompressed if it is compressed."""
    from digram.corpus import Stream, check_format, open_text

    if path == "-":
        yield Stream(stdin(), "stdin", check_format(format or "text")).opened()
        return
    with open_text(one_file(path), format) as file:
        yield cast(BufferedReader, file)


@contextlib.contextmanager
def open_bytes(path: str) -> Iterator[BufferedReader]:
    """Open the bytes of a file, or of stdin if `path` is `-`; decompressed if compressed."""
    if path == "-":
        yield stdin()
        return
    from digram.corpus import open_text

    with open_text(one_file(path), as_is=True) as file:
        yield cast(BufferedReader, file)


def one_file(path: str) -> Path:
    """The one file that an argument names."""
    return one_of(files(path), path)


def one_of(found: Files, path: str) -> Path:
    """The only file of `found`; a usage error if there are several or none."""
    if len(found.paths) != 1:
        raise click.UsageError(f"{path!r} names {len(found.paths)} files; this verb reads one.")
    return found.paths[0]


def files(*paths: str, read_options: ReadOptions | None = None) -> Files:
    """`digram.files`; the error for a path that is no regular file names a command to use."""
    from digram import corpus

    try:
        return corpus.files(*paths, **(read_options or ReadOptions())._asdict())
    except OSError as error:
        if error.errno == errno.EINVAL:
            error.strerror = f"not a regular file; pipe its content into `digram {verb_name()} -`"
        raise


def verb_name() -> str:
    """The name of the running verb, including its group: `counts make`."""
    context: click.Context | None = click.get_current_context()
    names = []
    while context is not None and context.parent is not None:
        names.append(context.info_name or "")
        context = context.parent
    return " ".join(reversed(names))


class Verbs(click.Group):
    """A group of verbs in a fixed order, each imported when it is called.

    `verbs` maps each verb to its module in `package` and its summary.
    """

    verbs: Mapping[str, tuple[str, str]]
    package: str

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.verbs:
            return None
        command = getattr(
            import_module(f"{self.package}.{self.verbs[cmd_name][0]}"), cmd_name.replace("-", "_")
        )
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        _check_verb(ctx, args[0], self.verbs)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self.verbs.items()])


def _check_verb(ctx: click.Context, name: str, verbs: Iterable[str]) -> None:
    """Raise a usage error for an unknown verb, with the closest known one."""
    if name not in verbs and not name.startswith("-"):
        import difflib

        near = difflib.get_close_matches(name, verbs, n=1)
        remedy = f"Did you mean {near[0]!r}?" if near else f"Verbs: {', '.join(verbs)}."
        ctx.fail(f"there is no verb {name!r}. {remedy}")


def emit(text: str, *, flush: bool = False) -> None:
    """Write text to stdout as UTF-8 in any locale; `flush` if more output comes much later."""
    emit_bytes(text.encode("utf-8", "backslashreplace"), flush=flush)


def emit_json(value: Any) -> None:
    """Print a value as JSON, one line for each item of a list of objects."""
    import json

    emit(json.dumps(value, ensure_ascii=False) + "\n")


def emit_table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows of numbers and a name, aligned; the titles on a terminal only."""
    table = [[str(cell) for cell in row] for row in rows]
    if sys.stdout is not None and sys.stdout.isatty():  # programs expect only the numbers
        table.insert(0, [*titles])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)][:-1]
    for *cells, name in table:
        aligned = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        emit(f"{'  '.join(aligned)}  {name}".rstrip() + "\n")


def log(message: str) -> None:
    """Write a message to stderr, for people."""
    click.echo(message, err=True)


def heading(text: str) -> str:
    """A heading for stdout: bold if colours are shown."""
    from digram.display.terminal import use_color

    return f"\x1b[1m{text}\x1b[0m" if use_color(sys.stdout) else text
