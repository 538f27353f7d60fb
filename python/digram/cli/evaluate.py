"""`digram evaluate`: measure how well tokenizers encode text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
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
    _verbs,
)

if TYPE_CHECKING:
    from digram.analysis.metrics import Evaluation

__all__ = ["evaluate"]

_FEWEST = ", fewest tokens"
"""What follows the name of a tokenizer that encodes into the fewest tokens."""


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH... [OPTIONS]",
    epilog=_verbs.example(
        "digram evaluate -t tokenizer.json corpus/*.txt",
        "digram evaluate -t old.json -t new.json --name en=en/ --name sw=sw/",
        r"digram evaluate -t tok.json lines/ --by-file --separator '\n' --reference en",
    ),
)
@_files_argument.optional
@_loading.tokenizers_option("repeat it to compare several.")
@_loading.described_options
@_named_corpora.options
@click.option(
    "--reference",
    metavar="NAME",
    help="Compare the cost of each name with this one; the texts must be parallel, line by line.",
)
@_reading.source_options
@click.option(
    "--alpha",
    type=float,
    default=2.5,
    show_default=True,
    metavar="N",
    help="The order of Rényi's entropy.",
)
@click.option(
    "--fewest",
    is_flag=True,
    help="Also measure the fewest tokens that each vocabulary allows, in place of its merges.",
)
@_options.threads_option
@_options.json_option
def evaluate(
    *,
    files: tuple[str, ...],
    tokenizers: tuple[str, ...],
    by_file: bool,
    named: tuple[str, ...],
    reference: str | None,
    read_options: _reading.ReadOptions,
    alpha: float,
    fewest: bool,
    threads: int | None,
    as_json: bool,
    **described: Any,
) -> None:
    r"""Measure how well tokenizers encode text: bytes, characters and words per token, fertility,
    words kept whole, coverage, entropy, Rényi efficiency, and how much of the vocabulary is used.

    {files_or_stdin} With
    --by-file or --name each corpus is also measured by itself. With --reference, text n of each
    corpus must be a translation of text n of the others (--separator '\n' splits files into
    lines); the table then shows tokens per line, the premium over the reference and the Gini
    coefficient of all.
    """
    import digram

    paths = dict.fromkeys(tokenizers)
    read = {*files, *(one.partition("=")[2] for one in named)} or {"-"}
    if (len(paths) > 1 or fewest) and "-" in read:
        raise click.UsageError("stdin can be read only once, for one tokenizer; name files.")
    if reference is not None and not (by_file or named):
        raise click.UsageError(
            "--reference names one of several corpora; give --by-file, or --name NAME=FILES."
        )
    source = (
        _named_corpora.by_name(files, by_file, named, read_options) if by_file or named else None
    )
    evaluations = {}
    for path in paths:
        tok = _loading.load(path, dict(described))
        texts = _inputs.texts_in(files or ("-",), read_options)[0] if source is None else source
        measured = {path: tok}
        if fewest:
            measured[f"{path}{_FEWEST}"] = tok.with_segmentation("fewest")
        for name, one in measured.items():
            evaluations[name] = digram.evaluate(
                one, texts, reference=reference, alpha=alpha, threads=threads
            )
    if as_json:
        _printing.emit_json(
            {"tokenizers": {path: one.to_dict() for path, one in evaluations.items()}}
        )
        return
    _printing.emit("\n".join(_shown(evaluations)))


def _shown(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """The output of each tokenizer, and at the end the totals side by side."""
    from digram.analysis.metrics.table import side_by_side

    if len(evaluations) == 1:
        return [f"{one}\n" for one in evaluations.values()]
    parts = [f"{_printing.heading(path)}\n{one}\n" for path, one in evaluations.items()]
    names = [Path(_loading.with_encoding(path)[0]).name for path in evaluations]
    short = names if len({*names}) == len(names) else [*evaluations]
    totals = dict(zip(short, (one.total for one in evaluations.values()), strict=True))
    return [*parts, f"{_printing.heading('Side by side')}\n{side_by_side(totals)}\n"]
