"""`digram check-rules`: check whether the tokens of a text obey rules, and what the rules cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from digram.cli import (
    _files_argument,
    _inputs,
    _loading,
    _options,
    _pretokenizers,
    _printing,
    _reading,
    _verbs,
)

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["check_rules"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH [OPTIONS]",
    epilog=_verbs.example(
        "digram check-rules -t tokenizer.json notes/",
        "digram check-rules -t tokenizer.json --rules rules.json 'notes/*.txt'",
    ),
)
@_files_argument.required
@_loading.with_tokenizer
@_pretokenizers.rules_option("Check these rules instead of those of the tokenizer.")
@_reading.source_options
@_options.threads_option
@_options.json_option
def check_rules(
    *,
    files: tuple[str, ...],
    tok: Tokenizer,
    rules: str | None,
    read_options: _reading.ReadOptions,
    threads: int | None,
    as_json: bool,
) -> None:
    """Check whether the tokens of a text obey rules, and what the rules cost.

    {files}, - for stdin. Counts the terms, abbreviations,
    units, patterns, numbers and forbidden tokens in the text and how many violate the rules, and
    shows the most frequent violations. The exit code is 1 if there are any.
    """
    import digram

    given_rules = _pretokenizers.rules_from(rules)
    source = _inputs.texts_in(files, read_options)[0]
    result = digram.check_rules(tok, source, given_rules, threads=threads)
    if as_json:
        _printing.emit_json(result.to_dict())
    else:
        _printing.emit(f"{result}\n")
    if result.violated:
        click.get_current_context().exit(1)
