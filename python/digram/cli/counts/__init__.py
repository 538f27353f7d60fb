"""`digram counts`: count the pretokens of a corpus, bring counts together, look at them."""

from __future__ import annotations

from importlib import import_module

import click

from digram.cli import common

__all__ = ["VERBS", "counts"]

VERBS = {
    "make": "Count the pretokens of files.",
    "merge": "Bring counts of several files together.",
    "show": "Show what a file of counts holds.",
}


class _Verbs(click.Group):
    """The verbs of `counts`, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command = getattr(import_module(f"digram.cli.counts.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        common.check_verb(ctx, args[0], VERBS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


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
