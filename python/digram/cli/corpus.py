"""What files on the command line hold: texts to learn from or to count, or counts."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from digram.cli import binary, common

if TYPE_CHECKING:
    from digram.counts import Counts
    from digram.sources import Files, Source, Stream

__all__ = ["check_not_in_source", "counts_in", "texts_in"]


def texts_in(arguments: tuple[str, ...], told: common.Told) -> tuple[Source, tuple[Path, ...]]:
    """The texts of files and of stdin, and the files of it; warns of those that look binary."""
    from digram.sources import Streams

    if "-" not in arguments:
        found = common.files(*arguments, told=told)
        binary.warn_of_files(found)
        return found, found.paths
    # All names are looked up before stdin is waited for; it is read in this thread, where Ctrl-C is
    # served at once.
    named = [None if name == "-" else common.files(name, told=told) for name in arguments]
    given = [found for found in named if found is not None]
    for found in given:
        binary.warn_of_files(found)
    streams: list[Files | Stream] = [_stdin(told) if one is None else one for one in named]
    paths = tuple(path for found in given for path in found.paths)
    return cast("Source", Streams(tuple(streams))), paths


def _stdin(told: common.Told) -> Stream:
    """What comes in through stdin, with a warning where it looks binary."""
    from digram import sources
    from digram.sources.tables import column_path

    field = column_path(told.field, "field")
    kind = sources.Kind("text") if told.format is None else sources.check_format(told.format)
    stream = common.stdin()
    start = stream.read(sources.BLOCK)
    if kind == sources.Kind("text"):
        binary.warn_of_stdin(start, told.separator)
    blocks = itertools.chain([start], iter(lambda: stream.read(sources.BLOCK), b""))
    file = cast("BinaryIO", sources.AsFile(blocks))
    return sources.Stream(file, "stdin", kind, field, told.on_error)


def counts_in(arguments: tuple[str, ...]) -> Counts | None:
    """The counts of files, merged, where files of counts are named; None where they hold text."""
    from digram.counts import Counts
    from digram.counts.files import holds_counts

    held = [Path(name).is_file() and holds_counts(name) for name in arguments]
    if not any(held):
        return None
    if not all(held):
        text = arguments[held.index(False)]
        raise click.UsageError(
            f"{arguments[held.index(True)]} holds counts and {text} does not; count {text} first, "
            "with digram counts make."
        )
    return Counts.merge([Counts.load(Path(name)) for name in arguments])


def check_not_in_source(output: str, paths: tuple[Path, ...]) -> None:
    """A second run must not learn from what the first one saved."""
    from digram import OptionError

    target = Path(output).resolve()
    if any(path.resolve() == target for path in paths):
        raise OptionError(
            f"{output} is among the files to learn from, and would be replaced.",
            hint="Save elsewhere with -o, or name the files so that it is left out.",
        )
