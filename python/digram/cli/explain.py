"""`digram explain`: show why a text has its tokens."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import click

from digram.cli import _loading, _options, _printing, _reading, _texts_by_file, _verbs

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["explain"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH [OPTIONS]",
    epilog=_verbs.example("digram explain -t tokenizer.json --text 'Hello, world!'"),
)
@_options.file_argument
@_loading.with_tokenizer
@_texts_by_file.text_option
@_options.color_option
@_reading.source_options
@_options.special_option
@_options.json_option
def explain(
    *,
    tok: Tokenizer,
    file: str,
    text: str | None,
    color: bool | None,
    read_options: _reading.ReadOptions,
    special: Any,
    as_json: bool,
) -> None:
    """Show step by step how the text of FILE or stdin is encoded.

    Each pretoken is shown with the alternative of the pattern that matched it, counted from 1. Then
    follow its merges in the order in which they are applied, each with its rank, the count of its
    pair in training if that is known, and the other possible merges, which have higher ranks. The
    last line has the tokens and their ids. Records of JSON and tables, and documents between
    separators, are explained one after the other.
    """
    import digram
    from digram.analysis.explain.lines.explanation import explained

    colored = _printing.is_colored(color)
    width = shutil.get_terminal_size().columns
    for number, (name, document, data) in enumerate(_texts_by_file.given(file, text, read_options)):
        with _texts_by_file.where(name, document):
            explanation = digram.explain(tok, data, special=special)
        if as_json:
            _printing.emit_json(explanation.to_dict())
            continue
        _printing.emit("\n" if number else "")
        _printing.emit(f"{explained(explanation, color=colored, width=width)}\n")
