"""`digram grow drift`: compare recent text with the text of the newest version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from digram.cli import _files_argument, _inputs, _options, _printing, _reading, _verbs

__all__ = ["drift"]


@click.command(
    cls=_verbs.Verb,
    epilog=_verbs.example(
        "digram grow drift vocabulary/",
        "digram grow drift vocabulary/ today.txt --add 2000 --on yesterday.txt --json",
    ),
)
@click.argument("folder", metavar="FOLDER")
@_files_argument.optional
@click.option(
    "--add",
    type=_options.NUMBER,
    default=1_000,
    show_default=True,
    metavar="N",
    help="The number of tokens that the tested update adds.",
)
@click.option(
    "--on",
    metavar="FILE",
    help="Similar text to measure the gain on, instead of the text that the update learns from.",
)
@click.option(
    "--parameters",
    default="7B",
    show_default=True,
    metavar="N",
    help="The model's parameters, without those of the vocabulary.",
)
@_options.width_option
@click.option(
    "--horizon",
    type=float,
    default=100.0,
    show_default=True,
    metavar="N",
    help="Tokens that the model reads or writes per token of training on the update.",
)
@click.option("--check", is_flag=True, help="Exit with code 1 if an update pays.")
@_reading.source_options
@_options.threads_option
@_options.json_option
def drift(
    *,
    folder: str,
    files: tuple[str, ...],
    on: str | None,
    check: bool,
    read_options: _reading.ReadOptions,
    as_json: bool,
    **options: Any,
) -> None:
    """Show how much recent text differs from the text that the newest version in FOLDER was made
    on, what an update would save, and after how many tokens it pays.

    Recent text is the text added since that version, or FILES, which are not added to the folder.
    docs/growing.md describes the measures.
    """
    import digram

    history = digram.VocabularyHistory.load(Path(folder))
    result = history.drift(
        _source(files, read_options) if files else None,
        on=None if on is None else _source((on,), read_options),
        progress=False,
        **options,
    )
    if as_json:
        _printing.emit_json(result.to_dict())
    else:
        _printing.emit(f"{result}\n")
    if check and result.pays:
        raise SystemExit(1)


def _source(files: tuple[str, ...], read_options: _reading.ReadOptions) -> Any:
    counts = _inputs.counts_in(files, read_options)
    return _inputs.texts_in(files, read_options)[0] if counts is None else counts
