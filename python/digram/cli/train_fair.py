"""`digram train-fair`: train one tokenizer for several languages, fairly."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from digram.cli import (
    _inputs,
    _options,
    _pretokenizers,
    _printing,
    _reading,
    _saving,
    _training_options,
    _verbs,
)

if TYPE_CHECKING:
    from digram.corpus import CorpusLike
    from digram.training.counts import Counts

__all__ = ["train_fair"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="--language NAME=FILES... -o PATH [OPTIONS]",
    epilog=_verbs.example(
        "digram train-fair --language a=a/ --language b=b/ --max-merges 900 -o t.json"
    ),
)
@click.option(
    "--language",
    "languages",
    multiple=True,
    required=True,
    metavar="NAME=FILES",
    help="Learn from a file, folder or pattern, or from counts, as language NAME; repeat it.",
)
@click.option(
    "--dev",
    multiple=True,
    metavar="NAME=FILES",
    help="Text to measure: the next merge is for the language whose text is longest.",
)
@click.option(
    "--ratio",
    "ratios",
    multiple=True,
    metavar="NAME=N",
    help="Instead of --dev: how much shorter the language should become, relative to the others.",
)
@click.option(
    "--global-merges",
    type=_options.NUMBER,
    default=0,
    show_default=True,
    metavar="N",
    help="Make the first N merges for all languages together.",
)
@click.option(
    "--window",
    type=int,
    metavar="N",
    help="Limit turns within the last N: a language with more than its share waits.",
)
@click.option(
    "--alpha",
    type=float,
    metavar="N",
    help="How many times an even share of the window a language may take.  [default: 2]",
)
@_training_options.limit_options
@_pretokenizers.named_pretokenizer_option
@_pretokenizers.pretokenizer_options
@_pretokenizers.rules_option("Text that is one token, and text that is never joined.")
@click.option(
    "--ties",
    type=click.Choice(["ids", "lexicographic", "printable"]),
    default="ids",
    show_default=True,
    help="Among pairs of equal count: the smallest ids, the greatest bytes, or the greatest as "
    "GPT-2 prints them.",
)
@_training_options.id_options
@_reading.source_options
@_options.threads_option
@_training_options.saving_options
def train_fair(
    *,
    languages: tuple[str, ...],
    dev: tuple[str, ...],
    ratios: tuple[str, ...],
    output: str,
    pretokenizer: str | None,
    regex: tuple[str, ...],
    digits: Any,
    normalizer: tuple[Any, ...],
    rules: str | None,
    on_unknown: str,
    read_options: _reading.ReadOptions,
    format_: str | None,
    allow_loss: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Train one tokenizer for several languages, with each merge for the language that needs most
    tokens.

    Parity-aware BPE: each step takes the language whose --dev text is longest in tokens, and makes
    a token of its most frequent pair. FILES are those of digram train. With parallel text as --dev,
    the languages come to cost about the same; digram evaluate measures the cost. A summary on
    stderr says for which languages merges were made.
    """
    _training_options.check_limits(options)
    _saving.check_stdout(output, as_json)
    import digram

    learn = _options.values_by_name("--language", languages, "NAME=FILES", "en=corpus/en")
    steer = _options.values_by_name("--dev", dev, "NAME=FILES", "en=dev/en.txt")
    options["ratios"] = _shortening(ratios)
    if pretokenizer is None and not regex and (digits is not None or normalizer):
        pretokenizer = "o200k"
    cut = _pretokenizers.pretokenizer_from(pretokenizer, regex, digits, normalizer)
    if cut is not None:
        options["pretokenizer"] = cut
    options["rules"] = _pretokenizers.rules_from(rules)
    options["on_unknown"] = _training_options.unknown_rule(on_unknown)
    _training_options.rehearse(
        lambda: digram.train_fair(
            dict.fromkeys(learn, ""),
            dev=dict.fromkeys(steer, "") if steer else None,
            progress=False,
            **options,
        ),
        output,
        format_,
        allow_loss,
    )
    sources = {name: _source(files, read_options, output) for name, files in learn.items()}
    measured = {name: _source(files, read_options, output) for name, files in steer.items()}
    if all(isinstance(one, digram.Counts) for one in (*sources.values(), *measured.values())):
        _inputs.refuse_read_options(read_options)
    started = time.perf_counter()
    tok = digram.train_fair(
        sources,
        dev=measured or None,
        progress=False if quiet else None,
        **options,
    )
    seconds = time.perf_counter() - started
    _saving.save(tok, output, format_, allow_loss)
    record = tok.training
    assert record is not None
    made = Counter(record.languages)
    if not quiet:
        _printing.log(_training_options.summary(tok, 0, seconds))
        _printing.log(_turns(made, [*sources]))
        if output != "-":
            _printing.log(_saving.saved_line(tok, output, format_))
    if as_json:
        turns = {name: made[name] for name in sources}
        _printing.emit_json(_training_options.facts(tok, output, seconds) | {"made_for": turns})


def _shortening(ratios: Sequence[str]) -> dict[str, float] | None:
    """The numbers of --ratio; None if there are none."""
    numbers = {}
    for name, value in _options.values_by_name("--ratio", ratios, "NAME=N", "en=1.5").items():
        try:
            numbers[name] = float(value)
        except ValueError:
            raise click.UsageError(f"--ratio {name}={value}: this is not a number.") from None
    return numbers or None


def _source(files: str, read_options: _reading.ReadOptions, output: str) -> CorpusLike | Counts:
    counts = _inputs.counts_in((files,), None)
    if counts is not None:
        return counts
    if files == "-":
        raise click.UsageError("a language cannot be read from stdin; name files.")
    source, paths = _inputs.texts_in((files,), read_options)
    _inputs.check_not_in_source(output, paths)
    return source


def _turns(made: Counter[str | None], names: Sequence[str]) -> str:
    """The number of merges made for each language."""
    together = [f"all {made[None]:,}"] if made[None] else []
    return "Merges made for: " + ", ".join([*together, *(f"{n} {made[n]:,}" for n in names)]) + "."
