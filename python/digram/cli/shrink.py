"""`digram shrink`: make a smaller tokenizer from a trained one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from digram.cli import _loading, _options, _printing, _saving, _verbs
from digram.errors import several

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["shrink"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH --vocab-size N -o PATH [OPTIONS]",
    epilog=_verbs.example("digram shrink -t tokenizer.json --vocab-size 8000 -o small.json"),
)
@_loading.with_tokenizer
@_saving.output_option
@click.option(
    "--vocab-size",
    type=_options.NUMBER,
    required=True,
    metavar="N",
    help="Number of tokens, including reserved ones, before padding.",
)
@_saving.format_option
@_saving.allow_loss_option
@_options.no_summary_option
@_options.json_option
def shrink(
    *,
    tok: Tokenizer,
    output: str,
    vocab_size: int,
    format_: str | None,
    allow_loss: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the tokenizer that training to N tokens would have made.

    The input is a tokenizer that was trained to a larger size, or a published one whose ids are in
    the order of its merges. The last merges are removed; special tokens and reserved ids move down.
    """
    import digram

    _saving.check_stdout(output, as_json)
    small = digram.shrink(tok, vocab_size)
    _saving.save(small, output, format_, allow_loss)
    if not quiet and output != "-":
        merges = several(len(small.merges), "merge")
        _printing.log(f"Saved {output}: {several(len(small), 'token')}, {merges}")
    if as_json:
        _printing.emit_json(_saving.saved(small, output))
