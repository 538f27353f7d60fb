"""`digram convert`: a tokenizer from one file format to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from digram.cli import common
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
    + common.example("digram convert -t r50k_base.tiktoken --encoding r50k_base -o tokenizer.json"),
)
@common.with_tokenizer
@common.output_option
@common.format_option
@common.allow_loss_option
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
@common.json_option
def convert(
    *,
    tok: Tokenizer,
    output: str,
    format_: str | None,
    allow_loss: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write a tokenizer in another format.

    What a format cannot carry is refused, unless --allow-loss leaves it out. Formats without a
    pattern are the exception: whoever loads them must name the pretokenizer, and is reminded.
    """
    common.check_stdout(output, as_json)
    common.save(tok, output, format_, allow_loss)
    if not quiet and output != "-":
        common.log(f"Saved {output}: {common.several(len(tok), 'token')}, digest {tok.digest[:16]}")
        if not chosen(tok.definition, output, format_).describes_itself:
            common.log(
                "The file does not say how text is cut: load it with "
                f"{common.pretokenizer_spelled(tok.pretokenizer)}."
            )

    if as_json:
        common.emit_json(common.saved(tok, output))
