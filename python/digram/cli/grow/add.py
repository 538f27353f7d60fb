"""`digram grow add`: files in, and a history that counts them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from digram.cli import common, corpus
from digram.errors import show

if TYPE_CHECKING:
    from digram.adapt.versions import VocabularyHistory

__all__ = ["add"]


def number(_ctx: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    """A click callback: a decimal number or a fraction, exact."""
    if value is None:
        return None
    from digram._util.validation import fraction_in

    try:
        return fraction_in(value)
    except ValueError:
        raise click.BadParameter(f"{show(value)} is not a number such as 2, 0.9 or 2/3.") from None


@click.command(
    epilog=common.example(
        "digram grow add vocabulary/ 2025/*.txt --name 2025",
        "digram grow add vocabulary/ notes.txt --tokenizer tokenizer.json",
        "digram grow add vocabulary/ new.txt --decay 0.9",
    ),
)
@click.argument("folder", metavar="FOLDER")
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option(
    "--name",
    default="text",
    show_default=True,
    metavar="NAME",
    help="What it can be forgotten by.",
)
@click.option(
    "--weight",
    default="1",
    show_default=True,
    callback=number,
    metavar="NUMBER",
    help="How much it counts.",
)
@click.option(
    "--decay",
    callback=number,
    metavar="NUMBER",
    help="First multiply all earlier counts by this factor: 0.9, or 1/2.",
)
@click.option(
    "-t",
    "--tokenizer",
    metavar="PATH",
    help="Begin a new folder with this tokenizer as its first version.",
)
@click.option(
    "--encoding",
    metavar="NAME",
    help="The published encoding that its .tiktoken file holds, as cl100k_base.",
)
@common.named_pretokenizer_option
@common.pretokenizer_options
@click.option(
    "--unit",
    type=click.Choice(["byte", "char"]),
    help="What merges of a new folder start from.  [default: byte]",
)
@common.source_options
@click.option("--threads", type=int, metavar="N", help="Default: one for each core.")
@click.option("--memory-limit", metavar="SIZE", help='As in "2 GB"; counting takes no more.')
@click.option("-q", "--quiet", is_flag=True, help="No bar and no summary.")
@common.json_option
def add(
    *,
    folder: str,
    files: tuple[str, ...],
    name: str,
    weight: Any,
    decay: Any,
    tokenizer: str | None,
    unit: Any,
    told: common.Told,
    threads: int | None,
    memory_limit: str | None,
    quiet: bool,
    as_json: bool,
    **described: Any,
) -> None:
    """Count the text of FILES, and add it to the history in FOLDER, which is begun where there is
    none.

    FILES are what digram train takes, counts too. How text is cut is said for a new folder, with
    --pretokenizer, --regex and --digits (by default o200k), or by a tokenizer to go on from.
    """
    from digram.adapt.versions import edited

    counts = corpus.counts_in(files, told)
    source: Any = counts if counts is not None else corpus.texts_in(files, told)[0]
    begins = {name: value for name, value in described.items() if value}
    asked = [*begins, *(["unit"] if unit else []), *(["tokenizer"] if tokenizer else [])]
    new: list[str] = []

    def begin() -> VocabularyHistory:
        new.append(folder)
        return _begun(tokenizer, unit, described, counts)

    def change(history: VocabularyHistory) -> VocabularyHistory:
        if asked and not new:
            raise click.UsageError(
                f"{folder} holds a history already, and --{asked[0]} is for a new one."
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

    after = edited(Path(folder), change, begin)
    if not quiet:
        entry = after.log[-1]
        common.log(f"{'Began' if new else 'Changed'} {folder}: {entry}.")
    if as_json:
        from digram.adapt.versions.files import entry_as_json

        entry = after.log[-1]
        common.emit_json({"folder": folder, "began": bool(new), **entry_as_json(entry)})


def _begun(
    tokenizer: str | None, unit: Any, described: dict[str, Any], counts: Any
) -> VocabularyHistory:
    """A new history, and how it cuts text."""
    import digram

    if tokenizer is not None:
        if unit is not None:
            raise click.UsageError("--unit is that of the tokenizer; leave it out.")
        return digram.VocabularyHistory.of(common.load(tokenizer, described))
    if described["encoding"] is not None:
        raise click.UsageError("--encoding says what a --tokenizer holds, and there is none.")
    name, regex, digits = (described[key] for key in ("pretokenizer", "regex", "digits"))
    if counts is not None and name is None and not regex:
        return digram.VocabularyHistory(pretokenizer=counts.pretokenizer, unit=unit or counts.unit)
    if not regex and name is None:
        name = "o200k"
    cut = common.pretokenizer_from(name, regex, digits)
    return digram.VocabularyHistory(pretokenizer=cut, unit=unit or "byte")
