"""`-o PATH`: the options for saving a tokenizer, and saving it to a path or to stdout."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

import click

from digram.cli import _printing
from digram.cli._choices import OneOf, OptionWithNames, tokenizer_formats

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = [
    "STDOUT",
    "allow_loss_option",
    "check_parent",
    "check_stdout",
    "format_option",
    "output_option",
    "refuse_stdout",
    "save",
    "saved",
    "saved_line",
]
STDOUT = "stdout.json"
"""The name that decides the format of what is written to stdout."""

output_option = click.option(
    "-o",
    "--output",
    metavar="PATH",
    required=True,
    help="Where to save the tokenizer; - is stdout. An existing file is replaced atomically.",
)


class _Format(OneOf):
    """A format of files; the error for that of a program names the option for it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "transformers":
            self.fail(
                "a folder for transformers is written by `digram convert --for transformers`.",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)


format_option = click.option(
    "--format",
    "format_",
    type=_Format(tokenizer_formats),
    metavar="NAME",
    cls=OptionWithNames,
    names=tokenizer_formats,
    help="Format of the output: {names}.  [default: by its name]",
)

allow_loss_option = click.option(
    "--allow-loss", is_flag=True, help="Leave out data that the format cannot store."
)


def refuse_stdout(option: str, path: str | None, why: str = "several files are written") -> None:
    """Raise a usage error for `-` where stdout cannot take the output."""
    if path == "-":
        raise click.UsageError(f"{option} - means stdout, but {why}; ./- is a path named -.")


def saved_line(tok: Tokenizer, output: str, format_: str | None) -> str:
    """What was saved, and whether other programs can read it."""
    from digram.formats import chosen

    is_own = chosen(tok.definition, output, format_).name == "digram"
    return f"Saved {output}, which only digram reads" if is_own else f"Saved {output}"


def check_parent(path: str) -> None:
    """Raise `FileNotFoundError`, before any work, if the folder of a file does not exist."""
    from pathlib import Path

    for folder in (Path(path).parent, Path(path).resolve().parent):  # of what a link names
        if not folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(folder))


def check_stdout(output: str | None, as_json: bool) -> None:
    """Raise a usage error if two outputs would go to stdout."""
    if output == "-" and as_json:
        raise click.UsageError("-o - and --json both write to stdout; give one of them.")


def save(tok: Tokenizer, output: str, format_: str | None, allow_loss: bool) -> None:
    """Save to a path, or to stdout if `output` is `-`."""
    from pathlib import Path

    if output != "-":
        tok.save(Path(output), format=format_, allow_loss=allow_loss)
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / STDOUT
        tok.save(saved, format=format_, allow_loss=allow_loss)
        if saved.is_dir():
            raise click.UsageError(
                "this format is a folder of files; it cannot be written to stdout."
            )
        _printing.emit_whole(saved.read_bytes(), "the tokenizer")


def saved(tok: Tokenizer, output: str | None) -> dict[str, Any]:
    """Facts about a tokenizer for JSON; `output` is the path where it was saved, if it was."""
    return {
        "path": output,
        "vocab_size": tok.vocab_size,
        "tokens": len(tok),
        "merges": len(tok.merges),
        "digest": tok.digest,
    }
