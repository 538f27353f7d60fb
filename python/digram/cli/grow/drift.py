"""`digram grow drift`: recent text beside what a version was made on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from digram.cli import common, corpus

__all__ = ["drift"]


@click.command(
    epilog=common.example(
        "digram grow drift vocabulary/",
        "digram grow drift vocabulary/ today.txt --add 2000 --on yesterday.txt --json",
    ),
)
@click.argument("folder", metavar="FOLDER")
@click.argument("files", nargs=-1, metavar="[FILES]...")
@click.option(
    "--add",
    type=common.NUMBER,
    default=1_000,
    show_default=True,
    metavar="N",
    help="How many tokens more the update has that is tried.",
)
@click.option(
    "--on",
    metavar="FILE",
    help="Other text of the kind, to measure the gain on; else it is the text learned from.",
)
@click.option(
    "--parameters",
    default="7B",
    show_default=True,
    metavar="N",
    help="Those of your model, the vocabulary's left out.",
)
@click.option(
    "--width",
    type=int,
    metavar="N",
    help="Of the model's embeddings.  [default: as models of its size have it]",
)
@click.option(
    "--horizon",
    type=float,
    default=100.0,
    show_default=True,
    metavar="N",
    help="How many tokens are read or written for each that the update is trained on.",
)
@click.option("--check", is_flag=True, help="End with exit code 1 where an update pays.")
@common.source_options
@click.option("--threads", type=int, metavar="N", help="Default: one for each core.")
@common.json_option
def drift(
    *,
    folder: str,
    files: tuple[str, ...],
    on: str | None,
    check: bool,
    told: common.Told,
    as_json: bool,
    **options: Any,
) -> None:
    """Say how far recent text is from what the newest version in FOLDER was made on, what an update
    would save, and after how many tokens it pays.

    Recent is what was added since that version, or FILES, which are not added. docs/growing.md
    says what the measures are.
    """
    import digram

    history = digram.VocabularyHistory.load(Path(folder))
    found = history.drift(
        _source(files, told) if files else None,
        on=None if on is None else _source((on,), told),
        progress=False,
        **options,
    )
    if as_json:
        common.emit_json(found.to_dict())
    else:
        common.emit(f"{found}\n")
    if check and found.pays:
        raise SystemExit(1)


def _source(files: tuple[str, ...], told: common.Told) -> Any:
    counts = corpus.counts_in(files, told)
    return corpus.texts_in(files, told)[0] if counts is None else counts
