"""`digram counts`: count the pretokens of a corpus, merge counts, show counts."""

from __future__ import annotations

import click

from digram.cli import _verbs

__all__ = ["VERBS", "counts"]

VERBS = {
    "make": ("make", "Count the pretokens of files."),
    "merge": ("merge", "Merge the counts of several files."),
    "show": ("show", "Show the contents of a file of counts."),
}


class _Verbs(_verbs.Verbs):
    verbs = VERBS
    package = "digram.cli.counts"


@click.group(
    cls=_Verbs,
    subcommand_metavar="VERB [ARGS]...",
    epilog=_verbs.example(
        "digram counts make corpus/ -o counts.arrow",
        "digram train counts.arrow --vocab-size 32000 -o tokenizer.json",
    ),
)
def counts() -> None:
    """Count once, train often: the distinct pretokens of a corpus with their counts.

    Counts are much smaller than the text, and sufficient for training. Counts of parts of a corpus
    can be made on different machines and merged. A file of counts is a table that other programs
    can read: in Arrow's file format, or in Parquet if the name ends in .parquet.
    """
