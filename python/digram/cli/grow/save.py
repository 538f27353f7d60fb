"""`digram grow save`: save a version, and the change of the ids from another."""

from __future__ import annotations

from pathlib import Path

import click

from digram.cli import _change_options, _options, _printing, _saving, _verbs

__all__ = ["save"]


@click.command(
    cls=_verbs.Verb,
    epilog=_verbs.example(
        "digram grow save vocabulary/ -o tokenizer.json",
        "digram grow save vocabulary/ -o new.json --since 1 --change change.npz",
    ),
)
@click.argument("folder", metavar="FOLDER")
@_saving.output_option
@click.option(
    "--number", type=int, metavar="N", help="The number of the version.  [default: the newest]"
)
@_saving.format_option
@_saving.allow_loss_option
@_change_options.change_option
@click.option(
    "--since",
    type=int,
    metavar="N",
    help="The version from which --change starts.  [default: the previous one]",
)
@_options.no_summary_option
@_options.json_option
def save(
    *,
    folder: str,
    output: str,
    number: int | None,
    format_: str | None,
    allow_loss: bool,
    change_path: str | None,
    since: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Save a version of the vocabulary in FOLDER, and optionally the change of ids from another.

    --since may also name a later version: then the change leads back to the earlier one.
    """
    import digram

    _saving.check_stdout(output, as_json)
    _saving.check_parent(output)
    if change_path is not None:
        _change_options.check_change(change_path, output, ())
    elif since is not None:
        raise click.UsageError("--since applies to --change, which is missing.")
    history = digram.VocabularyHistory.load(Path(folder))
    last = len(history.versions) if number is None else number
    after = history.map(last, last).after
    change = None
    if change_path is not None:
        change = history.map(last - 1 if since is None else since, last)
        change.save(change_path)
    _saving.save(after, output, format_, allow_loss)
    if not quiet:
        _printing.log(f"{history.versions[last - 1]}." if change is None else f"{change}.")
        if output != "-":
            _printing.log(f"Saved {output}")
    if as_json:
        facts = {"folder": folder, "version": last, **_saving.saved(after, output)}
        if change is not None:
            facts |= _change_options.facts(after, change, output)
        _printing.emit_json(facts)
