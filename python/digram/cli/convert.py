"""`digram convert`: convert a tokenizer to another file format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from digram.cli import (
    _exporting,
    _loading,
    _options,
    _printing,
    _saving,
    _verbs,
)
from digram.errors import several
from digram.formats import FORMATS, chosen
from digram.pretokenizers.shell import options_of

if TYPE_CHECKING:
    from digram.formats import TokenizerFormat
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["convert"]


def _formats() -> str:
    lines = (f"  {name:<14}{format.about}" for name, format in FORMATS.items())
    return "\n".join(["\b", "Formats:", *lines, "", ""])


@click.command(
    options_metavar="-t PATH -o PATH [OPTIONS]",
    epilog=_formats() + _verbs.example("digram convert -t o200k_base --download -o tokenizer.json"),
)
@_loading.with_tokenizer
@_saving.output_option
@_saving.format_option
@_saving.allow_loss_option
@_exporting.program_options
@_options.no_summary_option
@_options.json_option
def convert(
    *,
    tok: Tokenizer,
    output: str,
    program: str | None,
    format_: str | None,
    allow_loss: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Convert a tokenizer to another file format, or to a folder for a program.

    Data that the format cannot store is an error, unless --allow-loss leaves it out. The exception
    are formats that store no pattern: their pretokenizer must be named when the file is loaded, and
    a message says so.
    """
    _saving.check_stdout(output, as_json)
    options["allow_loss"] = allow_loss
    if not _exporting.exported(tok, output, program, format_, options):
        _saving.save(tok, output, format_, allow_loss)
    if output == "-" or (quiet and not as_json):
        return
    written = tok if program == "tiktoken" else _written(tok, output)
    if not quiet:
        size = several(len(written), "token")
        what = output if program is None else f"the folder {output}"
        _printing.log(f"Saved {what}: {size}, digest {written.digest[:16]}")
        if program == "transformers" and not written.special_roles.to_dict():
            _printing.log(_without_roles(written))
        form = None if program else chosen(tok.definition, output, format_)
        if form is not None and form.name == "digram" != format_:
            _printing.log(
                "Only digram reads this file; -o tokenizer.json writes Hugging Face's, or says why "
                "not."
            )
        if form is not None and not form.describes_itself:
            _printing.log(
                f"The file does not store the pretokenizer: load it with {_options_of(tok, form)}."
            )

    if as_json:
        _printing.emit_json(_saving.saved(written, output))


def _without_roles(tok: Tokenizer) -> str:
    """What is missing in a folder without roles, such as one of a .gguf file."""
    special = [*tok.special_tokens]
    if not special:
        return "The folder has no special tokens, so that no token ends a text."
    shown = ", ".join(special[:5]) + ", …" * (len(special) > 5)
    return (
        "No special token has a role there, such as ending a text; --bos, --eos and --unk give "
        f"them to tokens of this model: {shown}."
    )


def _options_of(tok: Tokenizer, form: TokenizerFormat) -> str:
    """The options with which a file that stores no pretokenizer is loaded."""
    if form.name == "vocab_txt":
        from digram.formats import vocab_txt

        encoding = vocab_txt.encoding_of(tok.pretokenizer)
        if encoding is not None:
            return f"--encoding {encoding}"
    return options_of(tok.pretokenizer)


def _written(tok: Tokenizer, output: str) -> Tokenizer:
    """The tokenizer of the file: merges in place of scores, or without what was left out."""
    import warnings

    import digram
    from digram.formats import describes_itself

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of its tokens were shown when `tok` was loaded
        if describes_itself(output):
            return digram.load(Path(output))
        return digram.load(Path(output), pretokenizer=tok.pretokenizer)
