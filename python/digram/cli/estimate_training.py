"""`digram estimate-training`: estimate what a training run needs, before it starts."""

from __future__ import annotations

from typing import Any

import click

from digram.cli import _inputs, _options, _pretokenizers, _printing, _reading, _verbs

__all__ = ["estimate_training"]


def _shares(
    _ctx: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> str | dict[str, float]:
    """A click callback: one kind, or shares such as `english=0.8`."""
    if len(values) == 1 and "=" not in values[0]:
        return values[0]
    shares = {}
    for value in values:
        name, _, share = value.partition("=")
        try:
            shares[name] = float(share)
        except ValueError:
            raise click.BadParameter(
                f"{value!r} is not a kind and its share, such as english=0.8."
            ) from None
    return shares


@click.command(
    cls=_verbs.Verb,
    epilog=_verbs.example(
        "digram estimate-training 500GB --vocab-size 128k --memory-limit 64GB",
        "digram estimate-training 2TB --vocab-size 200k --kind code --machines 4",
    ),
)
@click.argument("corpus_size", metavar="SIZE")
@click.option(
    "--vocab-size", type=_options.NUMBER, required=True, metavar="N", help="Size of the vocabulary."
)
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
    help="Files, folders or patterns with a sample of the corpus, used instead of a kind; "
    "repeat it for several.",
)
@_reading.source_options
@click.option(
    "--pretokenizer",
    default="o200k",
    metavar="NAME",
    show_default=True,
    help="gpt2, cl100k or o200k; with a sample any other, or none.",
)
@click.option(
    "--memory-limit", metavar="SIZE", help="Memory of a machine.  [default: that of this one]"
)
@click.option(
    "--cores", type=int, metavar="N", help="Cores of a machine.  [default: those of this one]"
)
@click.option(
    "--machines",
    type=int,
    default=1,
    metavar="N",
    show_default=True,
    help="Count on N machines and merge on one.",
)
@click.option(
    "--speed",
    type=float,
    default=1.0,
    metavar="X",
    show_default=True,
    help="Speed of a core relative to the one that was measured.",
)
@_options.json_option
def estimate_training(
    *,
    corpus_size: str,
    sample: tuple[str, ...],
    read_options: _reading.ReadOptions,
    pretokenizer: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Estimate what training on SIZE of text (500GB, 2TiB) needs: distinct pretokens, memory, disk
    space and time, for counting and for merging.

    Only the sample is read. The rates were measured; the output says when and on which machine.
    """
    import digram

    if sample:
        options["sample"] = _inputs.texts_in(sample, read_options)[0]
    options["pretokenizer"] = _pretokenizers.pretokenizer_from(pretokenizer, (), None)
    estimate = digram.estimate_training(corpus_size, **options)
    if as_json:
        _printing.emit_json(estimate.to_dict())
    else:
        _printing.emit(f"{estimate}\n")
