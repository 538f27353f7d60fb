"""`digram evaluate`: how well tokenizers do on text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from digram.cli import common, corpus, naming

if TYPE_CHECKING:
    from digram.analysis.metrics import Evaluation

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
@naming.options
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
    import digram

    paths = dict.fromkeys(tokenizers)
    read = {*files, *(one.partition("=")[2] for one in named)} or {"-"}
    if len(paths) > 1 and "-" in read:
        raise click.UsageError("stdin can be read once, by one tokenizer; name files.")
    if reference is not None and not (by_file or named):
        raise click.UsageError(
            "--reference names one of several corpora: give --by-file, or --name NAME=FILES."
        )
    source = naming.by_name(files, by_file, named, told) if by_file or named else None
    found = {}
    for path in paths:
        tok = common.load(path, dict(described))
        texts = corpus.texts_in(files or ("-",), told)[0] if source is None else source
        found[path] = digram.evaluate(tok, texts, reference=reference, alpha=alpha, threads=threads)
    if as_json:
        common.emit_json({"tokenizers": {path: one.to_dict() for path, one in found.items()}})
        return
    common.emit("\n".join(_shown(found)))


def _shown(found: Mapping[str, Evaluation]) -> list[str]:
    """All of it as parts to print, with what the tokenizers do with all text side by side."""
    from digram.analysis.metrics.table import side_by_side

    if len(found) == 1:
        return [f"{one}\n" for one in found.values()]
    parts = [f"{common.heading(path)}\n{one}\n" for path, one in found.items()]
    names = [Path(common.with_encoding(path)[0]).name for path in found]
    short = names if len({*names}) == len(names) else [*found]
    totals = dict(zip(short, (one.total for one in found.values()), strict=True))
    return [*parts, f"{common.heading('Side by side')}\n{side_by_side(totals)}\n"]
