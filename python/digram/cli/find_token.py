"""`digram find-token`: find the words and texts of a corpus that contain a token."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from digram.cli import (
    _files_argument,
    _inputs,
    _loading,
    _options,
    _printing,
    _reading,
    _token_argument,
    _verbs,
)

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["find_token"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH [OPTIONS]",
    epilog=_verbs.example(
        "digram find-token -t tokenizer.json ' the' corpus/*.txt",
        "digram find-token -t tokenizer.json --by id 300 pages.jsonl.zst",
    ),
)
@_token_argument.token_argument
@_files_argument.optional
@_loading.with_tokenizer
@_token_argument.by_option
@_options.rows_option(20, "The number of words to show.")
@click.option(
    "--samples",
    type=click.IntRange(min=0),
    metavar="N",
    default=10,
    help="The number of places to show, from different words first.  [default: 10]",
)
@_reading.source_options
@_options.threads_option
@_options.color_option
@_options.json_option
def find_token(
    *,
    tok: Tokenizer,
    token: str,
    files: tuple[str, ...],
    by: str,
    rows: int,
    samples: int,
    read_options: _reading.ReadOptions,
    threads: int | None,
    color: bool | None,
    as_json: bool,
) -> None:
    """Show where TOKEN occurs in FILES: in which words, how often, and in what context.

    {files_or_stdin} A word
    is a pretoken with TOKEN among its tokens. A longer token that contains TOKEN does not count.
    With --json all words are listed.
    """
    import digram
    from digram.analysis.explain.lines.places import places

    source, _ = _inputs.texts_in(files or ("-",), read_options)
    named = _token_argument.token_named(token, by)
    occurrences = digram.find_token(tok, named, source, samples=samples, threads=threads)
    if as_json:
        _printing.emit_json(occurrences.to_dict())
        return
    colored = _printing.is_colored(color)
    width = shutil.get_terminal_size().columns
    lines = places(occurrences, color=colored, rows=rows, width=width)
    _printing.emit("".join([f"{line}\n" for line in lines]))
