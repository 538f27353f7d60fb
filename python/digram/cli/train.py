"""`digram train`: files in, a tokenizer out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from digram.cli import common, corpus, learning

if TYPE_CHECKING:
    from digram.training.counts import Counts
    from digram.training.superwords import Boundless, TwoStage

__all__ = ["train"]


def _size_or_share(value: str) -> int | float:
    """A click type: a whole number is a size, one with a point and no letter a share."""
    try:
        is_share = value.replace(".", "", 1).isdecimal() and "." in value
        return float(value) if is_share else common.NUMBER.convert(value, None, None)
    except click.BadParameter:
        raise click.BadParameter(
            f"{value!r} is neither a size nor a share, as in 20000 or 0.9."
        ) from None


@click.command(
    options_metavar="-o PATH [OPTIONS]",
    epilog=common.example("digram train 'corpus/**/*.txt' --vocab-size 32000 -o tokenizer.json"),
)
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@learning.limit_options
@click.option(
    "--picky",
    type=float,
    metavar="SHARE",
    help="Drop a token once one merge takes up this share of its places (PickyBPE), as in 0.9.",
)
@common.named_pretokenizer_option
@common.pretokenizer_options
@common.rules_option("What is one token, and what is never joined.")
@click.option(
    "--ties",
    type=click.Choice(["ids", "first_seen", "lexicographic", "printable"]),
    default="ids",
    show_default=True,
    help="Among pairs of equal count: the smallest ids, the first in the text, the greatest bytes, "
    "or the greatest as GPT-2 prints them.",
)
@learning.id_options
@click.option(
    "--superwords",
    type=click.Choice(["two-stage", "boundless"]),
    help="Learn tokens of several words: as SuperBPE does, or as BoundlessBPE.",
)
@click.option(
    "--subwords",
    type=_size_or_share,
    metavar="N|SHARE",
    help="Two-stage: the size at which superwords begin, or its share of the merges (0.9).",
)
@click.option(
    "--joins",
    type=click.Choice(["letters", "no_digits", "all"]),
    help="Boundless: which words may join (no_digits).",
)
@common.source_options
@click.option(
    "--runners-up",
    type=int,
    default=0,
    metavar="N",
    help="Keep with each merge the N pairs that came next, and their counts.",
)
@click.option("--threads", type=int, metavar="N", help="Default: one for each core.")
@click.option(
    "--memory-limit",
    metavar="SIZE",
    help='As in "2 GB"; what does not fit goes to the folder for temporary files.',
)
@click.option(
    "--checkpoint",
    metavar="FOLDER",
    help="Note here how far the run is; the same command goes on from there.",
)
@learning.saving_options
def train(
    *,
    files: tuple[str, ...],
    output: str,
    pretokenizer: str | None,
    regex: tuple[str, ...],
    digits: Any,
    rules: str | None,
    on_unknown: str,
    superwords: str | None,
    subwords: int | float | None,
    joins: Any,
    told: common.Told,
    format_: str | None,
    allow_loss: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Learn a tokenizer from text or counts.

    FILES are files, folders (all below them but hidden ones) and quoted patterns, where **
    crosses folders; - is stdin. Names that end in .jsonl, .ndjson or .json hold JSON, .csv,
    .tsv, .parquet and .arrow are tables, and .gz, .zst, .bz2 or .xz are unpacked; all else is
    text. A text file is one document unless --separator cuts it, and so is each record; merges
    never cross documents. Or they are counts, from digram counts make, which say themselves how
    their text was cut. Says on stderr what was learned and why training stopped.
    """
    if options["vocab_size"] is options["max_merges"] is options["min_frequency"] is None:
        raise click.UsageError("say when to stop: --vocab-size, --max-merges or --min-frequency.")
    common.check_stdout(output, as_json)
    import digram
    from digram.training.checkpoint import noted_merges

    options["superwords"] = _superwords(superwords, subwords, joins)
    counts = corpus.counts_in(files, told)
    if counts is not None and superwords is None:
        _as_counted(options, counts)
    elif not regex and pretokenizer is None:
        pretokenizer = "o200k"
    if regex or pretokenizer is not None or digits is not None:
        options["pretokenizer"] = common.pretokenizer_from(pretokenizer, regex, digits)
    options["rules"] = common.rules_from(rules)
    is_rule = on_unknown in ("error", "bytes")
    options["on_unknown"] = on_unknown if is_rule else digram.SpecialToken(on_unknown)
    tried = {name: options[name] for name in options if name != "checkpoint"}
    learning.rehearse(
        lambda: digram.train("", progress=False, **tried), output, format_, allow_loss
    )
    noted = 0 if options["checkpoint"] is None else noted_merges(options["checkpoint"])
    source: Any = counts
    if counts is None:
        source, paths = corpus.texts_in(files, told)
        corpus.check_not_in_source(output, paths)
    started = time.perf_counter()
    tok = digram.train(source, progress=False if quiet else None, **options)
    seconds = time.perf_counter() - started
    common.save(tok, output, format_, allow_loss)
    noted = min(noted, len(tok.merges))
    if not quiet:
        common.log(learning.summary(tok, noted, seconds))
        if output != "-":
            common.log(f"Saved {output}")
    if as_json:
        facts = learning.facts(tok, output, seconds)
        common.emit_json(facts | {"went_on_from": noted})


def _superwords(
    way: str | None, subwords: int | float | None, joins: Any
) -> TwoStage | Boundless | None:
    """The way to learn superwords, if one is asked for."""
    for name, value, of in (("--subwords", subwords, "two-stage"), ("--joins", joins, "boundless")):
        if value is not None and way != of:
            raise click.UsageError(f"{name} is for --superwords {of}.")
    if way is None:
        return None
    import digram

    if way == "two-stage":
        return digram.TwoStage() if subwords is None else digram.TwoStage(subwords=subwords)
    return digram.Boundless() if joins is None else digram.Boundless(joins=joins)


def _as_counted(options: dict[str, Any], counts: Counts) -> None:
    """What is not asked for is as it was when the text was counted."""
    options["pretokenizer"] = counts.pretokenizer
    asked = click.get_current_context().get_parameter_source("unit")
    if asked is click.core.ParameterSource.DEFAULT:
        options["unit"] = counts.unit
