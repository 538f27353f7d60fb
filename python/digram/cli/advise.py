"""`digram advise`: recommend a vocabulary size."""

from __future__ import annotations

from typing import Any

import click

from digram.cli import _files_argument, _inputs, _loading, _options, _printing, _reading, _verbs

__all__ = ["advise"]


def _numbers(
    _ctx: click.Context, _parameter: click.Parameter, value: str | None
) -> list[int] | None:
    """A click callback: comma-separated whole numbers."""
    if value is None:
        return None
    try:
        return [_options.NUMBER.convert(one, None, None) for one in value.split(",")]
    except click.BadParameter:
        raise click.BadParameter(
            f"{value!r} is not a list of sizes, as in 8000,16000,32000."
        ) from None


@click.command(
    cls=_verbs.Verb,
    epilog=_verbs.example(
        "digram advise -t tokenizer.json corpus/*.txt",
        "digram advise -t tokenizer.json corpus/ --parameters 7B --sizes 32000,64000",
        "digram advise --parameters 350M",
    ),
)
@_files_argument.optional
@click.option(
    "-t",
    "--tokenizer",
    metavar="PATH",
    help="A tokenizer's file or folder, trained larger than you expect to need.",
)
@_loading.described_options
@click.option(
    "--parameters",
    metavar="N",
    help="The model's parameters, without those of the vocabulary: 350M, 7B.  [default: four "
    "typical models]",
)
@_options.width_option
@click.option("--multilingual", is_flag=True, help="The model is for many languages.")
@click.option(
    "--sizes",
    callback=_numbers,
    metavar="N,N...",
    help="The sizes to show.  [default: round sizes, and that of the tokenizer]",
)
@_reading.source_options
@_options.threads_option
@_options.json_option
def advise(
    *,
    files: tuple[str, ...],
    tokenizer: str | None,
    parameters: str | None,
    width: int | None,
    multilingual: bool,
    sizes: list[int] | None,
    read_options: _reading.ReadOptions,
    threads: int | None,
    as_json: bool,
    **described: Any,
) -> None:
    """Recommend a vocabulary size, with reasons: for small, base, large and multilingual models, or
    with --parameters for yours.

    With a tokenizer, FILES (without FILES, or for -, stdin) are measured, in one pass, under its
    vocabulary and under the smaller ones that it contains. Each size has a row: tokens, bytes per
    token, tokens per text, attention (the square of that, relative to the last row), fertility,
    coverage, and the shares of the vocabulary that are used, and used a hundred times. With
    --width, a column shows the parameters of the embeddings.
    """
    import digram

    curve = None
    if tokenizer is not None:
        tok = _loading.load(tokenizer, described)
        texts = _inputs.texts_in(files or ("-",), read_options)[0]
        curve = digram.curve(tok, texts, sizes=sizes, width=width, threads=threads)
    elif files or sizes is not None or read_options != _reading.ReadOptions():
        raise click.UsageError("FILES are measured with a tokenizer: give one with -t.")
    if curve is not None and parameters is None:
        width = None  # only for the curve: each of the four models has its own width
    advice = digram.advise(curve, parameters=parameters, width=width, multilingual=multilingual)
    if as_json:
        shown = {"curve": None if curve is None else curve.to_dict(), "advice": advice.to_dict()}
        _printing.emit_json(shown)
        return
    _printing.emit(f"{advice}\n")
    if curve is not None:
        _printing.emit(f"\n{curve}\n")
