"""`digram grow save`: save a version, and the change of the ids from another."""

from __future__ import annotations

import errno
from pathlib import Path

import click

from digram.cli import _change_options, _options, _printing, _saving, _verbs

__all__ = ["check_folder", "save"]


def check_folder(output: str) -> None:
    """Raise `FileNotFoundError` if the folder of the output does not exist."""
    parent = Path(output).parent
    if output != "-" and not parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(parent))


@click.command(
    epilog=_verbs.example(
        "digram grow save vocabulary/ -o tokenizer.json",
        "digram grow save vocabulary/ -o new.json --since 1 --change change.npz",
    ),
)
@click.argument("folder", metavar="FOLDER")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="PATH",
    help="Where to save the tokenizer, as for digram train; - is stdout.",
)
@click.option(
    "--number", type=int, metavar="N", help="The number of the version.  [default: the newest]"
)
@_saving.format_option
@_saving.allow_loss_option
@click.option(
    "--change",
    "change_path",
    metavar="PATH",
    help="Write the change of the ids to this .npz: id_map, and the rows of embeddings.",
)
@click.option(
    "--since",
    type=int,
    metavar="N",
    help="The version from which --change starts.  [default: the previous one]",
)
@click.option("-q", "--quiet", is_flag=True, help="Show no summary.")
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
    check_folder(output)
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
