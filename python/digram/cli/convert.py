"""`digram convert`: convert a tokenizer to another file format."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
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
    cls=_verbs.Verb,
    options_metavar="-t PATH -o PATH [OPTIONS]",
    epilog=_formats() + _verbs.example("digram convert -t o200k_base --download -o tokenizer.json"),
)
@_loading.with_tokenizer
@_saving.output_option
@_saving.format_option
@_saving.allow_loss_option
@_exporting.program_options
@_exporting.settings_options
@_options.no_summary_option
@_options.json_option
def convert(
    *,
    tok: Tokenizer,
    output: str,
    program: str | None,
    name: str | None,
    format_: str | None,
    allow_loss: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Convert a tokenizer to another file format, or to a folder for a program.

    Data that the format cannot store is an error, unless --allow-loss leaves it out. The exception
    are formats that store no pattern: their pretokenizer must be named when the file is loaded, and
    a message says so. What a program that runs the model needs to know, such as --eos, is that of
    the tokenizer where it is not given.
    """
    _saving.check_stdout(output, as_json)
    form = None
    if program is None:
        target = _saving.STDOUT if output == "-" else output
        form = chosen(tok.definition, target, format_)
        _exporting.check_sides(tok, form, options)
    tok = _exporting.with_settings(tok, program, options)
    if not _exporting.exported(tok, output, program, name, format_, allow_loss=allow_loss):
        _saving.save(tok, output, format_, allow_loss)
    if output == "-" or (quiet and not as_json):
        return
    written = tok if program == "tiktoken" else _written(tok, output)
    if not quiet:
        size = several(len(written), "token")
        what = output if program is None else f"the folder {output}"
        _printing.log(f"Saved {what}: {size}, digest {written.digest[:16]}")
        if form is None:
            notes = _of_folder(written, output, name)
        else:
            notes = _of_file(written, form, form.name == format_)
        for note in notes:
            _printing.log(note)

    if as_json:
        _printing.emit_json(_saving.saved(written, output))


def _of_folder(tok: Tokenizer, output: str, name: str | None) -> Iterator[str]:
    """What there is to say of a folder for a program."""
    if name is not None:
        install = f"pip install {shlex.quote(os.path.join(os.curdir, output))}"
        yield f"`{install}` installs it; tiktoken.get_encoding({name!r}) then finds it."
    elif not tok.special_roles.to_dict():
        yield _without_roles(tok)


def _of_file(tok: Tokenizer, form: TokenizerFormat, asked: bool) -> Iterator[str]:
    """What there is to say of a file; `asked` says that its format was named."""
    if form.name == "digram" and not asked:
        yield (
            "Only digram reads this file; -o tokenizer.json writes Hugging Face's, or says why not."
        )
    if not form.describes_itself:
        yield f"The file does not store the pretokenizer: load it with {_options_of(tok, form)}."
    if form.name == "tiktoken":
        yield (
            "tiktoken finds an encoding by its name in an installed package: --for tiktoken --name "
            "NAME writes one."
        )


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
