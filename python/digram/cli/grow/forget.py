"""`digram grow forget`: what was added, taken away again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from digram.cli import common, corpus

__all__ = ["forget"]


@click.command(
    epilog=common.example(
        "digram grow forget vocabulary/ --name 2019",
        "digram grow forget vocabulary/ withdrawn.txt --name 2025",
    ),
)
@click.argument("folder", metavar="FOLDER")
@click.argument("files", nargs=-1, metavar="[FILES]...")
@click.option("--name", metavar="NAME", help="What it was added under.  [default: text]")
@common.source_options
@click.option("--threads", type=int, metavar="N", help="Default: one for each core.")
@click.option("-q", "--quiet", is_flag=True, help="No bar and no summary.")
@common.json_option
def forget(
    *,
    folder: str,
    files: tuple[str, ...],
    name: str | None,
    told: common.Told,
    threads: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Take away from the history in FOLDER the text of FILES, or all that was added under a name.

    FILES must have been added under the name, together with others or alone; counts of them do as
    well. Versions that learned from them stay as they are.
    """
    from digram.adapt.versions import edited

    if not files and name is None:
        raise click.UsageError("name the files to forget, or with --name all that has that name.")
    source: Any = None
    if files:
        source = corpus.counts_in(files, told)
        if source is None:
            source = corpus.texts_in(files, told)[0]
    after = edited(
        Path(folder),
        lambda history: history.forget(
            source,
            name=name,
            threads=threads,
            progress=False if quiet else None,
        ),
    )
    if not quiet:
        common.log(f"Changed {folder}: {after.log[-1]}.")
    if as_json:
        from digram.adapt.versions.files import entry_as_json

        common.emit_json({"folder": folder, **entry_as_json(after.log[-1])})
