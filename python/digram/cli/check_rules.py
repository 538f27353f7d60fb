"""`digram check-rules`: whether text becomes tokens as rules want it, and what the rules cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from digram.cli import common, corpus

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["check_rules"]


@click.command(
    options_metavar="-t PATH [OPTIONS]",
    epilog=common.example(
        "digram check-rules -t tokenizer.json notes/",
        "digram check-rules -t tokenizer.json --rules rules.json 'notes/*.txt'",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@common.with_tokenizer
@common.rules_option("Check these rules. By default those of the tokenizer.")
@common.source_options
@click.option("--threads", type=int, metavar="N", help="Default: one for each core.")
@common.json_option
def check_rules(
    *,
    files: tuple[str, ...],
    tok: Tokenizer,
    rules: str | None,
    told: common.Told,
    threads: int | None,
    as_json: bool,
) -> None:
    """Check whether text becomes tokens as rules want it, and what the rules cost.

    FILES are files, folders and quoted patterns, - for stdin. Says of terms, abbreviations, units,
    patterns, numbers and forbidden tokens how many there are, how many are not as the rules want
    them, and the most frequent of these. The exit code is 1 where there are any.
    """
    import digram

    asked = common.rules_from(rules)
    source = corpus.texts_in(files, told)[0]
    found = digram.check_rules(tok, source, asked, threads=threads)
    if as_json:
        common.emit_json(found.to_dict())
    else:
        common.emit(f"{found}\n")
    if found.violated:
        click.get_current_context().exit(1)
