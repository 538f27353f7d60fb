"""`digram train`: files in, a tokenizer out."""

from __future__ import annotations

import errno
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from digram.cli import common, corpus

if TYPE_CHECKING:
    from digram.counts import Counts
    from digram.definition import TrainingRecord
    from digram.superwords import Boundless, TwoStage
    from digram.tokenizer import Tokenizer

__all__ = ["train"]


def _blocks(
    _ctx: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, int]:
    """A click callback: `image=8192` for each block."""
    found: dict[str, int] = {}
    for value in values:
        name, _, number = value.rpartition("=")
        if not name or not number.isdecimal():
            raise click.BadParameter(f"{value!r} is not a name and a number, as in image=8192.")
        if name in found:
            raise click.BadParameter(f"the block {name!r} is there twice.")
        found[name] = int(number)
    return found


def _size_or_share(value: str) -> int | float:
    """A click type: a whole number is a size, one with a point a share."""
    return float(value) if "." in value else int(value)


_WHY = {
    "vocab_size": "the vocabulary has the size asked for",
    "max_merges": "the merges asked for are made",
    "min_frequency": "no pair is frequent enough any more",
    "no_pairs": "no pair is left to merge",
}


@click.command(
    options_metavar="-o PATH [OPTIONS]",
    epilog=common.example("digram train 'corpus/**/*.txt' --vocab-size 32000 -o tokenizer.json"),
)
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    required=True,
    help="Where to save the tokenizer; - is stdout. Replaced at once or not at all.",
)
@click.option(
    "--vocab-size",
    type=int,
    metavar="N",
    help="Stop at N tokens, special tokens and base included.",
)
@click.option(
    "--min-frequency",
    type=int,
    metavar="N",
    help="Stop when no pair occurs N times; at least 2 where it is the only limit.",
)
@click.option("--max-merges", type=int, metavar="N", help="Stop after N merges.")
@click.option(
    "--max-token-length", type=int, metavar="BYTES", help="Learn no token longer than this."
)
@click.option(
    "--whole-characters",
    is_flag=True,
    help="Learn no token that holds a part of a character beside anything else.",
)
@click.option(
    "--picky",
    type=float,
    metavar="SHARE",
    help="Drop a token once one merge takes up this share of its places (PickyBPE), as in 0.9.",
)
@click.option(
    "--unit",
    type=click.Choice(["byte", "char"]),
    default="byte",
    show_default=True,
    help="What merges start from.",
)
@click.option(
    "--alphabet",
    metavar="TEXT",
    help="Unit char: the base characters, in place of all those of the corpus.",
)
@click.option(
    "--limit-alphabet",
    type=int,
    metavar="N",
    help="Unit char: keep the N most frequent characters; the others are unknown.",
)
@click.option(
    "--on-unknown",
    default="error",
    metavar="error|bytes|TOKEN",
    show_default=True,
    help="Unit char: an unknown character is an error, its bytes, or this token.",
)
@common.named_pretokenizer_option
@common.pretokenizer_options
@common.rules_option("What is one token, and what is never joined.")
@click.option(
    "--ties",
    type=click.Choice(["ids", "first_seen", "lexicographic"]),
    default="ids",
    show_default=True,
    help="Among pairs of equal count: the smallest ids, the first in the text, or the greatest "
    "bytes.",
)
@click.option(
    "--special-token",
    "special_tokens",
    multiple=True,
    metavar="TEXT",
    help="A special token; repeat it for several.",
)
@click.option("--special-first", is_flag=True, help="Give special tokens the first ids.")
@click.option(
    "--reserve",
    multiple=True,
    callback=_blocks,
    metavar="NAME=N",
    help="Set N ids aside as <|NAME_0|>, <|NAME_1|>, ...; repeat it for several.",
)
@click.option(
    "--pad-to-multiple",
    type=int,
    metavar="N",
    help="End with unused ids, so that the size is a multiple of N.",
)
@click.option(
    "--byte-order",
    type=click.Choice(["value", "gpt2"]),
    default="value",
    show_default=True,
    help="Ids of the single bytes: by value, or as in GPT-2 and Hugging Face.",
)
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
@click.option(
    "--format", "format_", type=click.Choice(list(common.FORMATS)), help="Default: by the name."
)
@common.allow_loss_option
@click.option("-q", "--quiet", is_flag=True, help="No bar and no summary.")
@common.json_option
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
    crosses folders; - is stdin. Names that end in .jsonl or .ndjson are lines of JSON, .parquet
    and .arrow are tables, and .gz, .zst, .bz2 or .xz are unpacked; all else is text. A text file
    is one document unless --separator cuts it, and so is each record; merges never cross
    documents. Or they are counts, from digram counts make, which say themselves how their
    text was cut. Says on stderr what was learned and why training stopped.
    """
    if options["vocab_size"] is options["max_merges"] is options["min_frequency"] is None:
        raise click.UsageError("say when to stop: --vocab-size, --max-merges or --min-frequency.")
    if output == "-" and as_json:
        raise click.UsageError("-o - and --json both want stdout; give one of them.")
    import digram
    from digram.checkpoint import noted_merges

    options["superwords"] = _superwords(superwords, subwords, joins)
    counts = corpus.counts_in(files)
    if counts is not None and superwords is None:
        _as_counted(options, counts)
    elif not regex and pretokenizer is None:
        pretokenizer = "o200k"
    if regex or pretokenizer is not None or digits is not None:
        options["pretokenizer"] = common.pretokenizer_from(pretokenizer, regex, digits)
    options["rules"] = common.rules_from(rules)
    is_rule = on_unknown in ("error", "bytes")
    options["on_unknown"] = on_unknown if is_rule else digram.Special(on_unknown)
    _rehearse(output, format_, allow_loss, options)
    noted = 0 if options["checkpoint"] is None else noted_merges(options["checkpoint"])
    source: Any = counts
    if counts is None:
        source, paths = corpus.texts_in(files, told)
        corpus.check_not_in_source(output, paths)
    started = time.perf_counter()
    if counts is None:
        options["separator"] = told.separator
    tok = digram.train(source, progress=False if quiet else None, **options)
    seconds = time.perf_counter() - started
    common.save(tok, output, format_, allow_loss)
    record = tok.training
    assert record is not None
    noted = min(noted, len(tok.merges))
    if not quiet:
        common.log(_summary(tok, noted, record, seconds))
        if output != "-":
            common.log(f"Saved {output}")
    if as_json:
        common.emit_json(
            {
                "path": output,
                "vocab_size": tok.vocab_size,
                "merges": len(tok.merges) or sum(event.kind == "merge" for event in tok.events),
                "went_on_from": noted,
                "stop_reason": record.stop_reason,
                "documents": record.documents,
                "bytes": record.bytes,
                "pretokens": record.pretokens,
                "distinct_pretokens": record.distinct_pretokens,
                "digest": tok.digest,
                "seconds": round(seconds, 3),
            }
        )


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


def _rehearse(output: str, format_: str | None, allow_loss: bool, options: dict[str, Any]) -> None:
    """Train on nothing and save it elsewhere: what would fail fails now, not after an hour."""
    import digram

    if not Path(output).parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(Path(output).parent))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("tokenizer.json" if output == "-" else Path(output).name)
        try:
            rehearsed = {name: options[name] for name in options if name != "checkpoint"}
            tok = digram.train("", progress=False, **rehearsed)
            tok.save(path, format=format_, allow_loss=allow_loss)
        except digram.DigramError as error:
            error.path = None if error.path is None else output
            raise


def _summary(tok: Tokenizer, noted: int, record: TrainingRecord, seconds: float) -> str:
    from digram.progress import amount

    tokens, dropped = len(tok), sum(event.kind == "drop" for event in tok.events)
    learned = common.several(len(tok.merges) or len(tok.events) - dropped, "merge")
    if dropped:
        learned += f", dropped {common.several(dropped, 'token')}"
    if noted:
        learned += f", {noted:,} of them in an earlier run"
    return (
        f"Learned {learned}, {common.several(tokens, 'token')} in all, "
        f"from {amount(record.bytes)} in {common.several(record.documents, 'document')}, in "
        f"{seconds:.1f} s.\nStopped because {_WHY[record.stop_reason]}{_asked(tokens, record)}."
    )


def _asked(tokens: int, record: TrainingRecord) -> str:
    """What was asked for, where it was not reached."""
    asked = record.options["vocab_size"]
    return f", short of the {asked:,} tokens asked for" if asked and tokens < asked else ""
