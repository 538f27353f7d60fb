"""`digram convert`: convert a tokenizer to another file format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from digram.cli import _common
from digram.formats import FORMATS, chosen

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["convert"]


def _formats() -> str:
    lines = (f"  {name:<14}{format.about}" for name, format in FORMATS.items())
    return "\n".join(["\b", "Formats:", *lines, "", ""])


@click.command(
    options_metavar="-t PATH -o PATH [OPTIONS]",
    epilog=_formats()
    + _common.example(
        "digram convert -t r50k_base.tiktoken --encoding r50k_base -o tokenizer.json"
    ),
)
@_common.with_tokenizer
@_common.output_option
@_common.format_option
@_common.allow_loss_option
@click.option("-q", "--quiet", is_flag=True, help="Show no summary.")
@_common.json_option
def convert(
    *,
    tok: Tokenizer,
    output: str,
    format_: str | None,
    allow_loss: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Convert a tokenizer to another file format.

    Data that the format cannot store is an error, unless --allow-loss leaves it out. The exception
    are formats that store no pattern: their pretokenizer must be named when the file is loaded, and
    a message says so.
    """
    _common.check_stdout(output, as_json)
    _common.save(tok, output, format_, allow_loss)
    if not quiet and output != "-":
        _common.log(
            f"Saved {output}: {_common.several(len(tok), 'token')}, digest {tok.digest[:16]}"
        )
        if not chosen(tok.definition, output, format_).describes_itself:
            _common.log(
                "The file does not store the pretokenizer: load it with "
                f"{_common.pretokenizer_spelled(tok.pretokenizer)}."
            )

    if as_json:
        _common.emit_json(_common.saved(tok, output))
