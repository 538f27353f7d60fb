"""`digram counts make`: count the pretokens of files."""

from __future__ import annotations

import time
from typing import Any

import click

from digram.cli import _inputs, _options, _pretokenizers, _reading, _verbs
from digram.cli.counts import _output

__all__ = ["make"]


@click.command(
    options_metavar="-o PATH [OPTIONS]",
    epilog=_verbs.example("digram counts make 'corpus/**/*.txt' -o counts.arrow"),
)
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@_output.output_option
@click.option(
    "--unit",
    type=click.Choice(["byte", "char"]),
    default="byte",
    show_default=True,
    help="The unit that merges start from; char requires UTF-8.",
)
@_pretokenizers.named_pretokenizer_option
@_pretokenizers.pretokenizer_options
@_pretokenizers.rules_option("Split text by these rules too.")
@_reading.source_options
@click.option(
    "--threads", type=int, metavar="N", help="Number of threads.  [default: one per core]"
)
@click.option(
    "--memory-limit", metavar="SIZE", help='Limit of memory for counting, such as "2 GB".'
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress bar and no summary.")
@_options.json_option
def make(
    *,
    files: tuple[str, ...],
    output_: str,
    pretokenizer: str | None,
    regex: tuple[str, ...],
    digits: Any,
    rules: str | None,
    read_options: _reading.ReadOptions,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Count the pretokens of files.

    FILES are files, folders (with all files below them except hidden ones) and quoted patterns, in
    which ** matches folders; - is stdin. Files named .jsonl, .ndjson or .json contain JSON; .csv,
    .tsv, .parquet and .arrow are tables; .gz, .zst, .bz2 and .xz are decompressed; all other files
    are text. A text file is one document unless --separator splits it; each record is one too.
    Training on the counts gives the same tokenizer as training on the text.
    """
    import digram
    from digram.pretokenizers.pretokenizer import resolve

    if not regex and pretokenizer is None:
        pretokenizer = "o200k"
    cut = _pretokenizers.pretokenizer_from(pretokenizer, regex, digits)
    given_rules = _pretokenizers.rules_from(rules)
    if given_rules is not None:
        cut = resolve(cut).with_rules(given_rules)
    _output.rehearse(output_)
    source, paths = _inputs.texts_in(files, read_options)
    _inputs.check_not_in_source(output_, paths)
    started = time.perf_counter()
    counts = digram.count_pretokens(
        source,
        pretokenizer=cut,
        progress=False if quiet else None,
        **options,
    )
    _output.save(counts, output_, time.perf_counter() - started, quiet, as_json)
