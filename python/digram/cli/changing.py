"""What verbs share that make another tokenizer of one and some text."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from digram.cli import common, corpus

if TYPE_CHECKING:
    from collections.abc import Callable

    from digram.adapt import Change
    from digram.corpus import CorpusLike
    from digram.tokenizer.tokenizer import Tokenizer
    from digram.training.counts import Counts

__all__ = ["Asked", "check_change", "facts", "options"]


class Asked(NamedTuple):
    """The tokenizer to change, what it is to learn from, and where the outcome goes."""

    tok: Tokenizer
    source: CorpusLike | Counts
    threads: int | None
    output: str
    change_path: str | None
    format: str | None
    allow_loss: bool
    quiet: bool
    as_json: bool

    def save(self, after: Tokenizer, change: Change, seconds: float | None = None) -> None:
        """Write what came of it, and say so."""
        common.save(after, self.output, self.format, self.allow_loss)
        if self.change_path is not None:
            change.save(self.change_path)
        if not self.quiet:
            common.log(f"{change}." if seconds is None else f"{change}, in {seconds:.1f} s.")
            if self.output != "-":
                common.log(f"Saved {self.output}")
        if self.as_json:
            common.emit_json(facts(after, change, self.output))


def facts(after: Tokenizer, change: Change, output: str | None) -> dict[str, Any]:
    """What there is to say, in JSON, of a tokenizer that came of another one."""
    added, removed = len(change.added), len(change.removed)
    return {**common.saved(after, output), "added": added, "removed": removed}


def check_change(path: str, output: str, read: tuple[Path, ...]) -> None:
    """Refuses, before any work, what would replace something or could not be written."""
    if path == "-":
        raise click.UsageError("--change writes a file; name one that ends in .npz.")
    target = Path(path).resolve()
    if not target.parent.is_dir():
        folder = str(Path(path).parent)
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", folder)
    if target in {Path(output).resolve(), *(one.resolve() for one in read)}:
        raise click.UsageError(f"--change {path} would replace a file of this call; name another.")


def options(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb its arguments and options, as one value `asked`; its own stand above this."""

    def asking(
        *,
        tokenizer: str,
        files: tuple[str, ...],
        told: common.Told,
        output: str,
        change_path: str | None,
        format_: str | None,
        threads: int | None,
        allow_loss: bool,
        quiet: bool,
        as_json: bool,
        **rest: Any,
    ) -> Any:
        common.check_stdout(output, as_json)
        tok = common.load(tokenizer, rest)
        counts = corpus.counts_in(files, told)
        text: Any = counts
        paths = tuple(map(Path, files))
        if counts is None:
            text, paths = corpus.texts_in(files, told)
        corpus.check_not_in_source(output, paths)
        if change_path is not None:
            check_change(change_path, output, (Path(tokenizer), *paths))
        where = output, change_path, format_, allow_loss, quiet, as_json
        return verb(asked=Asked(tok, text, threads, *where), **rest)

    asking.__doc__ = verb.__doc__
    asking.__name__ = verb.__name__
    found: Any = asking
    for option in (
        common.json_option,
        click.option("-q", "--quiet", is_flag=True, help="No bar and no summary."),
        common.allow_loss_option,
        click.option("--threads", type=int, metavar="N", help="Default: one for each core."),
        common.source_options,
        common.described_options,
        common.format_option,
        click.option(
            "--change",
            "change_path",
            metavar="PATH",
            help="Write what becomes of the ids to this .npz: id_map, and the rows of embeddings.",
        ),
        click.option(
            "-o",
            "--output",
            required=True,
            metavar="PATH",
            help="The new tokenizer's file, or folder, as of digram train; - is stdout.",
        ),
        common.tokenizer_option,
        click.argument("files", nargs=-1, required=True, metavar="FILES..."),
    ):
        found = option(found)
    return found  # type: ignore[no-any-return]
