"""Named corpora on the command line: each file by itself, or files under a given name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from digram.cli import _binary_files, _inputs, _options, _reading

if TYPE_CHECKING:
    from digram.corpus import CorpusLike

__all__ = ["by_name", "names_of", "options"]


options = _options.together(
    click.option(
        "--by-file",
        is_flag=True,
        help="Measure each of FILES by itself, under its name, and all together.",
    ),
    click.option(
        "--name",
        "named",
        multiple=True,
        metavar="NAME=FILES",
        help="Measure a file, folder or pattern by itself, under this name; repeat it.",
    ),
)
"""The options that name corpora, as `by_file` and `named`."""


def by_name(
    arguments: Sequence[str],
    by_file: bool,
    named: Sequence[str],
    read_options: _reading.ReadOptions,
) -> dict[str, CorpusLike]:
    """The corpora of a command line by their names."""
    if arguments and not by_file:
        raise click.UsageError("FILES are measured by name only with --by-file; give it too.")
    if by_file and (not arguments or "-" in arguments):
        raise click.UsageError("--by-file needs files, and stdin is not a file; name FILES.")
    paths = _options.values_by_name("--name", named, "NAME=FILES", "en=corpus/en")
    sources = {name: _inputs.texts_in((path,), read_options)[0] for name, path in paths.items()}
    if by_file:
        files = _reading.files(*arguments, read_options=read_options)
        _binary_files.warn_of_files(files)
        for name, file in names_of(files.paths).items():
            if name in sources:
                raise click.UsageError(f"--name {name!r} is also the name of a file: {file}.")
            sources[name] = _reading.files(str(file), read_options=read_options)
    return sources


def names_of(paths: Sequence[Path]) -> Mapping[str, Path]:
    """Files by their names without suffixes; by their paths if two names are equal.

    >>> list(names_of([Path("a/en.jsonl.gz"), Path("a/sw.txt"), Path("b/sw.txt"), Path("GPL-2.0")]))
    ['en', 'a/sw.txt', 'b/sw.txt', 'GPL-2.0']
    """
    from digram.corpus import kind_of

    short = []
    for path in paths:
        bare = path.with_suffix("") if kind_of(path).packing is not None else path
        is_number = bare.suffix[1:].isdecimal()  # of a version, not of a file type
        short.append(bare.name if is_number else bare.stem)
    return {
        name if short.count(name) == 1 else str(path): path
        for name, path in zip(short, paths, strict=True)
    }
