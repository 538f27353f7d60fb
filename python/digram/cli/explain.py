"""`digram explain`: why a text became its tokens."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from digram.cli import common, texts

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["explain"]


@click.command(
    options_metavar="-t PATH [OPTIONS]",
    epilog=common.example("digram explain -t tokenizer.json --text 'Hello, world!'"),
)
@click.argument("file", default="-", metavar="[FILE]")
@common.with_tokenizer
@click.option("--text", help="Explain this text instead of a file.")
@common.color_option
@common.source_options
@common.special_option
@common.json_option
def explain(
    *,
    tok: Tokenizer,
    file: str,
    text: str | None,
    color: bool | None,
    told: common.Told,
    special: Any,
    as_json: bool,
) -> None:
    """Show step by step how the text of FILE or stdin becomes its tokens.

    First each pretoken, and what cut it out of the text: the part of the pattern between | and |,
    counted from 1. Then its merges in the order in which they are applied, each with its rank, with
    the count of its pair in training where that is known, and with the merges that were possible
    too, but have higher ranks. The last line has the tokens and their ids. The records of JSON
    and tables and the documents between separators are explained one after the other.
    """
    import digram
    from digram.analysis.explain.lines.explanation import explained
    from digram.display.terminal import use_color

    colored = use_color(sys.stdout) if color is None else color
    width = shutil.get_terminal_size().columns
    for number, (name, document, data) in enumerate(texts.given(file, text, told)):
        with texts.where(name, document):
            found = digram.explain(tok, data, special=special)
        if as_json:
            common.emit_json(found.to_dict())
            continue
        common.emit("\n" if number else "")
        common.emit(f"{explained(found, color=colored, width=width)}\n")
