"""Shared by the verbs that change a tokenizer with the help of some text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from digram.cli import _files_argument, _inputs, _loading, _options, _printing, _reading, _saving

if TYPE_CHECKING:
    from collections.abc import Callable

    from digram.adapt import Change
    from digram.corpus import CorpusLike
    from digram.tokenizer.tokenizer import Tokenizer
    from digram.training.counts import Counts

__all__ = ["ChangeRequest", "change_option", "check_change", "facts", "options"]


class ChangeRequest(NamedTuple):
    """The tokenizer to change, the text to use, and where to write the result."""

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
        """Save the new tokenizer and the change, and report them."""
        _saving.save(after, self.output, self.format, self.allow_loss)
        if self.change_path is not None:
            change.save(self.change_path)
        if not self.quiet:
            _printing.log(f"{change}." if seconds is None else f"{change}, in {seconds:.1f} s.")
            if self.output != "-":
                _printing.log(_saving.saved_line(after, self.output, self.format))
        if self.as_json:
            _printing.emit_json(facts(after, change, self.output))


def facts(after: Tokenizer, change: Change, output: str | None) -> dict[str, Any]:
    """Facts about a changed tokenizer, for JSON."""
    added, removed = len(change.added), len(change.removed)
    return {**_saving.saved(after, output), "added": added, "removed": removed}


def check_change(path: str, output: str, read: tuple[Path, ...]) -> None:
    """Check, before any work, that the change can be written and replaces no other file."""
    if path == "-":
        raise click.UsageError("--change writes a file; name one that ends in .npz.")
    _saving.check_parent(path)
    target = Path(path).resolve()
    if target in {Path(output).resolve(), *(one.resolve() for one in read)}:
        raise click.UsageError(
            f"--change {path} would overwrite another file of this command; choose another name."
        )


change_option = click.option(
    "--change",
    "change_path",
    metavar="PATH",
    help="Write the change of the ids to this .npz: id_map, and the rows of embeddings.",
)

_OPTIONS = _options.together(
    _files_argument.required,
    _loading.tokenizer_option,
    _saving.output_option,
    change_option,
    _saving.format_option,
    _loading.described_options,
    _reading.source_options,
    _options.threads_option,
    _saving.allow_loss_option,
    _options.quiet_option,
    _options.json_option,
)


def options(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb the common arguments and options, as one value `request`."""

    def wrapper(
        *,
        tokenizer: str,
        files: tuple[str, ...],
        read_options: _reading.ReadOptions,
        output: str,
        change_path: str | None,
        format_: str | None,
        threads: int | None,
        allow_loss: bool,
        quiet: bool,
        as_json: bool,
        **rest: Any,
    ) -> Any:
        _saving.check_stdout(output, as_json)
        tok = _loading.load(tokenizer, rest)
        counts = _inputs.counts_in(files, read_options)
        text: Any = counts
        paths = tuple(map(Path, files))
        if counts is None:
            text, paths = _inputs.texts_in(files, read_options)
        _inputs.check_not_in_source(output, paths)
        if change_path is not None:
            check_change(change_path, output, (Path(tokenizer), *paths))
        where = output, change_path, format_, allow_loss, quiet, as_json
        return verb(request=ChangeRequest(tok, text, threads, *where), **rest)

    wrapper.__doc__ = verb.__doc__
    wrapper.__name__ = verb.__name__
    return _OPTIONS(wrapper)
