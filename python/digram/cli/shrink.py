"""`digram shrink`: make a smaller tokenizer from a trained one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from digram.cli import _common

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["shrink"]


@click.command(
    options_metavar="-t PATH --vocab-size N -o PATH [OPTIONS]",
    epilog=_common.example("digram shrink -t tokenizer.json --vocab-size 8000 -o small.json"),
)
@_common.with_tokenizer
@_common.output_option
@click.option(
    "--vocab-size",
    type=_common.NUMBER,
    required=True,
    metavar="N",
    help="Number of tokens, including reserved ones, before padding.",
)
@_common.format_option
@_common.allow_loss_option
@click.option("-q", "--quiet", is_flag=True, help="Show no summary.")
@_common.json_option
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

    _common.check_stdout(output, as_json)
    small = digram.shrink(tok, vocab_size)
    _common.save(small, output, format_, allow_loss)
    if not quiet and output != "-":
        merges = _common.several(len(small.merges), "merge")
        _common.log(f"Saved {output}: {_common.several(len(small), 'token')}, {merges}")
    if as_json:
        _common.emit_json(_common.saved(small, output))
