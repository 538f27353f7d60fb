"""`digram chunks`: texts in pieces that fit, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from digram.cli import common

if TYPE_CHECKING:
    from digram.counting import Chunk
    from digram.tokenizer import Tokenizer

__all__ = ["chunks"]

_TITLES = ("tokens", "start", "end", "path")


@click.command(
    options_metavar="-t PATH --size N [OPTIONS]",
    epilog=common.example("digram chunks -t tokenizer.json --size 512 --json docs > docs.jsonl"),
)
@click.argument("files", nargs=-1, metavar="[FILES]...")
@common.with_tokenizer
@click.option("--size", type=int, required=True, metavar="N", help="The most tokens of a chunk.")
@click.option(
    "--overlap",
    type=int,
    default=0,
    metavar="N",
    help="The most tokens that a chunk shares with the one before.  [default: 0]",
)
@common.json_option
def chunks(
    *, tok: Tokenizer, files: tuple[str, ...], size: int, overlap: int, as_json: bool
) -> None:
    """Cut the texts of files into chunks of at most so many tokens, which together cover them.

    FILES are files, folders and quoted patterns; stdin without any, or for -. Each line is a chunk:
    its tokens, where it starts and ends in the file, in bytes from 0, and the name of the file, in
    this order; a terminal shows these titles. With --json each line is an object with the text of
    the chunk too. A chunk ends where a token ends and never inside a character; special tokens in
    a text stay text.
    """
    rows: list[tuple[int, int, int, str]] = []
    for path, data in common.read_each(files, "Cutting"):
        if as_json:
            _check_utf8(data, path)
        for chunk in _cut(tok, data, size, overlap, path):
            row = (chunk.count, chunk.start, chunk.end, path)
            if as_json:
                common.emit_json(dict(zip(_TITLES, row, strict=True), text=chunk.text.decode()))
            else:
                rows.append(row)
    if not as_json:
        common.emit_table([*_TITLES[:3], "file"], rows)


def _cut(tok: Tokenizer, data: bytes, size: int, overlap: int, path: str) -> list[Chunk[bytes]]:
    from digram.errors import DigramError, OptionError

    try:
        return tok.chunks(data, size, overlap=overlap)
    except DigramError as error:
        if not isinstance(error, OptionError):
            error.path = _named(path)
        raise


def _named(path: str) -> str:
    return "stdin" if path == "-" else path


def _check_utf8(data: bytes, path: str) -> None:
    from digram.errors import InvalidTextError

    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise InvalidTextError(
            f"byte {error.start} is not UTF-8, and JSON holds characters alone.",
            path=_named(path),
            offset=error.start,
            hint="Leave out --json to get the places of the chunks.",
        ) from None
