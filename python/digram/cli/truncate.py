"""`digram truncate`: cut a text to a number of tokens, like `head` and `tail`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from digram.cli import _loading, _options, _printing, _reading, _verbs

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["truncate"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH -n N [OPTIONS]",
    epilog=_verbs.example("digram truncate -t tokenizer.json -n 8000 < book.txt > start.txt"),
)
@_options.file_argument
@_loading.with_tokenizer
@click.option(
    "-n",
    "--max-length",
    type=_options.NUMBER,
    required=True,
    metavar="N",
    help="The maximum number of tokens.",
)
@click.option(
    "--side",
    type=click.Choice(["right", "left"]),
    default="right",
    show_default=True,
    help="The side to cut: right keeps the beginning, left the end.",
)
@_options.special_option
def truncate(
    *, tok: Tokenizer, file: str, max_length: int, side: Literal["left", "right"], special: Any
) -> None:
    """Cut a text from FILE or stdin to N tokens.

    The first N tokens of the text are written to stdout, or the last N with --side left; a few less
    if these would have more than N tokens when encoded by themselves, as digram count does. The cut
    is at the end of a token, never inside a character. No line feed is added. The text is held in
    memory.
    """
    with _reading.open_input(file) as text:
        _printing.emit_bytes(tok.truncate(text.read(), max_length, side=side, special=special))
