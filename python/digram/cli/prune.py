"""`digram prune`: without the tokens that a corpus needs least."""

from __future__ import annotations

import click

from digram.cli import changing, common

__all__ = ["prune"]


@click.command(
    options_metavar="-t PATH -o PATH [OPTIONS]",
    epilog=common.example("digram prune -t large.json notes/*.txt --remove 2000 -o small.json"),
)
@click.option("--remove", type=common.NUMBER, metavar="N", help="So many tokens go.")
@click.option(
    "--vocab-size", type=common.NUMBER, metavar="N", help="Or the number of ids that are to remain."
)
@click.option(
    "--keep", multiple=True, metavar="TOKEN", help="A token that stays; repeat it for several."
)
@click.option("--holes", is_flag=True, help="Leave the ids of what goes free; others keep theirs.")
@changing.options
def prune(
    *,
    asked: changing.Asked,
    remove: int | None,
    vocab_size: int | None,
    keep: tuple[str, ...],
    holes: bool,
) -> None:
    """Take from a tokenizer the tokens that the text or counts of FILES need least.

    Only tokens of which no other is made go, so that all others can still be reached; single bytes
    or characters and special tokens stay. FILES are what digram train takes.
    """
    import digram

    if (remove is None) == (vocab_size is None):
        raise click.UsageError("say how many: --remove or --vocab-size.")
    small, change = digram.prune(
        asked.tok,
        asked.source,
        remove=remove,
        vocab_size=vocab_size,
        keep=keep,
        compact=not holes,
        threads=asked.threads,
    )
    asked.save(small, change)
