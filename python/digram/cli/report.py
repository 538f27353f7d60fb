"""`digram report`: write a report on a tokenizer as one page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from digram.cli import (
    _binary_files,
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
    options_metavar="-t PATH --corpus [NAME=]FILES [OPTIONS]",
    epilog=_verbs.example(
        "digram report -t tokenizer.json --corpus corpus.txt -o report.html",
        "digram report -t tok.json --corpus en=en/ --corpus code=src/ -o report.html",
        "digram report -t tok.json --corpus en/ --parallel xx/ --reference en --json",
    ),
)
@_loading.tokenizer_option
@_loading.described_options
@click.option(
    "--corpus",
    multiple=True,
    required=True,
    metavar="[NAME=]FILES",
    help="Text to measure: a file, folder or quoted pattern, measured as one corpus NAME; without "
    "NAME= each file is a corpus. Repeat it for several.",
)
@click.option(
    "--parallel",
    multiple=True,
    metavar="[NAME=]FILES",
    help="Parallel text in several languages, line by line, named as with --corpus.",
)
@click.option(
    "--reference",
    metavar="NAME",
    help="The parallel text that the others are compared with. Without --parallel it is one of "
    "--corpus, and these must be parallel.",
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
    tokenizer: str,
    corpus: tuple[str, ...],
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

    The page is one file without scripts that needs no network. --figures writes the same figures
    for a paper, --json prints all numbers. --separator splits the files of --corpus into documents;
    those of --parallel are split into lines. Drawing needs additional packages; install them in the
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
    tok = _loading.load(tokenizer, dict(described))
    # With --reference but no --parallel, the corpora themselves are parallel, line by line.
    lines = parallel or (corpus if reference is not None else ())
    result = digram.report(
        tok,
        _by_name("--corpus", corpus, read_options),
        parallel=_by_name("--parallel", lines, read_options._replace(separator=None)) or None,
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


def _by_name(
    option: str, arguments: Sequence[str], read_options: _reading.ReadOptions
) -> dict[str, CorpusLike]:
    """The corpora of an option by their names."""
    sources: dict[str, CorpusLike] = {}
    for one in arguments:
        name, equals, files = one.partition("=")
        if equals and not (name and files):
            raise click.UsageError(f"{option} {one!r} is not NAME=FILES, such as en=corpus/en.")
        if "-" in (one, files):
            raise click.UsageError(
                "stdin can be read only once, but a report reads texts several times; name files."
            )
        files_found = _reading.files(files if equals else one, read_options=read_options)
        _binary_files.warn_of_files(files_found)
        each = (
            {name: files_found}
            if equals
            else {
                own: _reading.files(str(path), read_options=read_options)
                for own, path in _named_corpora.names_of(files_found.paths).items()
            }
        )
        for own, source in each.items():
            if own in sources:
                raise click.UsageError(
                    f"{option} {own!r} is the name of two texts; give each a NAME=."
                )
            sources[own] = source
    return sources
