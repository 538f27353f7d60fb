"""`digram extend`: add tokens for a domain without changing the old ones."""

from __future__ import annotations

import time
from typing import Any

import click

from digram.cli import _change_options, _options, _training_options, _verbs

__all__ = ["extend"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH --add N -o PATH [OPTIONS]",
    epilog=_verbs.example("digram extend -t old.json notes/*.txt --add 4000 -o medical.json"),
)
@click.option(
    "--add", type=_options.NUMBER, required=True, metavar="N", help="Add at most N tokens."
)
@click.option(
    "--min-frequency",
    type=_options.NUMBER,
    default=1,
    show_default=True,
    metavar="N",
    help="Do not merge pairs that occur less often.",
)
@_training_options.max_token_length_option
@click.option(
    "--whole-characters",
    is_flag=True,
    default=None,
    help="Make no token that joins part of a character with other bytes; the default if the "
    "tokenizer was trained so.",
)
@_options.memory_limit_option
@_training_options.checkpoint_option
@_change_options.options
def extend(*, request: _change_options.ChangeRequest, **options: Any) -> None:
    """Add merges to a tokenizer, learned from the text or counts of FILES.

    All tokens and merges stay the same, and new ids follow the highest one, so a model keeps its
    embedding rows. FILES are those of digram train. Text is encoded as before, with some adjacent
    tokens joined. The .npz of --change has the arrays that initialize a model's new rows: starts,
    ids and weights, described at digram.EmbeddingPlan.
    """
    import digram

    started = time.perf_counter()
    grown, change = digram.extend(
        request.tok,
        request.source,
        threads=request.threads,
        progress=False if request.quiet else None,
        **options,
    )
    request.save(grown, change, time.perf_counter() - started)
