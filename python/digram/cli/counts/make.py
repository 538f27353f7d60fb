"""`digram counts make`: count the pretokens of files."""

from __future__ import annotations

import time
from typing import Any

import click

from digram.cli import _files_argument, _inputs, _options, _pretokenizers, _reading, _verbs
from digram.cli.counts import _output

__all__ = ["make"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="-o PATH [OPTIONS]",
    epilog=_verbs.example("digram counts make 'corpus/**/*.txt' -o counts.arrow"),
)
@_files_argument.required
@_output.output_option
@_options.unit_option
@_pretokenizers.named_pretokenizer_option
@_pretokenizers.pretokenizer_options
@_pretokenizers.rules_option("Split text by these rules too.")
@_reading.source_options
@_options.threads_option
@_options.counting_limit_option
@_options.quiet_option
@_options.json_option
def make(
    *,
    files: tuple[str, ...],
    output_: str,
    pretokenizer: str | None,
    regex: tuple[str, ...],
    digits: Any,
    normalizer: tuple[Any, ...],
    rules: str | None,
    read_options: _reading.ReadOptions,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Count the pretokens of files.

    {files_in_folders} {kinds_of_files} Training on the counts gives the same tokenizer as training
    on the text.
    """
    import digram
    from digram.pretokenizers.pretokenizer import resolve

    if not regex and pretokenizer is None:
        pretokenizer = "o200k"
    cut = _pretokenizers.pretokenizer_from(pretokenizer, regex, digits, normalizer)
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
