"""`digram prune`: remove the tokens that a corpus needs least."""

from __future__ import annotations

import click

from digram.cli import _change_options, _options, _verbs

__all__ = ["prune"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH -o PATH [OPTIONS]",
    epilog=_verbs.example("digram prune -t large.json notes/*.txt --remove 2000 -o small.json"),
)
@click.option("--remove", type=_options.NUMBER, metavar="N", help="Remove N tokens.")
@click.option(
    "--vocab-size", type=_options.NUMBER, metavar="N", help="Or remove tokens until N ids remain."
)
@click.option(
    "--keep",
    multiple=True,
    metavar="TOKEN",
    help="Do not remove this token; repeat it for several.",
)
@click.option(
    "--holes",
    is_flag=True,
    help="Leave the ids of removed tokens unused; all other ids stay the same.",
)
@_change_options.options
def prune(
    *,
    request: _change_options.ChangeRequest,
    remove: int | None,
    vocab_size: int | None,
    keep: tuple[str, ...],
    holes: bool,
) -> None:
    """Remove from a tokenizer the tokens that the text or counts of FILES need least.

    Only tokens that are not part of other tokens are removed, so that the others stay reachable;
    single bytes or characters and special tokens are kept. FILES are those of digram train.
    """
    import digram

    if (remove is None) == (vocab_size is None):
        raise click.UsageError("give either --remove or --vocab-size.")
    small, change = digram.prune(
        request.tok,
        request.source,
        remove=remove,
        vocab_size=vocab_size,
        keep=keep,
        compact=not holes,
        threads=request.threads,
    )
    request.save(small, change)
