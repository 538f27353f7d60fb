"""The options that say how a corpus is read, and opening files and stdin."""

from __future__ import annotations

import contextlib
import errno
import functools
import re
import sys
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

import click

from digram.cli import _verbs

if TYPE_CHECKING:
    from pathlib import Path

    from digram.corpus import Files

__all__ = [
    "ReadOptions",
    "files",
    "one_of",
    "open_bytes",
    "open_input",
    "source_options",
    "stdin",
    "text_files",
]

_Verb = TypeVar("_Verb", bound=Callable[..., Any])


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


def files(*paths: str, read_options: ReadOptions | None = None) -> Files:
    """`digram.files`; the error for a path that is no regular file names a command to use."""
    from digram import corpus

    try:
        return corpus.files(*paths, **(read_options or ReadOptions())._asdict())
    except OSError as error:
        if error.errno == errno.EINVAL:
            verb = _verbs.verb_name()
            error.strerror = f"not a regular file; pipe its content into `digram {verb} -`"
        raise


def text_files(path: str, read_options: ReadOptions | None = None) -> Files:
    """`files`, for verbs without `--text`; the error for a missing path says how to pass text."""
    try:
        return files(path, read_options=read_options)
    except FileNotFoundError as error:
        options = (click.get_current_context().command.options_metavar or "").split(" [")[0]
        error.add_note(
            "To use the argument itself as text, pass it on stdin, as in `printf %s 'some text' | "
            f"digram {_verbs.verb_name()} {options}`."
        )
        raise


def one_of(found: Files, path: str) -> Path:
    """The only file of `found`; a usage error if there are several or none."""
    if len(found.paths) != 1:
        raise click.UsageError(f"{path!r} names {len(found.paths)} files; this verb reads one.")
    return found.paths[0]


@contextlib.contextmanager
def open_input(path: str, format: str | None = None) -> Iterator[BufferedReader]:
    """Open a text file, or stdin if `path` is `-`; decompressed if it is compressed."""
    from digram.corpus import Stream, check_format, open_text

    if path == "-":
        yield Stream(stdin(), "stdin", check_format(format or "text")).opened()
        return
    with open_text(one_of(text_files(path), path), format) as file:
        yield cast(BufferedReader, file)


@contextlib.contextmanager
def open_bytes(path: str) -> Iterator[BufferedReader]:
    """Open the bytes of a file, or of stdin if `path` is `-`; decompressed if compressed."""
    if path == "-":
        yield stdin()
        return
    from digram.corpus import kind_of, open_text

    one = one_of(files(path), path)
    if kind_of(one).form != "text":
        raise click.UsageError(
            f"{path} is named as a file of records, and not of ids. For a file of digram encode "
            "-o, pass its folder."
        )
    with open_text(one, as_is=True) as file:
        yield cast(BufferedReader, file)


def stdin() -> BufferedReader:
    """Bytes from stdin."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "stdin is closed")
    return cast(BufferedReader, sys.stdin.buffer)
