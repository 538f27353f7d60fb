"""`digram train`: train a tokenizer on files."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from digram.cli import (
    _files_argument,
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
    from digram.training.counts import Counts
    from digram.training.superwords import Boundless, TwoStage

__all__ = ["train"]


_OF_LIKE = ("model", "unit", "on_unknown", "special_first", "byte_order")
"""What a tokenizer that is given by `--like` decides, unless the option is given."""


def _size_or_share(value: str) -> int | float:
    """A click type: a whole number is a size, a decimal number without a suffix is a share."""
    try:
        is_share = value.replace(".", "", 1).isdecimal() and "." in value
        return float(value) if is_share else _options.NUMBER.convert(value, None, None)
    except click.BadParameter:
        raise click.BadParameter(
            f"{value!r} is neither a size nor a share, such as 20000 or 0.9."
        ) from None


@click.command(
    cls=_verbs.Verb,
    options_metavar="-o PATH [OPTIONS]",
    epilog=_verbs.example("digram train 'corpus/**/*.txt' --vocab-size 32000 -o tokenizer.json"),
)
@_files_argument.required
@_training_options.limit_options
@click.option(
    "--picky",
    type=float,
    metavar="SHARE",
    help="Drop a token when one merge has used this share of its occurrences (PickyBPE), such as "
    "0.9.  [default: drop none]",
)
@_pretokenizers.named_pretokenizer_option
@_pretokenizers.pretokenizer_options
@_pretokenizers.rules_option("Text that is one token, and text that is never joined.")
@click.option(
    "--ties",
    type=click.Choice(["ids", "first_seen", "lexicographic", "printable"]),
    default="ids",
    show_default=True,
    help="Among pairs of equal count: the smallest ids, the first in the text, the greatest bytes, "
    "or the greatest bytes in the order of the characters that GPT-2's files have for them.",
)
@_training_options.id_options
@click.option(
    "--like",
    metavar="PATH",
    help="A tokenizer, by its path or name, whose pipeline, special tokens and kind of model the "
    "new one has; by default its size too.",
)
@click.option(
    "--model",
    type=click.Choice(["bpe", "wordpiece", "unigram", "wordlevel"]),
    default="bpe",
    show_default=True,
    help="The model: merges, that of BERT, that of T5, or whole words.",
)
@click.option(
    "--rule",
    type=click.Choice(["count", "likelihood"]),
    help="WordPiece: the best pair is the most frequent one, or the likeliest.  [default: count]",
)
@click.option(
    "--superwords",
    type=click.Choice(["two-stage", "boundless"]),
    help="Learn tokens of several words, as SuperBPE (two-stage) or BoundlessBPE (boundless).",
)
@click.option(
    "--subwords",
    type=_size_or_share,
    metavar="N|SHARE",
    help="Two-stage: the size at which superwords begin, or a share of merges.  [default: 0.9]",
)
@click.option(
    "--joins",
    type=click.Choice(["letters", "no_digits", "all"]),
    help="Boundless: which words may join.  [default: no_digits]",
)
@_reading.source_options
@click.option(
    "--runners-up",
    type=int,
    default=0,
    metavar="N",
    help="Store the N next most frequent pairs, with their counts, for each merge.",
)
@_options.threads_option
@_options.memory_limit_option
@_training_options.checkpoint_option
@_training_options.saving_options
def train(
    *,
    files: tuple[str, ...],
    output: str,
    pretokenizer: str | None,
    regex: tuple[str, ...],
    digits: Any,
    normalizer: tuple[Any, ...],
    rules: str | None,
    on_unknown: str,
    like: str | None,
    model: str,
    rule: Any,
    superwords: str | None,
    subwords: int | float | None,
    joins: Any,
    read_options: _reading.ReadOptions,
    format_: str | None,
    allow_loss: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Train a tokenizer on text or counts.

    {files_in_folders} {kinds_of_files} Merges never cross documents. FILES can also be counts made
    by digram counts make, which store their pretokenizer. A summary on stderr says what was learned
    and why training stopped.
    """
    if like is None:
        _training_options.check_limits(options)
    _saving.check_stdout(output, as_json)
    import digram
    from digram.training.checkpoint import noted_merges

    options["superwords"] = _superwords(superwords, subwords, joins)
    options["model"] = _model(model, rule)
    if model != "bpe" and _is_default("unit"):
        options["unit"] = None
    counts = _inputs.counts_in(files, read_options)
    if like is not None:
        options["like"] = digram.load(like)
    elif counts is not None and superwords is None:
        _as_counted(options, counts)
    elif not regex and pretokenizer is None and model == "bpe":
        pretokenizer = "o200k"
    cut = _pretokenizers.pretokenizer_from(pretokenizer, regex, digits, normalizer)
    if cut is not None:
        options["pretokenizer"] = cut
    options["rules"] = _pretokenizers.rules_from(rules)
    options["on_unknown"] = _training_options.unknown_rule(on_unknown)
    if like is not None:
        options |= {name: None for name in _OF_LIKE if _is_default(name)}
    tried = {name: options[name] for name in options if name != "checkpoint"}
    _training_options.rehearse(
        lambda: digram.train("", progress=False, **tried), output, format_, allow_loss
    )
    noted = 0 if options["checkpoint"] is None else noted_merges(options["checkpoint"])
    source: Any = counts
    if counts is None:
        source, paths = _inputs.texts_in(files, read_options)
        _inputs.check_not_in_source(output, paths)
    started = time.perf_counter()
    tok = digram.train(source, progress=False if quiet else None, **options)
    seconds = time.perf_counter() - started
    _saving.save(tok, output, format_, allow_loss)
    noted = min(noted, len(tok.merges))
    if not quiet:
        _printing.log(_training_options.summary(tok, noted, seconds))
        if output != "-":
            _printing.log(_saving.saved_line(tok, output, format_))
    if as_json:
        facts = _training_options.facts(tok, output, seconds)
        _printing.emit_json(facts | {"went_on_from": noted})


def _model(model: str, rule: Any) -> Any:
    """The model as `digram.train` takes it."""
    import digram

    if model != "wordpiece" and rule is not None:
        raise click.UsageError("--rule applies only to --model wordpiece.")
    return digram.WordPiece(rule=rule) if rule is not None else model


def _superwords(
    method: str | None, subwords: int | float | None, joins: Any
) -> TwoStage | Boundless | None:
    """The method for superwords, if one is requested."""
    for name, value, of in (("--subwords", subwords, "two-stage"), ("--joins", joins, "boundless")):
        if value is not None and method != of:
            raise click.UsageError(f"{name} applies only to --superwords {of}.")
    if method is None:
        return None
    import digram

    if method == "two-stage":
        return digram.TwoStage() if subwords is None else digram.TwoStage(subwords=subwords)
    return digram.Boundless() if joins is None else digram.Boundless(joins=joins)


def _as_counted(options: dict[str, Any], counts: Counts) -> None:
    """Take the pretokenizer and the unit from the counts, unless they are given."""
    options["pretokenizer"] = counts.pretokenizer
    if _is_default("unit"):
        options["unit"] = counts.unit


def _is_default(option: str) -> bool:
    """Whether an option was not given."""
    source = click.get_current_context().get_parameter_source(option)
    return source is click.core.ParameterSource.DEFAULT
