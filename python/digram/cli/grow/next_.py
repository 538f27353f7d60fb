"""`digram grow next`: make the next version of a vocabulary."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from digram.cli import _change_options, _options, _printing, _saving, _verbs

if TYPE_CHECKING:
    from digram.adapt.versions import VocabularyHistory

__all__ = ["next"]


@click.command(
    cls=_verbs.Verb,
    name="next",
    epilog=_verbs.example(
        "digram grow next vocabulary/ --vocab-size 32000 -o tokenizer.json",
        "digram grow next vocabulary/ --add 2000 -o new.json --change change.npz",
    ),
)
@click.argument("folder", metavar="FOLDER")
@click.option(
    "--vocab-size",
    type=_options.NUMBER,
    metavar="N",
    help="Train a first version of N tokens; extend or prune a later one to that size.",
)
@click.option("--add", type=_options.NUMBER, metavar="N", help="Add N tokens; every old id stays.")
@click.option("--swap", type=_options.NUMBER, metavar="N", help="Replace the N least used tokens.")
@click.option("--remove", type=_options.NUMBER, metavar="N", help="Remove the N least used tokens.")
@click.option(
    "--special-token",
    "special_tokens",
    multiple=True,
    metavar="TEXT",
    help="A special token of the first version; repeat it for several.",
)
@click.option(
    "--min-frequency",
    type=_options.NUMBER,
    metavar="N",
    help="Do not merge pairs that occur less often.",
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="Also save the tokenizer to this path, as digram train does.",
)
@_saving.format_option
@_saving.allow_loss_option
@_change_options.change_option
@_options.threads_option
@_options.quiet_option
@_options.json_option
def next(
    *,
    folder: str,
    special_tokens: tuple[str, ...],
    min_frequency: int | None,
    output: str | None,
    format_: str | None,
    allow_loss: bool,
    change_path: str | None,
    threads: int | None,
    quiet: bool,
    as_json: bool,
    **how: int | None,
) -> None:
    """Make the next version of the vocabulary in FOLDER from its current counts.

    Pass one of --vocab-size, --add, --swap and --remove. Tokens that stay keep their ids, except
    where --remove closes gaps.
    """
    from digram.adapt.versions import edited

    _saving.check_stdout(output, as_json)
    if output is not None:
        _saving.check_parent(output)
    elif format_ is not None or allow_loss:
        raise click.UsageError("--format and --allow-loss need -o.")
    if change_path is not None:
        _change_options.check_change(change_path, output or change_path + ".json", ())
    options: dict[str, Any] = {"threads": threads}
    if how["remove"] is None:
        options["progress"] = False if quiet else None
    if special_tokens:
        options["special_tokens"] = list(special_tokens)
    if min_frequency is not None:
        options["min_frequency"] = min_frequency
    started = time.perf_counter()

    def change(history: VocabularyHistory) -> VocabularyHistory:
        if change_path is not None and not history.versions:
            raise click.UsageError("--change needs a previous version, but this is the first.")
        return history.next(**how, **options)

    after = edited(Path(folder), change)
    version = after.versions[-1]
    tok = version.tokenizer
    if output is not None:
        _saving.save(tok, output, format_, allow_loss)
    if change_path is not None and version.change is not None:
        version.change.save(change_path)
    seconds = time.perf_counter() - started
    if as_json:
        facts = {"folder": folder, "version": version.number, **_saving.saved(tok, output)}
        if version.change is not None:
            facts |= _change_options.facts(tok, version.change, output)
        _printing.emit_json({**facts, "seconds": round(seconds, 3)})
    if not quiet:
        _printing.log(f"Made {version}, in {seconds:.1f} s.")
        if output is not None and output != "-":
            _printing.log(f"Saved {output}")
