"""`digram explain`: why a text became its tokens."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from digram.cli import common, texts

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["explain"]


@click.command(
    options_metavar="-t PATH [OPTIONS]",
    epilog=common.example("digram explain -t tokenizer.json 'Hello, world!'"),
)
@click.argument("text", required=False, metavar="[TEXT]")
@common.with_tokenizer
@common.color_option
@common.special_option
@common.json_option
def explain(
    *,
    tok: Tokenizer,
    text: str | None,
    color: bool | None,
    special: Any,
    as_json: bool,
) -> None:
    """Show step by step how TEXT, or what comes through stdin, becomes its tokens.

    First each pretoken, and what cut it out of the text: the part of the pattern between | and |,
    counted from 1. Then its merges in the order in which they are applied, each with its rank, with
    the count of its pair in training where that is known, and with the merges that were possible
    too, but have higher ranks. The last line has the tokens and their ids.
    """
    from digram.seeing.lines.explanation import explained
    from digram.terminal import use_color

    # The bytes that were typed, UTF-8 or not.
    data = common.stdin().read() if text is None else os.fsencode(text)
    with texts.where("-" if text is None else "TEXT", None):
        found = tok.explain(data, special=special)
    if as_json:
        common.emit_json(found.as_dict())
        return
    colored = use_color(sys.stdout) if color is None else color
    width = shutil.get_terminal_size().columns
    common.emit(f"{explained(found, color=colored, width=width)}\n")
