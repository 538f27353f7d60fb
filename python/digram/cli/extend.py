"""`digram extend`: more tokens for a domain, and the old ones as they are."""

from __future__ import annotations

import time
from typing import Any

import click

from digram.cli import changing, common

__all__ = ["extend"]


@click.command(
    options_metavar="-t PATH --add N -o PATH [OPTIONS]",
    epilog=common.example("digram extend -t old.json notes/*.txt --add 4000 -o medical.json"),
)
@click.option(
    "--add", type=common.NUMBER, required=True, metavar="N", help="So many tokens at most."
)
@click.option(
    "--min-frequency",
    type=common.NUMBER,
    default=1,
    show_default=True,
    metavar="N",
    help="Merge no pair that occurs less often.",
)
@click.option("--max-token-length", type=int, metavar="N", help="Make no token of more bytes.")
@click.option(
    "--whole-characters",
    is_flag=True,
    default=None,
    help="Learn no token that holds a part of a character beside anything else; the default where "
    "the tokenizer was trained so.",
)
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
@changing.options
def extend(*, asked: changing.Asked, **options: Any) -> None:
    """Teach a tokenizer the next merges, learned from the text or counts of FILES.

    Every token and every merge stays as it is, and new ids come after the highest one, so a model
    goes on from the rows that it has. FILES are what digram train takes. Text becomes what it
    became before, with some neighbours joined. The .npz of --change has the arrays that begin a
    model's new rows: starts, ids and weights, as digram.EmbeddingPlan explains them.
    """
    import digram

    started = time.perf_counter()
    grown, change = digram.extend(
        asked.tok,
        asked.source,
        threads=asked.threads,
        progress=False if asked.quiet else None,
        **options,
    )
    asked.save(grown, change, time.perf_counter() - started)
