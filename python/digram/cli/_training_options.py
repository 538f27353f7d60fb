"""Shared by the verbs that train: options, a trial run, a summary."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from digram.cli import _options, _saving
from digram.errors import several

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer
    from digram.vocab.definition import TrainingRecord
    from digram.vocab.special_tokens import SpecialToken

__all__ = [
    "check_limits",
    "checkpoint_option",
    "facts",
    "id_options",
    "limit_options",
    "max_token_length_option",
    "rehearse",
    "saving_options",
    "summary",
    "unknown_rule",
]


def _blocks(
    _ctx: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, int]:
    """A click callback: the blocks `NAME=N`, as a dictionary."""
    blocks: dict[str, int] = {}
    for value in values:
        name, _, number = value.rpartition("=")
        try:
            size = _options.NUMBER.convert(number, None, None)
        except click.BadParameter:
            size = -1
        if not name or size < 0:
            raise click.BadParameter(f"{value!r} is not a name and a number, such as image=8192.")
        if name in blocks:
            raise click.BadParameter(f"the block {name!r} is given twice.")
        blocks[name] = size
    return blocks


_WHY = {
    "vocab_size": "the vocabulary has the requested size",
    "max_merges": "the requested number of merges is made",
    "min_frequency": "no remaining pair is frequent enough",
    "no_pairs": "no pair is left to merge",
}


max_token_length_option = click.option(
    "--max-token-length", type=int, metavar="N", help="Make no token longer than N bytes."
)

checkpoint_option = click.option(
    "--checkpoint",
    metavar="FOLDER",
    help="Save progress here; the same command resumes from it.",
)

limit_options = _options.together(
    _saving.output_option,
    click.option(
        "--vocab-size",
        type=_options.NUMBER,
        metavar="N",
        help="Stop at N tokens, including special tokens and the base: the 256 bytes, or the "
        "characters of --unit char.",
    ),
    click.option(
        "--min-frequency",
        type=_options.NUMBER,
        metavar="N",
        help="Stop when no pair occurs N times; at least 2 if it is the only limit.  [default: 1]",
    ),
    click.option("--max-merges", type=_options.NUMBER, metavar="N", help="Stop after N merges."),
    max_token_length_option,
    click.option(
        "--whole-characters",
        is_flag=True,
        help="Make no token that joins part of a character with other bytes.",
    ),
    _options.unit_option,
    click.option(
        "--alphabet",
        metavar="TEXT",
        help="Unit char: the base characters, instead of all characters of the corpus.",
    ),
    click.option(
        "--limit-alphabet",
        type=_options.NUMBER,
        metavar="N",
        help="Unit char: keep the N most frequent characters; the others are unknown.",
    ),
    click.option(
        "--on-unknown",
        default="error",
        metavar="error|bytes|TOKEN",
        show_default=True,
        help="Unit char: an unknown character is an error, becomes its bytes, or becomes TOKEN.",
    ),
)
"""The output, the limits of training and the base."""

id_options = _options.together(
    click.option(
        "--special-token",
        "special_tokens",
        multiple=True,
        metavar="TEXT",
        help="A special token; repeat it for several.",
    ),
    click.option("--special-first", is_flag=True, help="Give special tokens the first ids."),
    click.option(
        "--reserve",
        multiple=True,
        callback=_blocks,
        metavar="NAME=N",
        help="Reserve N ids as <|NAME_0|>, <|NAME_1|>, ...; repeat it for several.",
    ),
    click.option(
        "--pad-to-multiple",
        type=int,
        metavar="N",
        help="Add unused ids, so that the size is a multiple of N.",
    ),
    click.option(
        "--byte-order",
        type=click.Choice(["value", "gpt2"]),
        default="value",
        show_default=True,
        help="Ids of the single bytes: by value, or as in GPT-2 and Hugging Face.",
    ),
)
"""Special tokens, reserved ids and the layout of ids."""

saving_options = _options.together(
    _saving.format_option,
    _saving.allow_loss_option,
    _options.quiet_option,
    _options.json_option,
)
"""The format of the output, and messages."""


def check_limits(options: Mapping[str, Any]) -> None:
    """Raise a usage error if no option says when training stops."""
    if options["vocab_size"] is options["max_merges"] is options["min_frequency"] is None:
        raise click.UsageError("give a limit: --vocab-size, --max-merges or --min-frequency.")


def unknown_rule(on_unknown: str) -> str | SpecialToken:
    """The value of `--on-unknown` as `digram.train` takes it: a rule, or a token."""
    from digram.vocab.special_tokens import SpecialToken

    return on_unknown if on_unknown in ("error", "bytes") else SpecialToken(on_unknown)


def rehearse(
    learn: Callable[[], Tokenizer], output: str, format_: str | None, allow_loss: bool
) -> None:
    """Train on nothing and save to a temporary folder, so that errors show before a long run."""
    import digram

    _saving.check_parent(output)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (_saving.STDOUT if output == "-" else Path(output).name)
        try:
            learn().save(path, format=format_, allow_loss=allow_loss)
        except digram.DigramError as error:
            error.path = None if error.path is None else output
            raise


def summary(tok: Tokenizer, noted: int, seconds: float) -> str:
    """A summary: what was learned, from how much text, and why training stopped."""
    from digram._util.progress import amount
    from digram.vocab.bpe import bpe

    record = tok.training
    assert record is not None
    tokens, dropped = len(tok), sum(event.kind == "drop" for event in tok.events)
    learned = several(merges_of(tok), "merge")
    if bpe(tok._settings.kernel) is None:
        learned = several(len(tok._made()), "longer token")
    why = _WHY[record.stop_reason]
    if tok._settings.kernel.kind == "unigram" and record.stop_reason == "min_frequency":
        why = "no other text in the corpus is frequent enough"
    if dropped:
        learned += f", dropped {several(dropped, 'token')}"
    if noted:
        learned += f", {noted:,} of them in an earlier run"
    return (
        f"Learned {learned}, {several(tokens, 'token')} in all, "
        f"from {amount(record.bytes)} in {several(record.documents, 'document')}, in "
        f"{seconds:.1f} s.\nStopped because {why}{_shortfall(tokens, record)}."
    )


def _shortfall(tokens: int, record: TrainingRecord) -> str:
    """The requested size, if it was not reached."""
    requested = record.options["vocab_size"]
    return (
        f", short of the requested {requested:,} tokens" if requested and tokens < requested else ""
    )


def merges_of(tok: Tokenizer) -> int:
    """The number of merges, including those of tokens that were dropped later."""
    return len(tok.merges) or sum(event.kind == "merge" for event in tok.events)


def facts(tok: Tokenizer, output: str, seconds: float) -> dict[str, Any]:
    """Facts about what was learned, for JSON."""
    record = tok.training
    assert record is not None
    return {
        "path": output,
        "vocab_size": tok.vocab_size,
        "merges": merges_of(tok),
        "stop_reason": record.stop_reason,
        "documents": record.documents,
        "bytes": record.bytes,
        "pretokens": record.pretokens,
        "distinct_pretokens": record.distinct_pretokens,
        "digest": tok.digest,
        "seconds": round(seconds, 3),
    }
