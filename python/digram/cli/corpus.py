"""What files on the command line hold: texts to learn from or to count, or counts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from digram.cli import binary, common

if TYPE_CHECKING:
    from digram.counts import Counts
    from digram.sources import Source, Unread

__all__ = ["check_not_in_source", "counts_in", "texts_in"]


def texts_in(arguments: tuple[str, ...], separator: str | None) -> tuple[Source, tuple[Path, ...]]:
    """The texts of files and of stdin, and the files of it; warns of those that look binary."""
    from digram import sources

    source: Source
    paths = [argument for argument in arguments if argument != "-"]
    if len(paths) == len(arguments):
        found = common.files(*paths)
        source, named_paths = found, found.paths
    else:
        named = {path: common.files(path, separator=separator) for path in paths}

        def texts() -> Iterator[bytes | sources.Unread]:
            for argument in arguments:
                if argument == "-":
                    yield from _in_stdin(separator)
                elif separator is None:
                    yield from sources.unread(named[argument])
                else:
                    yield from named[argument]

        source = cast("Source", texts())
        named_paths = tuple(path for found in named.values() for path in found.paths)
    binary.warn_of_files(named_paths, separator)
    return source, named_paths


def _in_stdin(separator: str | None) -> Iterator[bytes | Unread]:
    from digram import sources

    stream = common.stdin()
    if separator is not None:
        yield from binary.watched(sources.read(stream, separator), separator)
        return
    start = stream.read(sources.BLOCK)
    for _ in binary.watched([start], None):
        rest = sources.blocks(stream, sources.PART)
        yield sources.Unread(itertools.chain([start], rest), "stdin")


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
