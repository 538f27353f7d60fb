"""`digram chunks`: cut texts into chunks of limited size, with their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from digram.cli import (
    _files_argument,
    _loading,
    _options,
    _printing,
    _reading,
    _texts_by_file,
    _verbs,
)

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["chunks"]

_PLACE = ("tokens", "start", "end")


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH -n N [OPTIONS]",
    epilog=_verbs.example("digram chunks -t tokenizer.json -n 512 --json docs > docs.jsonl"),
)
@_files_argument.optional
@_loading.with_tokenizer
@click.option(
    "-n",
    "--max-length",
    type=_options.NUMBER,
    required=True,
    metavar="N",
    help="The maximum number of tokens of a chunk.",
)
@click.option(
    "--overlap",
    type=_options.NUMBER,
    default=0,
    metavar="N",
    help="The maximum number of tokens shared with the previous chunk.  [default: 0]",
)
@_reading.source_options
@_options.json_option
def chunks(
    *,
    tok: Tokenizer,
    files: tuple[str, ...],
    max_length: int,
    overlap: int,
    read_options: _reading.ReadOptions,
    as_json: bool,
) -> None:
    """Cut the texts of files into chunks of at most N tokens that cover all of the text.

    {files_or_stdin} Each
    line is a chunk: its number of tokens, its start and end in the file, in bytes from 0, and the
    name of the file, in this order; on a terminal there are column titles. With --json each line is
    an object that also has the text of the chunk. A chunk ends at the end of a token, never inside
    a character. The text of special tokens is plain text.

    If files contain several documents (JSON lines, tables, or --separator), start and end are
    places in the document, and its number in the file, from 0, comes before the name.
    """
    sources = _texts_by_file.named(files, read_options, "Cutting")
    several = sources.hold_several
    titles = (*_PLACE, "document", "path") if several else (*_PLACE, "path")
    rows: list[tuple[int | str, ...]] = []
    for name, documents in sources:
        for number, data in enumerate(documents):
            document = number if several else None
            if as_json:
                _check_utf8(data, name, document)
            with _texts_by_file.where(name, document):
                pieces = tok.chunks(data, max_length, overlap=overlap)
            for chunk in pieces:
                place = (chunk.count, chunk.start, chunk.end)
                row = (*place, number, name) if several else (*place, name)
                if as_json:
                    text = chunk.text.decode()
                    _printing.emit_json(dict(zip(titles, row, strict=True), text=text))
                else:
                    rows.append(row)
    if not as_json:
        _printing.emit_table([*titles[:-1], "file"], rows)


def _check_utf8(data: bytes, name: str, document: int | None) -> None:
    from digram.errors import InvalidTextError

    try:
        data.decode()
    except UnicodeDecodeError as error:
        with _texts_by_file.where(name, document):
            raise InvalidTextError(
                f"byte {error.start} is not UTF-8, and JSON can only hold characters.",
                offset=error.start,
                hint="Without --json the places of the chunks are shown.",
            ) from None
