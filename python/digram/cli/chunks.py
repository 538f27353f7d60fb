"""`digram chunks`: texts in pieces that fit, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from digram.cli import common, texts

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["chunks"]

_PLACE = ("tokens", "start", "end")


@click.command(
    options_metavar="-t PATH --max-length N [OPTIONS]",
    epilog=common.example(
        "digram chunks -t tokenizer.json --max-length 512 --json docs > docs.jsonl"
    ),
)
@click.argument("files", nargs=-1, metavar="[FILES]...")
@common.with_tokenizer
@click.option(
    "--max-length",
    type=common.NUMBER,
    required=True,
    metavar="N",
    help="The maximum number of tokens of a chunk.",
)
@click.option(
    "--overlap",
    type=common.NUMBER,
    default=0,
    metavar="N",
    help="The most tokens that a chunk shares with the one before.  [default: 0]",
)
@common.source_options
@common.json_option
def chunks(
    *,
    tok: Tokenizer,
    files: tuple[str, ...],
    max_length: int,
    overlap: int,
    told: common.Told,
    as_json: bool,
) -> None:
    """Cut the texts of files into chunks of at most N tokens, which together cover them.

    FILES are files, folders and quoted patterns; stdin without any, or for -. Each line is a chunk:
    its tokens, where it starts and ends in the file, in bytes from 0, and the name of the file, in
    this order; a terminal shows these titles. With --json each line is an object with the text of
    the chunk too. A chunk ends where a token ends and never inside a character; special tokens in
    a text stay text.

    Where files hold several documents (JSON lines, tables, or --separator), start and end are those
    in the document, and its number in the file, from 0, comes before the name.
    """
    found = texts.named(files, told, "Cutting")
    several = found.hold_several
    titles = (*_PLACE, "document", "path") if several else (*_PLACE, "path")
    rows: list[tuple[int | str, ...]] = []
    for name, documents in found:
        for number, data in enumerate(documents):
            document = number if several else None
            if as_json:
                _check_utf8(data, name, document)
            with texts.where(name, document):
                cut = tok.chunks(data, max_length, overlap=overlap)
            for chunk in cut:
                place = (chunk.count, chunk.start, chunk.end)
                row = (*place, number, name) if several else (*place, name)
                if as_json:
                    text = chunk.text.decode()
                    common.emit_json(dict(zip(titles, row, strict=True), text=text))
                else:
                    rows.append(row)
    if not as_json:
        common.emit_table([*titles[:-1], "file"], rows)


def _check_utf8(data: bytes, name: str, document: int | None) -> None:
    from digram.errors import InvalidTextError

    try:
        data.decode()
    except UnicodeDecodeError as error:
        with texts.where(name, document):
            raise InvalidTextError(
                f"byte {error.start} is not UTF-8, and JSON holds characters alone.",
                offset=error.start,
                hint="Leave out --json to get the places of the chunks.",
            ) from None
