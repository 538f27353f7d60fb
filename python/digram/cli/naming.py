"""Named corpora on the command line: a file by itself, or what is named on purpose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from digram.cli import binary, common, corpus

if TYPE_CHECKING:
    from digram.corpus import CorpusLike

__all__ = ["by_name", "names_of", "options"]

_Verb = TypeVar("_Verb", bound=Callable[..., Any])


def options(verb: _Verb) -> _Verb:
    """Give a verb the options that name sources, as `by_file` and `named`."""
    click.option(
        "--name",
        "named",
        multiple=True,
        metavar="NAME=FILES",
        help="A file, folder or pattern by itself, under this name; repeat it.",
    )(verb)
    return click.option(
        "--by-file", is_flag=True, help="Each of FILES by itself, under its name, and all."
    )(verb)


def by_name(
    arguments: Sequence[str], by_file: bool, named: Sequence[str], told: common.Told
) -> dict[str, CorpusLike]:
    """The corpora of a command line by their names."""
    if arguments and not by_file:
        raise click.UsageError("FILES have names with --by-file only; give it beside --name.")
    if by_file and (not arguments or "-" in arguments):
        raise click.UsageError("--by-file is for files, and stdin is none; name FILES.")
    sources: dict[str, CorpusLike] = {}
    for one in named:
        name, equals, path = one.partition("=")
        if not (name and equals and path):
            raise click.UsageError(f"--name {one!r} is not NAME=FILES, as in --name en=corpus/en.")
        if name in sources:
            raise click.UsageError(f"--name {name!r} is given twice.")
        sources[name] = corpus.texts_in((path,), told)[0]
    if by_file:
        found = common.files(*arguments, told=told)
        binary.warn_of_files(found)
        for name, file in names_of(found.paths).items():
            if name in sources:
                raise click.UsageError(f"--name {name!r} is the name of a file too: {file}.")
            sources[name] = common.files(str(file), told=told)
    return sources


def names_of(paths: Sequence[Path]) -> Mapping[str, Path]:
    """Files by their names without what says their kind; in full where two are alike.

    >>> list(names_of([Path("a/en.jsonl.gz"), Path("a/sw.txt"), Path("b/sw.txt"), Path("GPL-2.0")]))
    ['en', 'a/sw.txt', 'b/sw.txt', 'GPL-2.0']
    """
    from digram.corpus import kind_of

    short = []
    for path in paths:
        bare = path.with_suffix("") if kind_of(path).packing is not None else path
        is_number = bare.suffix[1:].isdecimal()  # as of a version, which is not a kind
        short.append(bare.name if is_number else bare.stem)
    return {
        name if short.count(name) == 1 else str(path): path
        for name, path in zip(short, paths, strict=True)
    }
