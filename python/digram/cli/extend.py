"""`digram extend`: more tokens for a domain, and the old ones as they are."""

from __future__ import annotations

import time
from typing import Any

import click

from digram.cli import common, corpus

__all__ = ["extend"]


@click.command(
    epilog=common.example("digram extend tokenizer.json notes/*.txt --add 4000 -o medical.json"),
)
@click.argument("source", metavar="SRC")
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option("--add", type=int, required=True, metavar="N", help="So many tokens at most.")
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
    "--min-frequency",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="Merge no pair that occurs less often.",
)
@click.option("--max-token-length", type=int, metavar="N", help="Make no token of more bytes.")
@click.option(
    "--to", "format_", type=click.Choice(list(common.FORMATS)), help="Default: by the name."
)
@common.described_options
@common.source_options
@click.option("--threads", type=int, metavar="N", help="Default: one for each core.")
@click.option(
    "--memory-limit",
    metavar="SIZE",
    help='As in "2 GB"; what does not fit goes to the folder for temporary files.',
)
@click.option(
    "--checkpoint",
    metavar="FOLDER",
    help="Note here how far the run is; the same command goes on from there.",
)
@common.allow_loss_option
@click.option("-q", "--quiet", is_flag=True, help="No bar and no summary.")
def extend(
    *,
    source: str,
    files: tuple[str, ...],
    add: int,
    output: str,
    change_path: str | None,
    format_: str | None,
    told: common.Told,
    allow_loss: bool,
    quiet: bool,
    min_frequency: int,
    max_token_length: int | None,
    threads: int | None,
    memory_limit: str | None,
    checkpoint: str | None,
    **described: Any,
) -> None:
    """Teach the tokenizer SRC the next merges, learned from the text or counts of FILES.

    Every token and every merge stays as it is, and new ids come after the highest one, so a model
    goes on from the rows that it has. FILES are what digram train takes. Text becomes what it
    became before, with some neighbours joined. The .npz of --change has the arrays that begin a
    model's new rows: starts, ids and weights, as digram.EmbeddingPlan explains them.
    """
    tok = common.load(source, described)
    counts = corpus.counts_in(files)
    text: Any = counts
    if counts is None:
        text, paths = corpus.texts_in(files, told)
        corpus.check_not_in_source(output, paths)
    started = time.perf_counter()
    grown, change = tok.extend(
        text,
        add=add,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        separator=None if counts is not None else told.separator,
        threads=threads,
        memory_limit=memory_limit,
        checkpoint=checkpoint,
        progress=False if quiet else None,
    )
    seconds = time.perf_counter() - started
    common.save(grown, output, format_, allow_loss)
    if change_path is not None:
        change.save(change_path)
    if not quiet:
        common.log(f"{change}, in {seconds:.1f} s.")
        if output != "-":
            common.log(f"Saved {output}")
