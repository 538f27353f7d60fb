"""`digram counts`: count the pretokens of a corpus, bring counts together, look at them."""

from __future__ import annotations

import click

from digram.cli import common

__all__ = ["VERBS", "counts"]

VERBS = {
    "make": ("make", "Count the pretokens of files."),
    "merge": ("merge", "Bring counts of several files together."),
    "show": ("show", "Show what a file of counts holds."),
}


class _Verbs(common.Verbs):
    verbs = VERBS
    room = "digram.cli.counts"


@click.group(
    cls=_Verbs,
    subcommand_metavar="VERB [ARGS]...",
    epilog=common.example(
        "digram counts make corpus/ -o counts.arrow",
        "digram train counts.arrow --vocab-size 32000 -o tokenizer.json",
    ),
)
def counts() -> None:
    """Count once, train often: the distinct pretokens of a corpus and how often each stands there.

    Counts are much smaller than their text, and all that training needs of it. Those of parts of a
    corpus, made anywhere, add up to those of the whole. A file of counts is a table that other
    programs read: Arrow's file format, or Parquet where the name ends in .parquet.
    """
