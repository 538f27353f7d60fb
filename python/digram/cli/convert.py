"""`digram convert`: a tokenizer from one file format to another."""

from __future__ import annotations

from typing import Any

import click

from digram.cli import common

__all__ = ["convert"]


_FORMATS = "\n".join(
    ["\b", "Formats:", *(f"  {name:<14}{what}" for name, what in common.FORMATS.items()), "", ""]
)


@click.command(
    epilog=_FORMATS
    + common.example("digram convert cl100k_base.tiktoken tokenizer.json --encoding cl100k_base"),
)
@click.argument("source", metavar="SRC")
@click.argument("destination", metavar="DST")
@click.option(
    "--to", "format_", type=click.Choice(list(common.FORMATS)), help="Default: by the name."
)
@common.described_options
@common.allow_loss_option
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
def convert(
    *,
    source: str,
    destination: str,
    format_: str | None,
    allow_loss: bool,
    quiet: bool,
    **described: Any,
) -> None:
    """Read the tokenizer SRC and write it to DST (- is stdout) in another format.

    What a format cannot carry is refused, unless --allow-loss leaves it out. Formats without a
    pattern are the exception: whoever loads them must name the pretokenizer, and is reminded.
    """
    tok = common.load(source, described)
    common.save(tok, destination, format_, allow_loss)
    if not quiet and destination != "-":
        common.log(
            f"Saved {destination}: {common.several(len(tok), 'token')}, digest {tok.digest[:16]}"
        )
        if _lacks_pattern(destination, format_):
            common.log(
                "The file does not say how text is cut: load it with "
                f"{common.pretokenizer_spelled(tok.pretokenizer)}."
            )


def _lacks_pattern(destination: str, format_: str | None) -> bool:
    return format_ in ("tiktoken", "vocab_merges") or (
        format_ is None and destination.endswith(".tiktoken")
    )
