"""`digram report`: write a report on a tokenizer as one page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from digram.cli import (
    _files_argument,
    _inputs,
    _loading,
    _named_corpora,
    _options,
    _printing,
    _reading,
    _saving,
    _verbs,
)
from digram.errors import several

if TYPE_CHECKING:
    from digram.corpus import CorpusLike

__all__ = ["report"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH [OPTIONS]",
    epilog=_verbs.example(
        "digram report -t tokenizer.json corpus.txt -o report.html",
        "digram report -t tok.json --name en=en/ --name code=src/ -o report.html",
        "digram report -t tok.json en/ --parallel xx/ --reference en --json",
    ),
)
@_files_argument.optional
@_loading.tokenizer_option
@_loading.described_options
@_named_corpora.options
@click.option(
    "--parallel",
    multiple=True,
    metavar="[NAME=]FILES",
    help="Parallel text in several languages, line by line: a file, folder or quoted pattern as "
    "one text NAME; without NAME= each file is a text. Repeat it for several.",
)
@click.option(
    "--reference",
    metavar="NAME",
    help="The parallel text that the others are compared with. Without --parallel it is one of the "
    "named corpora, and these must be parallel.",
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="The page to write, such as report.html, or - for stdout.",
)
@click.option(
    "--figures",
    metavar="FOLDER",
    help="Write each figure as SVG and PNG, and its data as CSV, to this folder.",
)
@click.option("--title", metavar="TEXT", help="Title of the page.  [default: the tokenizer's name]")
@_reading.source_options
@_options.threads_option
@_options.json_option
def report(
    *,
    files: tuple[str, ...],
    tokenizer: str,
    by_file: bool,
    named: tuple[str, ...],
    parallel: tuple[str, ...],
    reference: str | None,
    output: str | None,
    figures: str | None,
    title: str | None,
    read_options: _reading.ReadOptions,
    threads: int | None,
    as_json: bool,
    **described: Any,
) -> None:
    """Write a report on a tokenizer: its measures on each text, the curve of vocabulary sizes, the
    cost of languages, the tokens by length and script, an audit, and samples, with figures.

    {files}. With --by-file or --name each corpus is measured by itself.

    The page is one file without scripts that needs no network. --figures writes the same figures
    for a paper, --json prints all numbers. --separator splits FILES into documents; those of
    --parallel are split into lines. Drawing needs additional packages; install them in the
    folder of digram's clone with pip install ".[plots]"
    """
    import digram

    _saving.check_stdout(output, as_json)
    _saving.refuse_stdout("--figures", figures)
    if not (output or figures or as_json):
        raise click.UsageError(
            "give an output: a page with -o report.html, --figures FOLDER, or --json."
        )
    if output or figures:
        from digram.reports import check_installed

        check_installed()  # before anything is read
    given = {*files, *(one.rpartition("=")[2] for one in (*named, *parallel))}
    if "-" in given or not (files or named):
        raise click.UsageError(
            "stdin can be read only once, but a report reads texts several times; name files."
        )
    tok = _loading.load(tokenizer, dict(described))
    by_line = read_options._replace(separator=None)
    lines = _parallel(parallel, by_line)
    if reference is not None and not parallel:  # the corpora themselves are parallel
        lines = _corpora(files, by_file, named, by_line)
    result = digram.report(
        tok,
        _corpora(files, by_file, named, read_options),
        parallel=lines or None,
        reference=reference,
        title=title or _loading.short_name(tokenizer),
        threads=threads,
    )
    if output == "-":
        _printing.emit_whole(result.html().encode(), "the page")
    elif output is not None:
        result.save(output)
        _printing.log(f"Saved {output}")
    if figures is not None:
        paths = result.save_figures(figures)
        _printing.log(f"Saved {several(len(paths), 'file')} in {figures}")
    if as_json:
        _printing.emit_json(result.to_dict())


def _corpora(
    files: tuple[str, ...],
    by_file: bool,
    named: tuple[str, ...],
    read_options: _reading.ReadOptions,
) -> dict[str, CorpusLike]:
    """The corpora by their names; all files together have the name of the only one, or `corpus`."""
    if by_file or named:
        return _named_corpora.by_name(files, by_file, named, read_options)
    source, paths = _inputs.texts_in(files, read_options)
    names = [*_named_corpora.names_of(paths)]
    return {names[0] if len(names) == 1 else "corpus": source}


def _parallel(
    arguments: Sequence[str], read_options: _reading.ReadOptions
) -> dict[str, CorpusLike]:
    """The parallel texts by their names."""
    sources: dict[str, CorpusLike] = {}
    for one in arguments:
        name, equals, files = one.partition("=")
        if equals and not (name and files):
            raise click.UsageError(f"--parallel {one!r} is not NAME=FILES, such as en=corpus/en.")
        found, paths = _inputs.texts_in((files if equals else one,), read_options)
        each = {name: found}
        if not equals:
            named = _named_corpora.names_of(paths).items()
            each = {own: _reading.files(str(at), read_options=read_options) for own, at in named}
        for own, source in each.items():
            if own in sources:
                raise click.UsageError(
                    f"--parallel {own!r} is the name of two texts; give each a NAME=."
                )
            sources[own] = source
    return sources
