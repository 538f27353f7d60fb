"""What files on the command line hold: texts to learn from or to count, or counts."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from digram.cli import binary, common

if TYPE_CHECKING:
    from digram.corpus import CorpusLike, Files, Stream
    from digram.training.counts import Counts

__all__ = ["check_not_in_source", "counts_in", "refuse_told", "stdin", "texts_in"]


def texts_in(arguments: tuple[str, ...], told: common.Told) -> tuple[CorpusLike, tuple[Path, ...]]:
    """The texts of files and of stdin, and the files of it; warns of those that look binary.

    All that was told of how they are read is in the source, the separator too, so that no verb
    can leave a part of it out.
    """
    from digram.corpus import Streams

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
    streams: list[Files | Stream] = [_watched_stdin(told) if one is None else one for one in named]
    paths = tuple(path for found in given for path in found.paths)
    return cast("CorpusLike", Streams(tuple(streams))), paths


def stdin(told: common.Told) -> Stream:
    """What comes in through stdin, read as it is told."""
    from digram import corpus
    from digram.corpus.separators import separator_bytes
    from digram.corpus.tables import column_path

    field = column_path(told.field, "field")
    kind = corpus.check_format(told.format or "text")
    cut = separator_bytes(told.separator)
    return corpus.Stream(common.stdin(), "stdin", kind, field, told.on_error, cut)


def _watched_stdin(told: common.Told) -> Stream:
    """The same, with a warning where it looks binary."""
    from digram import corpus

    found = stdin(told)
    if found.kind != corpus.Kind("text"):
        return found
    start = found.file.read(corpus.BLOCK)
    binary.warn_of_stdin(start, found.separator)
    blocks = itertools.chain([start], iter(lambda: found.file.read(corpus.BLOCK), b""))
    return replace(found, file=cast("BinaryIO", corpus.AsFile(blocks)))


def counts_in(arguments: tuple[str, ...], told: common.Told | None) -> Counts | None:
    """The counts of files, merged, where files of counts are named; None where they hold text.

    What is `told` of how text is read is refused beside counts, None where it is for other files.
    """
    from digram.training.counts import Counts
    from digram.training.counts.files import holds_counts

    held = [Path(name).is_file() and holds_counts(name) for name in arguments]
    if not any(held):
        return None
    if not all(held):
        text = arguments[held.index(False)]
        raise click.UsageError(
            f"{arguments[held.index(True)]} holds counts and {text} does not; count {text} first, "
            "with digram counts make."
        )
    refuse_told(told)
    return Counts.merge([Counts.load(Path(name)) for name in arguments])


def refuse_told(told: common.Told | None) -> None:
    """Refuses options that say how text is read, where there are counts alone."""
    usual = common.Told()
    for name, value in (told or usual)._asdict().items():
        if value != getattr(usual, name):
            option = "--source-format" if name == "format" else f"--{name.replace('_', '-')}"
            raise click.UsageError(
                f"{option} says how text is read, and these are counts; give it to digram counts "
                "make."
            )


def check_not_in_source(output: str, paths: tuple[Path, ...]) -> None:
    """A second run must not learn from what the first one saved."""
    from digram import OptionError

    target = Path(output).resolve()
    if any(path.resolve() == target for path in paths):
        raise OptionError(
            f"{output} is among the files to learn from, and would be replaced.",
            hint="Save elsewhere with -o, or name the files so that it is left out.",
        )
