"""`digram shrink`: every smaller vocabulary from one run."""

from __future__ import annotations

from typing import Any

import click

from digram.cli import common

__all__ = ["shrink"]


@click.command(
    epilog=common.example("digram shrink tokenizer.json small.json --vocab-size 8000"),
)
@click.argument("source", metavar="SRC")
@click.argument("destination", metavar="DST")
@click.option(
    "--vocab-size",
    type=int,
    required=True,
    metavar="N",
    help="Its tokens in all, reserved ones included, before padding.",
)
@click.option(
    "--to", "format_", type=click.Choice(list(common.FORMATS)), help="Default: by the name."
)
@common.described_options
@common.allow_loss_option
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
def shrink(
    *,
    source: str,
    destination: str,
    vocab_size: int,
    format_: str | None,
    allow_loss: bool,
    quiet: bool,
    **described: Any,
) -> None:
    """Write to DST (- is stdout) the tokenizer that training to N would have given.

    SRC is one that was trained to a larger size, or a published one whose ids follow its merges.
    The last merges go; special tokens and reserved ids move down behind those that stay.
    """
    tok = common.load(source, described).shrink(vocab_size)
    common.save(tok, destination, format_, allow_loss)
    if not quiet and destination != "-":
        merges = common.several(len(tok.merges), "merge")
        common.log(f"Saved {destination}: {common.several(len(tok), 'token')}, {merges}")
