"""`digram evaluate`: how well tokenizers do on text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from digram.cli import binary, common, corpus

if TYPE_CHECKING:
    from digram.metrics import Evaluation
    from digram.sources import Source

__all__ = ["evaluate"]


@click.command(
    options_metavar="-t PATH... [OPTIONS]",
    epilog=common.example(
        "digram evaluate -t tokenizer.json corpus/*.txt",
        "digram evaluate -t old.json -t new.json --name en=en/ --name sw=sw/",
        r"digram evaluate -t tok.json lines/ --by-file --separator '\n' --reference en",
    ),
)
@click.argument("files", nargs=-1, metavar="[FILES]...")
@click.option(
    "-t",
    "--tokenizer",
    "tokenizers",
    metavar="PATH",
    multiple=True,
    required=True,
    help="A tokenizer's file or folder; repeat it to see several side by side.",
)
@common.described_options
@click.option("--by-file", is_flag=True, help="Each of FILES by itself, under its name, and all.")
@click.option(
    "--name",
    "named",
    multiple=True,
    metavar="NAME=FILES",
    help="A file, folder or pattern by itself, under this name; repeat it.",
)
@click.option(
    "--reference",
    metavar="NAME",
    help="The texts are parallel, line by line: say what each name costs beside this one.",
)
@common.source_options
@click.option(
    "--alpha",
    type=float,
    default=2.5,
    show_default=True,
    metavar="N",
    help="The order of Rényi's entropy.",
)
@click.option("--threads", type=int, metavar="N", help="Default: one for each core.")
@common.json_option
def evaluate(
    *,
    files: tuple[str, ...],
    tokenizers: tuple[str, ...],
    by_file: bool,
    named: tuple[str, ...],
    reference: str | None,
    told: common.Told,
    alpha: float,
    threads: int | None,
    as_json: bool,
    **described: Any,
) -> None:
    r"""Measure how well a tokenizer does on text: bytes, characters and words per token, fertility,
    words kept whole, coverage, entropy, Rényi efficiency, and how much of the vocabulary is used.

    FILES are files, folders and quoted patterns; stdin without any, or for -. With --by-file or
    --name each is also measured by itself. With --reference, text n of each says the same as text
    n of the others (--separator '\n' cuts files into lines): the table then has tokens per line
    and the premium over the reference, and the Gini coefficient of all.
    """
    paths = dict.fromkeys(tokenizers)
    read = {*files, *(one.partition("=")[2] for one in named)} or {"-"}
    if len(paths) > 1 and "-" in read:
        raise click.UsageError("stdin can be read once, by one tokenizer; name files.")
    if reference is not None and not (by_file or named):
        raise click.UsageError(
            "--reference names one of several sources: give --by-file, or --name NAME=FILES."
        )
    source = _by_name(files, by_file, named, told) if by_file or named else None
    found = {}
    for path in paths:
        tok = common.load(path, dict(described))
        texts = corpus.texts_in(files or ("-",), told)[0] if source is None else source
        found[path] = tok.evaluate(texts, reference=reference, alpha=alpha, threads=threads)
    if as_json:
        common.emit_json({"tokenizers": {path: one.as_dict() for path, one in found.items()}})
        return
    common.emit("\n".join(_shown(found)))


def _by_name(
    arguments: Sequence[str], by_file: bool, named: Sequence[str], told: common.Told
) -> dict[str, Source]:
    """The sources of a command line by their names."""
    if arguments and not by_file:
        raise click.UsageError("FILES have names with --by-file only; give it beside --name.")
    if by_file and (not arguments or "-" in arguments):
        raise click.UsageError("--by-file is for files, and stdin is none; name FILES.")
    sources: dict[str, Source] = {}
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
        for name, file in _names(found.paths).items():
            if name in sources:
                raise click.UsageError(f"--name {name!r} is the name of a file too: {file}.")
            sources[name] = common.files(str(file), told=told)
    return sources


def _names(paths: Sequence[Path]) -> Mapping[str, Path]:
    """Files by their names without what says their kind; in full where two are alike.

    >>> list(_names([Path("a/en.jsonl.gz"), Path("a/sw.txt"), Path("b/sw.txt")]))
    ['en', 'a/sw.txt', 'b/sw.txt']
    """
    from digram.sources import kind_of

    short = []
    for path in paths:
        packed = kind_of(path).packing is not None
        short.append(path.with_suffix("").stem if packed else path.stem)
    return {
        name if short.count(name) == 1 else str(path): path
        for name, path in zip(short, paths, strict=True)
    }


def _shown(found: Mapping[str, Evaluation]) -> list[str]:
    """All of it as parts to print, with what the tokenizers do with all text side by side."""
    from digram.metrics.table import side_by_side

    if len(found) == 1:
        return [f"{one}\n" for one in found.values()]
    parts = [f"{common.heading(path)}\n{one}\n" for path, one in found.items()]
    names = [Path(path).name for path in found]
    short = names if len({*names}) == len(names) else [*found]
    totals = dict(zip(short, (one.total for one in found.values()), strict=True))
    return [*parts, f"{common.heading('Side by side')}\n{side_by_side(totals)}\n"]
