"""`digram prune`: without the tokens that a corpus needs least."""

from __future__ import annotations

from typing import Any

import click

from digram.cli import common, corpus

__all__ = ["prune"]


@click.command(
    epilog=common.example("digram prune tokenizer.json notes/*.txt --remove 2000 -o small.json"),
)
@click.argument("source", metavar="SRC")
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option("--remove", type=int, metavar="N", help="So many tokens go.")
@click.option("--vocab-size", type=int, metavar="N", help="Or so many ids there are to be.")
@click.option(
    "--keep", multiple=True, metavar="TOKEN", help="A token that stays; repeat it for several."
)
@click.option("--holes", is_flag=True, help="Leave the ids of what goes free; others keep theirs.")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="PATH",
    help="The new tokenizer's file, or folder, as of digram train; - is stdout.",
)
@click.option(
    "--change",
    "change_path",
    metavar="PATH",
    help="Write what becomes of the ids to this .npz: id_map, and the rows of embeddings.",
)
@click.option(
    "--to", "format_", type=click.Choice(list(common.FORMATS)), help="Default: by the name."
)
@common.described_options
@common.source_options
@click.option("--threads", type=int, metavar="N", help="Default: one for each core.")
@common.allow_loss_option
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
def prune(
    *,
    source: str,
    files: tuple[str, ...],
    remove: int | None,
    vocab_size: int | None,
    keep: tuple[str, ...],
    holes: bool,
    output: str,
    change_path: str | None,
    format_: str | None,
    told: common.Told,
    threads: int | None,
    allow_loss: bool,
    quiet: bool,
    **described: Any,
) -> None:
    """Take from the tokenizer SRC the tokens that the text or counts of FILES need least.

    Only tokens of which no other is made go, so that all others can still be reached; single bytes
    or characters and special tokens stay. FILES are what digram train takes.
    """
    if (remove is None) == (vocab_size is None):
        raise click.UsageError("say how many: --remove or --vocab-size.")
    tok = common.load(source, described)
    counts = corpus.counts_in(files)
    text: Any = counts
    if counts is None:
        text, paths = corpus.texts_in(files, told)
        corpus.check_not_in_source(output, paths)
    small, change = tok.prune(
        text,
        remove=remove,
        vocab_size=vocab_size,
        keep=keep,
        compact=not holes,
        separator=None if counts is not None else told.separator,
        threads=threads,
    )
    common.save(small, output, format_, allow_loss)
    if change_path is not None:
        change.save(change_path)
    if not quiet:
        common.log(f"{change}.")
        if output != "-":
            common.log(f"Saved {output}")
