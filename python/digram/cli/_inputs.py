"""The content of files on the command line: texts, or counts."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from digram.cli import _binary_files, _reading

if TYPE_CHECKING:
    from digram.corpus import CorpusLike, Files, Stream
    from digram.training.counts import Counts

__all__ = ["check_not_in_source", "counts_in", "refuse_read_options", "texts_in", "watched_stdin"]


def texts_in(
    arguments: tuple[str, ...], read_options: _reading.ReadOptions
) -> tuple[CorpusLike, tuple[Path, ...]]:
    """The texts of files and of stdin, and the paths of the files; warns of binary files.

    The source carries all of `read_options`, the separator too, so that no verb can ignore one.
    """
    from digram.corpus import Streams

    if "-" not in arguments:
        found = _reading.files(*arguments, read_options=read_options)
        _binary_files.warn_of_files(found)
        return found, found.paths
    # Paths are checked before stdin is read. Stdin is read in this thread, so that Ctrl-C works.
    named = [
        None if name == "-" else _reading.files(name, read_options=read_options)
        for name in arguments
    ]
    given = [found for found in named if found is not None]
    _binary_files.warn_of_files(*given)
    streams: list[Files | Stream] = [
        watched_stdin(read_options) if one is None else one for one in named
    ]
    paths = tuple(path for found in given for path in found.paths)
    return cast("CorpusLike", Streams(tuple(streams))), paths


def _stdin(read_options: _reading.ReadOptions) -> Stream:
    """Stdin as a source, read as `read_options` say."""
    from digram import corpus
    from digram.corpus.separators import separator_bytes
    from digram.corpus.tables import column_path

    field = column_path(read_options.field, "field")
    kind = corpus.check_format(read_options.format or "text")
    cut = separator_bytes(read_options.separator)
    return corpus.Stream(_reading.stdin(), "stdin", kind, field, read_options.on_error, cut)


def watched_stdin(read_options: _reading.ReadOptions) -> Stream:
    """Stdin as a source, with a warning if it looks binary."""
    from digram import corpus

    found = _stdin(read_options)
    if found.kind != corpus.Kind("text"):
        return found
    start = found.file.read(corpus.BLOCK)
    _binary_files.warn_of_stdin(start, found.separator)
    blocks = itertools.chain([start], iter(lambda: found.file.read(corpus.BLOCK), b""))
    return replace(found, file=cast("BinaryIO", corpus.AsFile(blocks)))


def counts_in(
    arguments: tuple[str, ...], read_options: _reading.ReadOptions | None
) -> Counts | None:
    """The merged counts of files of counts; None if the files contain text.

    Raises for `read_options` beside counts; pass None if they are for other files.
    """
    from digram.training.counts import Counts
    from digram.training.counts.files import holds_counts

    held = [Path(name).is_file() and holds_counts(name) for name in arguments]
    if not any(held):
        return None
    if not all(held):
        text = arguments[held.index(False)]
        raise click.UsageError(
            f"{arguments[held.index(True)]} contains counts and {text} does not; count {text} "
            "first, with digram counts make."
        )
    refuse_read_options(read_options)
    return Counts.merge([Counts.load(Path(name)) for name in arguments])


def refuse_read_options(read_options: _reading.ReadOptions | None) -> None:
    """Raises `UsageError` for options on how text is read, since all files hold counts."""
    usual = _reading.ReadOptions()
    for name, value in (read_options or usual)._asdict().items():
        if value != getattr(usual, name):
            option = "--source-format" if name == "format" else f"--{name.replace('_', '-')}"
            raise click.UsageError(
                f"{option} applies to text, and these files contain counts; give it to digram "
                "counts make."
            )


def check_not_in_source(output: str, paths: tuple[Path, ...]) -> None:
    """Check that the output is not among the files to learn from."""
    from digram import OptionError

    target = Path(output).resolve()
    if any(path.resolve() == target for path in paths):
        raise OptionError(
            f"the output {output} is one of the files to learn from.",
            hint="Save to another path with -o, or exclude it from the files.",
        )
