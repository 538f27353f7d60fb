"""`digram compare`: compare two tokenizers on the same text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from digram.cli import (
    _files_argument,
    _inputs,
    _loading,
    _named_corpora,
    _options,
    _printing,
    _reading,
    _verbs,
)

__all__ = ["compare"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t THIS --against OTHER [OPTIONS]",
    epilog=_verbs.example(
        "digram compare -t old.json --against new.json corpus/*.txt",
        "digram compare -t old.json --against new.json --name en=en/ --name sw=sw/",
        "digram compare -t mine.json --against gpt-4o corpus/",
    ),
)
@_files_argument.optional
@_loading.pair_options()
@_loading.described_options
@_named_corpora.options
@click.option(
    "--top",
    type=int,
    default=10,
    show_default=True,
    metavar="N",
    help="How many places, and tokens of one vocabulary only, to show of each sort.",
)
@_reading.source_options
@_options.threads_option
@_options.json_option
def compare(
    *,
    files: tuple[str, ...],
    tokenizers: tuple[str, ...],
    against: str,
    by_file: bool,
    named: tuple[str, ...],
    top: int,
    read_options: _reading.ReadOptions,
    threads: int | None,
    as_json: bool,
    **described: Any,
) -> None:
    """Show which of two tokenizers needs fewer tokens for a text, and where: by file, by kind of
    text and by place; how much of the text both split alike; and the tokens that only one has.

    {files_or_stdin} With
    --by-file or --name the tokenizers are also compared on each corpus.

    THIS and OTHER are files, folders or names of tokenizers. --encoding, --pretokenizer, --regex
    and --digits apply to files that do not store their pretokenizer. If neither does and they
    differ, append the encoding of each after a colon, or convert one with digram convert.
    """
    import digram

    this, other = _loading.one(tokenizers), against
    source: Any = (
        _named_corpora.by_name(files, by_file, named, read_options) if by_file or named else None
    )
    pair = [
        _loading.load_any(this, dict(described)),
        _loading.load_any(other, dict(described), "--against"),
    ]
    if source is None:
        source = _inputs.texts_in(files or ("-",), read_options)[0]
    names = (this, other) if as_json else _names(this, other)
    comparison = digram.compare(pair[0], pair[1], source, names=names, top=top, threads=threads)
    if as_json:
        _printing.emit_json(comparison.to_dict())
    else:
        _printing.emit(f"{comparison}\n")


def _names(this: str, other: str) -> tuple[str, str]:
    """Short names that distinguish two paths, for the titles of tables.

    >>> _names("vocabs/cl100k_base.tiktoken", "mine.json"), _names("gpt-4", "gpt-4.1")
    (('cl100k_base', 'mine'), ('gpt-4', 'gpt-4.1'))
    >>> _names("runs/1/tokenizer.json", "runs/2/tokenizer.json")
    ('1', '2')
    """
    short = _loading.short_name(this), _loading.short_name(other)
    paths = [Path(_loading.with_encoding(path)[0]) for path in (this, other)]
    parts = zip(reversed(paths[0].parts), reversed(paths[1].parts), strict=False)
    for one, two in [short, *parts]:
        if one != two:
            return one, two
    return this, other
