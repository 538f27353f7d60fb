"""`digram count`: `wc` for tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from digram.cli import common

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["count"]


class _Row(NamedTuple):
    tokens: int
    bytes: int
    characters: int
    path: str


@click.command(
    options_metavar="-t PATH [OPTIONS]",
    epilog=common.example("digram count -t tokenizer.json docs/*.md"),
)
@click.argument("files", nargs=-1, metavar="[FILES]...")
@common.with_tokenizer
@common.special_option
@common.json_option
def count(*, tok: Tokenizer, files: tuple[str, ...], special: Any, as_json: bool) -> None:
    """Count the tokens, bytes and characters of files, and the total.

    FILES are files, folders and quoted patterns; stdin without any, or for -. The columns are
    tokens, bytes, characters and the name, in this order, and a terminal shows these titles. Bytes
    are those of the file: in UTF-8, é is one character of two bytes, 日 one of three. A character
    is a code point, and bytes that continue one are not counted.
    """
    rows = [_row(tok, data, path, special) for path, data in common.read_each(files, "Counting")]
    total = _Row(
        sum(r.tokens for r in rows),
        sum(r.bytes for r in rows),
        sum(r.characters for r in rows),
        "total",
    )
    if as_json:
        numbers = {name: value for name, value in total._asdict().items() if name != "path"}
        common.emit_json({"files": [row._asdict() for row in rows], "total": numbers})
        return
    titles = ["tokens", "bytes", "characters", "file"]
    common.emit_table(titles, rows if len(rows) == 1 else [*rows, total])


def _row(tok: Tokenizer, data: bytes, path: str, special: Any) -> _Row:
    import numpy as np

    continuing = np.count_nonzero((np.frombuffer(data, np.uint8) & 0xC0) == 0x80)
    return _Row(tok.count(data, special=special), len(data), len(data) - int(continuing), path)
