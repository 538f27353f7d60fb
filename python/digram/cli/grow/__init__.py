"""`digram grow`: a vocabulary that follows a stream of text, kept in a folder."""

from __future__ import annotations

import click

from digram.cli import common

__all__ = ["VERBS", "grow"]

VERBS = {
    "add": ("add", "Count text, and add it; begin a folder."),
    "forget": ("forget", "Take text away again that was added."),
    "drift": ("drift", "Say how far recent text is, and whether an update pays."),
    "next": ("next_", "Make the next version of the vocabulary."),
    "save": ("save", "Save a version, and the change since another."),
    "log": ("log", "Show the versions, and what was done."),
}


class _Verbs(common.Verbs):
    verbs = VERBS
    room = "digram.cli.grow"


@click.group(
    cls=_Verbs,
    subcommand_metavar="VERB [ARGS]...",
    epilog=common.example(
        "digram grow add vocabulary/ 2025/*.txt --name 2025",
        "digram grow next vocabulary/ --vocab-size 32000 -o tokenizer.json",
        "digram grow add vocabulary/ 2026/*.txt --name 2026 --decay 0.5",
        "digram grow drift vocabulary/ --check || \\",
        "    digram grow next vocabulary/ --add 2000 -o tokenizer.json",
    ),
)
def grow() -> None:
    """Follow a stream of text: count what comes, let go what fades, and make the next tokenizer
    with old ids kept, when that pays.

    All of it is kept in a folder, as digram.VocabularyHistory saves it: counts, versions and a log,
    never text. A crash leaves what was there before or what came of the call, and one call at a
    time may change it.
    """
