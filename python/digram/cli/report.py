"""`digram report`: all there is to say of a tokenizer, as one page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from digram.cli import binary, common, naming

if TYPE_CHECKING:
    from digram.corpus import CorpusLike

__all__ = ["report"]


@click.command(
    options_metavar="-t PATH --corpus [NAME=]FILES [OPTIONS]",
    epilog=common.example(
        "digram report -t tokenizer.json --corpus corpus.txt -o report.html",
        "digram report -t tok.json --corpus en=en/ --corpus code=src/ -o report.html",
        "digram report -t tok.json --corpus en/ --parallel xx/ --reference en --json",
    ),
)
@common.tokenizer_option
@common.described_options
@click.option(
    "--corpus",
    multiple=True,
    required=True,
    metavar="[NAME=]FILES",
    help="Text to measure: a file, folder or quoted pattern, as one text of this name; without "
    "NAME each file by its own. Repeat it.",
)
@click.option(
    "--parallel",
    multiple=True,
    metavar="[NAME=]FILES",
    help="Text that says the same in several languages, line by line, named as with --corpus.",
)
@click.option(
    "--reference",
    metavar="NAME",
    help="The parallel text that the others are compared with; without --parallel one of --corpus, "
    "whose texts are parallel then.",
)
@click.option(
    "-o", "--output", metavar="PATH", help="The page to write, as in report.html, or - for stdout."
)
@click.option(
    "--figures",
    metavar="FOLDER",
    help="Write each figure as SVG and PNG, and its data as CSV, into this folder.",
)
@click.option("--title", metavar="TEXT", help="Of the page.  [default: the tokenizer's name]")
@common.source_options
@click.option("--threads", type=int, metavar="N", help="Default: one for each core.")
@common.json_option
def report(
    *,
    tokenizer: str,
    corpus: tuple[str, ...],
    parallel: tuple[str, ...],
    reference: str | None,
    output: str | None,
    figures: str | None,
    title: str | None,
    told: common.Told,
    threads: int | None,
    as_json: bool,
    **described: Any,
) -> None:
    """Report on a tokenizer: its measures on each text, the curve of smaller vocabularies, what
    languages cost, the tokens by length and script, an audit, and samples, with figures.

    The page is one file that needs no network and no script. --figures writes the same figures for
    a paper, --json prints all numbers. --separator cuts the files of --corpus into documents; those
    of --parallel are cut where lines end. Drawing needs, in the
    folder of digram's clone: pip install ".[plots]"
    """
    import digram

    common.check_stdout(output, as_json)
    common.check_folder("--figures", figures)
    if not (output or figures or as_json):
        raise click.UsageError(
            "say what to write: a page with -o report.html, --figures FOLDER, or --json."
        )
    if output or figures:
        from digram.reports import check_installed

        check_installed()  # before anything is read
    tok = common.load(tokenizer, dict(described))
    # A reference alone is one of the corpus, which is cut where lines end then.
    lines = parallel or (corpus if reference is not None else ())
    found = digram.report(
        tok,
        _by_name("--corpus", corpus, told),
        parallel=_by_name("--parallel", lines, told._replace(separator=None)) or None,
        reference=reference,
        title=title or Path(common.with_encoding(tokenizer)[0]).stem,
        threads=threads,
    )
    if output == "-":
        common.emit_whole(found.html().encode(), "the page")
    elif output is not None:
        found.save(output)
        common.log(f"Saved {output}")
    if figures is not None:
        paths = found.save_figures(figures)
        common.log(f"Saved {common.several(len(paths), 'file')} in {figures}")
    if as_json:
        common.emit_json(found.to_dict())


def _by_name(option: str, arguments: Sequence[str], told: common.Told) -> dict[str, CorpusLike]:
    """The corpora of an option by their names."""
    sources: dict[str, CorpusLike] = {}
    for one in arguments:
        name, equals, files = one.partition("=")
        if equals and not (name and files):
            raise click.UsageError(f"{option} {one!r} is not NAME=FILES, as in en=corpus/en.")
        if "-" in (one, files):
            raise click.UsageError(
                "stdin can be read once, and a report reads its texts several times; name files."
            )
        found = common.files(files if equals else one, told=told)
        binary.warn_of_files(found)
        each = (
            {name: found}
            if equals
            else {
                own: common.files(str(path), told=told)
                for own, path in naming.names_of(found.paths).items()
            }
        )
        for own, source in each.items():
            if own in sources:
                raise click.UsageError(f"{option} {own!r} is the name of two texts; name them.")
            sources[own] = source
    return sources
