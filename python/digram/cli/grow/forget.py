"""`digram grow forget`: remove text that was added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from digram.cli import _files_argument, _inputs, _options, _printing, _reading, _verbs

__all__ = ["forget"]


@click.command(
    cls=_verbs.Verb,
    epilog=_verbs.example(
        "digram grow forget vocabulary/ --name 2019",
        "digram grow forget vocabulary/ withdrawn.txt --name 2025",
    ),
)
@click.argument("folder", metavar="FOLDER")
@_files_argument.optional
@click.option("--name", metavar="NAME", help="The name under which it was added.  [default: text]")
@_reading.source_options
@_options.threads_option
@_options.quiet_option
@_options.json_option
def forget(
    *,
    folder: str,
    files: tuple[str, ...],
    name: str | None,
    read_options: _reading.ReadOptions,
    threads: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Remove from the history in FOLDER the text of FILES, or all text added under a name.

    FILES must have been added under that name, alone or with other files; counts of the files can
    be given instead. Versions that were trained on them do not change.
    """
    from digram.adapt.versions import edited

    if not files and name is None:
        raise click.UsageError(
            "name the files to remove, or give --name to remove all text of that name."
        )
    source: Any = None
    if files:
        source = _inputs.counts_in(files, read_options)
        if source is None:
            source = _inputs.texts_in(files, read_options)[0]
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
        _printing.log(f"Changed {folder}: {after.log[-1]}.")
    if as_json:
        from digram.adapt.versions.files import entry_as_json

        _printing.emit_json({"folder": folder, **entry_as_json(after.log[-1])})
