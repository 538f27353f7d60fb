"""`digram advise`: how large a vocabulary should be."""

from __future__ import annotations

from typing import Any

import click

from digram.cli import common, corpus

__all__ = ["advise"]


def _numbers(
    _ctx: click.Context, _parameter: click.Parameter, value: str | None
) -> list[int] | None:
    """A click callback: whole numbers between commas."""
    if value is None:
        return None
    try:
        return [common.NUMBER.convert(one, None, None) for one in value.split(",")]
    except click.BadParameter:
        raise click.BadParameter(
            f"{value!r} is not a list of sizes, as in 8000,16000,32000."
        ) from None


@click.command(
    epilog=common.example(
        "digram advise -t tokenizer.json corpus/*.txt",
        "digram advise -t tokenizer.json corpus/ --parameters 7B --sizes 32000,64000",
        "digram advise --parameters 350M",
    ),
)
@click.argument("files", nargs=-1, metavar="[FILES]...")
@click.option(
    "-t",
    "--tokenizer",
    metavar="PATH",
    help="A tokenizer's file or folder, trained larger than you expect to need.",
)
@common.described_options
@click.option(
    "--parameters",
    metavar="N",
    help="Those of your model, the vocabulary's left out: 350M, 7B.  [default: four typical "
    "models]",
)
@click.option(
    "--width",
    type=int,
    metavar="N",
    help="Of the model's embeddings.  [default: as models of its size have it]",
)
@click.option("--multilingual", is_flag=True, help="The model is to read many languages.")
@click.option(
    "--sizes",
    callback=_numbers,
    metavar="N,N...",
    help="The sizes to show.  [default: round ones, and its own]",
)
@common.source_options
@click.option("--threads", type=int, metavar="N", help="Default: one for each core.")
@common.json_option
def advise(
    *,
    files: tuple[str, ...],
    tokenizer: str | None,
    parameters: str | None,
    width: int | None,
    multilingual: bool,
    sizes: list[int] | None,
    told: common.Told,
    threads: int | None,
    as_json: bool,
    **described: Any,
) -> None:
    """Say how large a vocabulary should be, and why: for small, base, large and multilingual
    models, or with --parameters for yours.

    With a tokenizer, FILES (stdin without any, or for -) are looked at under it and under every
    smaller one inside it, which costs one pass: a row for each size, with tokens, bytes per token,
    tokens per text, attention (the square of that, as a multiple of the last row's), fertility,
    coverage, and which share of the vocabulary is used, and used a hundred times. With --width
    there is a column for the parameters of the embeddings.
    """
    import digram

    curve = None
    if tokenizer is not None:
        tok = common.load(tokenizer, described)
        texts = corpus.texts_in(files or ("-",), told)[0]
        curve = digram.curve(tok, texts, sizes=sizes, width=width, threads=threads)
    elif files or sizes is not None or told != common.Told():
        raise click.UsageError("FILES are looked at under a tokenizer: give one with -t.")
    if curve is not None and parameters is None:
        width = None  # it is the curve's alone: four models have four widths
    found = digram.advise(curve, parameters=parameters, width=width, multilingual=multilingual)
    if as_json:
        shown = {"curve": None if curve is None else curve.to_dict(), "advice": found.to_dict()}
        common.emit_json(shown)
        return
    common.emit(f"{found}\n")
    if curve is not None:
        common.emit(f"\n{curve}\n")
