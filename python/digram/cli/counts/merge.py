"""`digram counts merge`: add up the counts of several files."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from digram.cli import _files_argument, _options, _verbs
from digram.cli.counts import _output
from digram.errors import several, show

__all__ = ["merge"]


def _weights(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    if value is None:
        return None
    from digram._util.validation import fraction_in

    try:
        return [fraction_in(number.strip()) for number in value.split(",")]
    except ValueError:
        raise click.BadParameter(
            f"{show(value)} is not a list of numbers such as 2,1 or 1,2.5"
        ) from None


@click.command(
    cls=_verbs.Verb,
    options_metavar="-o PATH [OPTIONS]",
    epilog=_verbs.example("digram counts merge part-*.arrow -o counts.arrow"),
)
@_files_argument.of_counts
@_output.output_option
@click.option(
    "--weights",
    callback=_weights,
    metavar="NUMBERS",
    help="The weight of each file, such as 2,1 to count the first twice. With fractions, counts "
    "are rounded, half to even.",
)
@click.option(
    "--min-count",
    type=click.IntRange(min=1),
    metavar="N",
    help="Leave out pretokens that occur fewer than N times in all files.",
)
@click.option(
    "--without-first",
    is_flag=True,
    help="Leave out the first occurrences, which --ties first_seen needs; then the order of FILES "
    "does not matter.",
)
@_options.no_summary_option
@_options.json_option
def merge(
    *,
    files: tuple[str, ...],
    output_: str,
    weights: list[Any] | None,
    min_count: int | None,
    without_first: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Merge the counts of several files, as if their texts were counted one after the other.

    FILES are counts made with the same pretokenizer and unit. A single file can be weighted,
    filtered or saved in another format.
    """
    from digram import Counts

    if weights is not None and len(weights) != len(files):
        raise click.UsageError(
            f"--weights has {several(len(weights), 'number')} for {several(len(files), 'file')}."
        )
    _output.rehearse(output_)
    started = time.perf_counter()
    parts = []
    for number, name in enumerate(files):
        part = Counts.load(Path(name))
        parts.append(part if weights is None else part.scale(weights[number]))
    merged = Counts.merge(parts)
    merged = merged if min_count is None else merged.filter(min_count=min_count)
    merged = merged.without_first() if without_first else merged
    _output.save(merged, output_, time.perf_counter() - started, quiet, as_json)
