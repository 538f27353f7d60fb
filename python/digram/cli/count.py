"""`digram count`: `wc` for tokens."""

from __future__ import annotations

import sys
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
    epilog=common.example("digram count -t tokenizer.json docs/*.md"),
)
@click.argument("files", nargs=-1, metavar="[FILES]...")
@common.with_tokenizer
@common.special_option
@common.json_option
def count(*, tok: Tokenizer, files: tuple[str, ...], special: Any, as_json: bool) -> None:
    """Count the tokens, bytes and characters of files, and the total.

    FILES are files, folders and quoted patterns; stdin without any, or for -. The columns are
    tokens, bytes, characters and the name; a terminal shows their titles. A character is a code
    point, and bytes that continue one are not counted.
    """
    from digram import sources
    from digram.progress import progress

    arguments = files or ("-",)
    named = {path: sources.files(path) for path in arguments if path != "-"}
    rows: list[_Row] = []
    with progress("Counting", sum(found.size for found in named.values()) or None) as advance:
        for argument in arguments:
            if argument == "-":
                rows.append(_row(tok, common.stdin().read(), "-", special))
                continue
            for path in named[argument].paths:
                rows.append(_row(tok, path.read_bytes(), click.format_filename(path), special))
                advance(rows[-1].bytes)
    total = _Row(*(sum(row[i] for row in rows) for i in range(3)), "total")
    if as_json:
        common.emit_json(
            {
                "files": [row._asdict() for row in rows],
                "total": dict(list(total._asdict().items())[:3]),
            }
        )
        return
    titles = ("tokens", "bytes", "characters") if sys.stdout.isatty() else ()
    widths = [
        max(len(str(total[i])), *(len(title) for title in titles[i : i + 1]), 1) for i in range(3)
    ]
    if titles:
        common.emit("  ".join(f"{t:>{w}}" for t, w in zip(titles, widths, strict=True)) + "\n")
    for row in rows if len(rows) == 1 else [*rows, total]:
        numbers = "  ".join(f"{n:>{w}}" for n, w in zip(row[:3], widths, strict=True))
        common.emit(f"{numbers}  {row.path}\n")


def _row(tok: Tokenizer, data: bytes, path: str, special: Any) -> _Row:
    import numpy as np

    continuing = np.count_nonzero((np.frombuffer(data, np.uint8) & 0xC0) == 0x80)
    return _Row(tok.count(data, special=special), len(data), len(data) - int(continuing), path)
