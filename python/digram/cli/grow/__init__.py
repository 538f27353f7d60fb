"""`digram grow`: versions of a vocabulary for a stream of text, kept in a folder."""

from __future__ import annotations

import click

from digram.cli import _verbs

__all__ = ["VERBS", "grow"]

VERBS = {
    "add": ("add", "Count text and add it to a folder."),
    "forget": ("forget", "Remove text that was added."),
    "drift": ("drift", "Measure how much recent text differs."),
    "next": ("next_", "Make the next version of the vocabulary."),
    "save": ("save", "Save a version as a tokenizer file."),
    "log": ("log", "Show the versions and the log."),
}


class _Verbs(_verbs.Verbs):
    verbs = VERBS
    package = "digram.cli.grow"


@click.group(
    cls=_Verbs,
    subcommand_metavar="VERB [ARGS]...",
    epilog=_verbs.example(
        "digram grow add vocabulary/ 2025/*.txt --name 2025",
        "digram grow next vocabulary/ --vocab-size 32000 -o tokenizer.json",
        "digram grow add vocabulary/ 2026/*.txt --name 2026 --decay 0.5",
        "digram grow drift vocabulary/ --check || \\",
        "    digram grow next vocabulary/ --add 2000 -o tokenizer.json",
    ),
)
def grow() -> None:
    """Update a vocabulary as new text arrives: count new text, give old text less weight, and make
    a new version of the tokenizer, with the same ids for old tokens, when it pays.

    The folder contains counts, versions and a log, as digram.VocabularyHistory saves them, but no
    text. A change is complete or has no effect, even after a crash; only one command at a time can
    change the folder.
    """
