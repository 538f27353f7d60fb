"""`digram counts make`: files in, counts out."""

from __future__ import annotations

import time
from typing import Any

import click

from digram.cli import common, corpus
from digram.cli.counts import output

__all__ = ["make"]


@click.command(
    options_metavar="-o PATH [OPTIONS]",
    epilog=common.example("digram counts make 'corpus/**/*.txt' -o counts.arrow"),
)
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@output.output_option
@click.option(
    "--unit",
    type=click.Choice(["byte", "char"]),
    default="byte",
    show_default=True,
    help="What merges will start from; char checks that the text is UTF-8.",
)
@common.named_pretokenizer_option
@common.pretokenizer_options
@common.rules_option("Cut by these rules.")
@common.source_options
@click.option("--threads", type=int, metavar="N", help="Default: one for each core.")
@click.option("--memory-limit", metavar="SIZE", help='As in "2 GB"; counting takes no more.')
@click.option("-q", "--quiet", is_flag=True, help="No bar and no summary.")
@common.json_option
def make(
    *,
    files: tuple[str, ...],
    output_: str,
    pretokenizer: str | None,
    regex: tuple[str, ...],
    digits: Any,
    rules: str | None,
    told: common.Told,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Count the pretokens of files.

    FILES are files, folders (all below them but hidden ones) and quoted patterns, where ** crosses
    folders; - is stdin. Names that end in .jsonl, .ndjson or .json hold JSON, .csv, .tsv, .parquet
    and .arrow are tables, and .gz, .zst, .bz2 or .xz are unpacked; all else is text. A text file is
    one document unless --separator cuts it, and so is each record. Training on the counts gives
    what training on the text gives.
    """
    import digram
    from digram.pretokenizers.pretokenizer import resolve

    if not regex and pretokenizer is None:
        pretokenizer = "o200k"
    cut = common.pretokenizer_from(pretokenizer, regex, digits)
    asked = common.rules_from(rules)
    if asked is not None:
        cut = resolve(cut).with_rules(asked)
    output.rehearse(output_)
    source, paths = corpus.texts_in(files, told)
    corpus.check_not_in_source(output_, paths)
    started = time.perf_counter()
    counts = digram.count_pretokens(
        source,
        pretokenizer=cut,
        progress=False if quiet else None,
        **options,
    )
    output.save(counts, output_, time.perf_counter() - started, quiet, as_json)
