"""`digram estimate-training`: what a training run will need, before it is started."""

from __future__ import annotations

from typing import Any

import click

from digram.cli import common, corpus

__all__ = ["estimate_training"]


def _shares(
    _ctx: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> str | dict[str, float]:
    """A click callback: one kind, or shares as in `english=0.8`."""
    if len(values) == 1 and "=" not in values[0]:
        return values[0]
    shares = {}
    for value in values:
        name, _, share = value.partition("=")
        try:
            shares[name] = float(share)
        except ValueError:
            raise click.BadParameter(
                f"{value!r} is not a kind and its share, as in english=0.8."
            ) from None
    return shares


@click.command(
    epilog=common.example(
        "digram estimate-training 500GB --vocab-size 128000 --memory 64GB --cores 16",
        "digram estimate-training 2TB --vocab-size 200k --kind code --machines 4",
    ),
)
@click.argument("size", metavar="SIZE")
@click.option("--vocab-size", type=common.NUMBER, required=True, metavar="N", help="Tokens in all.")
@click.option(
    "--kind",
    multiple=True,
    default=["english"],
    callback=_shares,
    metavar="KIND[=SHARE]",
    help="english, code or multilingual; repeat it with shares for a mixture.  [default: english]",
)
@click.option(
    "--sample",
    multiple=True,
    metavar="PATH",
    help="Files, folders or patterns with text of the corpus, to see how it grows, in place of a "
    "kind; repeat it for several.",
)
@common.source_options
@click.option(
    "--pretokenizer",
    default="o200k",
    metavar="NAME",
    show_default=True,
    help="gpt2, cl100k or o200k; any other, or none, with a sample.",
)
@click.option("--memory", metavar="SIZE", help="Of a machine.  [default: what this one has]")
@click.option("--cores", type=int, metavar="N", help="Of a machine.  [default: as this one]")
@click.option(
    "--machines",
    type=int,
    default=1,
    metavar="N",
    show_default=True,
    help="Count on N machines, merge on one.",
)
@click.option(
    "--speed",
    type=float,
    default=1.0,
    metavar="X",
    show_default=True,
    help="How many times as fast a core is as the one that was measured.",
)
@common.json_option
def estimate_training(
    *,
    size: str,
    sample: tuple[str, ...],
    told: common.Told,
    pretokenizer: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Say what training on SIZE of text (500GB, 2TiB) will need: distinct pretokens, memory, spill
    to disk and time, for counting and for merging.

    Nothing is read but a sample. The constants are measured, and the page says when and on what
    machine.
    """
    import digram

    if sample:
        options["sample"] = corpus.texts_in(sample, told)[0]
    options["pretokenizer"] = common.pretokenizer_from(pretokenizer, (), None)
    found = digram.estimate_training(size, **options)
    if as_json:
        common.emit_json(found.to_dict())
    else:
        common.emit(f"{found}\n")
