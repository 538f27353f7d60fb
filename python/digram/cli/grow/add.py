"""`digram grow add`: count files and add them to a history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from digram.cli import (
    _files_argument,
    _inputs,
    _loading,
    _options,
    _pretokenizers,
    _printing,
    _reading,
    _verbs,
)
from digram.errors import show

if TYPE_CHECKING:
    from digram.adapt.versions import VocabularyHistory

__all__ = ["add"]


def number(_ctx: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    """A click callback: an exact decimal number or fraction."""
    if value is None:
        return None
    from digram._util.validation import fraction_in

    try:
        return fraction_in(value)
    except ValueError:
        raise click.BadParameter(f"{show(value)} is not a number such as 2, 0.9 or 2/3.") from None


@click.command(
    cls=_verbs.Verb,
    epilog=_verbs.example(
        "digram grow add vocabulary/ 2025/*.txt --name 2025",
        "digram grow add vocabulary/ notes.txt --tokenizer tokenizer.json",
        "digram grow add vocabulary/ new.txt --decay 0.9",
    ),
)
@click.argument("folder", metavar="FOLDER")
@_files_argument.required
@click.option(
    "--name",
    default="text",
    show_default=True,
    metavar="NAME",
    help="The name under which the text can be removed again.",
)
@click.option(
    "--weight",
    default="1",
    show_default=True,
    callback=number,
    metavar="NUMBER",
    help="The weight of the text.",
)
@click.option(
    "--decay",
    callback=number,
    metavar="NUMBER",
    help="First multiply all earlier counts by this factor, such as 0.9 or 1/2.",
)
@click.option(
    "-t",
    "--tokenizer",
    metavar="PATH",
    help="Start a new folder with this tokenizer as the first version.",
)
@click.option(
    "--encoding",
    metavar="NAME",
    help="The published encoding of its .tiktoken file, such as cl100k_base.",
)
@_loading.download_option
@_pretokenizers.named_pretokenizer_option
@_pretokenizers.pretokenizer_options
@click.option(
    "--unit",
    type=click.Choice(["byte", "char"]),
    help="The unit that merges of a new folder start from.  [default: byte]",
)
@_reading.source_options
@_options.threads_option
@_options.counting_limit_option
@_options.quiet_option
@_options.json_option
def add(
    *,
    folder: str,
    files: tuple[str, ...],
    name: str,
    weight: Any,
    decay: Any,
    tokenizer: str | None,
    unit: Any,
    read_options: _reading.ReadOptions,
    threads: int | None,
    memory_limit: str | None,
    quiet: bool,
    as_json: bool,
    **described: Any,
) -> None:
    """Count the text of FILES and add it to the history in FOLDER; a missing folder is created.

    FILES are those of digram train, including counts. For a new folder, choose the pretokenizer
    with --pretokenizer, --regex, --digits and --normalizer (by default o200k), or take that of
    --tokenizer.
    """
    from digram.adapt.versions import edited

    counts = _inputs.counts_in(files, read_options)
    source: Any = counts if counts is not None else _inputs.texts_in(files, read_options)[0]
    pretokenizer_options = {name: value for name, value in described.items() if value}
    for_new = [
        *pretokenizer_options,
        *(["unit"] if unit else []),
        *(["tokenizer"] if tokenizer else []),
    ]
    created: list[str] = []

    def create() -> VocabularyHistory:
        created.append(folder)
        return _new_history(tokenizer, unit, described, counts)

    def change(history: VocabularyHistory) -> VocabularyHistory:
        if for_new and not created:
            raise click.UsageError(
                f"{folder} already contains a history; --{for_new[0]} applies only to a new one."
            )
        if decay is not None:
            history = history.decay(decay)
        return history.add(
            source,
            name=name,
            weight=weight,
            threads=threads,
            memory_limit=memory_limit,
            progress=False if quiet else None,
        )

    after = edited(Path(folder), change, create)
    if not quiet:
        entry = after.log[-1]
        _printing.log(f"{'Began' if created else 'Changed'} {folder}: {entry}.")
    if as_json:
        from digram.adapt.versions.files import entry_as_json

        entry = after.log[-1]
        _printing.emit_json({"folder": folder, "began": bool(created), **entry_as_json(entry)})


def _new_history(
    tokenizer: str | None, unit: Any, described: dict[str, Any], counts: Any
) -> VocabularyHistory:
    """A new history with its pretokenizer and unit."""
    import digram

    if tokenizer is not None:
        if unit is not None:
            raise click.UsageError("--tokenizer determines the unit; leave out --unit.")
        return digram.VocabularyHistory.of(_loading.load(tokenizer, described))
    for option in ("encoding", "download"):
        if described[option]:
            raise click.UsageError(f"--{option} applies to --tokenizer, which is missing.")
    keys = ("pretokenizer", "regex", "digits", "normalizer")
    name, regex, digits, normalizer = (described[key] for key in keys)
    if counts is not None and name is None and not regex:
        return digram.VocabularyHistory(pretokenizer=counts.pretokenizer, unit=unit or counts.unit)
    if not regex and name is None:
        name = "o200k"
    cut = _pretokenizers.pretokenizer_from(name, regex, digits, normalizer)
    return digram.VocabularyHistory(pretokenizer=cut, unit=unit or "byte")
