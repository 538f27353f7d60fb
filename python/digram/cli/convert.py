"""`digram convert`: a tokenizer from one file format to another."""

from __future__ import annotations

from pathlib import Path
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
@click.option(
    "--pretokenizer",
    metavar="NAME",
    help="The pretokenizer, where SRC carries none: a name, or none.",
)
@common.pretokenizer_options
@click.option(
    "--encoding",
    metavar="NAME",
    help="A published encoding (r50k_base, cl100k_base, o200k_base) whose pattern and special "
    "tokens belong to SRC.",
)
@common.allow_loss_option
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
def convert(
    *,
    source: str,
    destination: str,
    format_: str | None,
    pretokenizer: str | None,
    regex: tuple[str, ...],
    digits: Any,
    encoding: str | None,
    allow_loss: bool,
    quiet: bool,
) -> None:
    """Read the tokenizer SRC and write it to DST (- is stdout) in another format.

    What a format cannot carry is refused, unless --allow-loss leaves it out. Formats without a
    pattern are the exception: whoever loads them must name the pretokenizer, and is reminded.
    """
    import digram

    options: dict[str, Any] = {}
    chosen = common.pretokenizer_from(pretokenizer, regex, digits)
    if chosen is not None:
        options["pretokenizer"] = chosen
    if encoding is not None:
        options["encoding"] = encoding
    tok = digram.load(Path(source), **options)
    common.save(tok, destination, format_, allow_loss)
    if not quiet and destination != "-":
        common.log(f"Saved {destination}: {len(tok):,} tokens, digest {tok.digest[:16]}")
        if _lacks_pattern(destination, format_):
            name = tok.pretokenizer.name
            common.log(
                "The file does not say how text is cut: load it with "
                + (f"--pretokenizer {name}." if name else "the same --pretokenizer or --regex.")
            )


def _lacks_pattern(destination: str, format_: str | None) -> bool:
    return format_ in ("tiktoken", "vocab_merges") or (
        format_ is None and destination.endswith(".tiktoken")
    )
