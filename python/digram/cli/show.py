"""`digram show`: show a text with its tokens in colour."""

from __future__ import annotations

import shutil
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from digram.cli import _loading, _options, _printing, _reading, _texts_by_file, _verbs

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["show"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH [OPTIONS]",
    epilog=_verbs.example("digram show -t tokenizer.json --ids --text 'Hello, world!'"),
)
@_options.file_argument
@_loading.with_tokenizer
@_texts_by_file.text_option
@click.option("--ids", "with_ids", is_flag=True, help="Show each id below its token.")
@_options.color_option
@_reading.source_options
@_options.special_option
@_options.json_option
def show(
    *,
    tok: Tokenizer,
    file: str,
    text: str | None,
    with_ids: bool,
    color: bool | None,
    read_options: _reading.ReadOptions,
    special: Any,
    as_json: bool,
) -> None:
    """Show the tokens of FILE or stdin, in alternating colours or in brackets.

    Spaces are shown as ·, line feeds as ↵, tabs as →, other control characters as their pictures
    (␀), and invisible characters as ⟨U+200B⟩. If a character is split over several tokens, each
    shows its bytes, with dots for the bytes of the others, and the last one the character:
    [⟨E4…⟩][⟨…B8 AD=中⟩]. In brackets, a token that contains a line feed ends the line. Records of
    JSON lines and tables, and documents between separators, are shown one after the other, with
    --json one per line.
    """
    for name, document, data in _texts_by_file.given(file, text, read_options):
        with _texts_by_file.where(name, document):
            _show(tok, data, with_ids, color, special, as_json)


def _show(
    tok: Tokenizer, data: bytes, with_ids: bool, color: bool | None, special: Any, as_json: bool
) -> None:
    """Show one text."""
    from digram.display.terminal import shown

    ids = tok.encode(data, special=special)
    tokens = tok.tokens(ids)
    if as_json:
        _printing.emit_json(
            [
                {"id": id_, "text": token.decode("utf-8", "replace"), "hex": token.hex()}
                for id_, token in zip(ids, tokens, strict=True)
            ]
        )
        return
    colored = _printing.is_colored(color)
    width = shutil.get_terminal_size().columns
    pieces = shown(tokens, ids if with_ids else None, color=colored, width=width)
    while block := "".join(islice(pieces, 1000)):
        _printing.emit(block)
