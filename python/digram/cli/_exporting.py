"""`--for PROGRAM`: folders that a program loads, in place of a tokenizer's file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from digram.cli import _options, _saving

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["exported", "program_options"]

_ROLES = {
    "bos": "begins a text",
    "eos": "ends a text",
    "pad": "fills up short texts",
    "unk": "stands for unknown text",
}
_OF = {
    **dict.fromkeys([*_ROLES, "context_size", "chat_template", "allow_loss"], "transformers"),
    "name": "tiktoken",
}
"""The program that each option applies to."""

program_options = _options.together(
    click.option(
        "--for",
        "program",
        type=click.Choice(["transformers", "tiktoken"]),
        help="Write a folder for a program: one that AutoTokenizer loads, or a package after whose "
        "installation tiktoken knows the encoding.",
    ),
    *(
        click.option(
            f"--{role}", metavar="TOKEN", help=f"For transformers: the special token that {what}."
        )
        for role, what in _ROLES.items()
    ),
    click.option(
        "--context-size",
        type=_options.NUMBER,
        metavar="N",
        help="For transformers: the number of tokens that the model takes.",
    ),
    click.option(
        "--chat-template",
        metavar="FILE",
        help="For transformers: a file with the template of the model's chats, in Jinja.",
    ),
    click.option("--name", metavar="NAME", help="For tiktoken: the name of the encoding."),
)
"""The program to write for, and what it needs to know."""


def exported(
    tok: Tokenizer, output: str, program: str | None, format_: str | None, options: dict[str, Any]
) -> bool:
    """Write the folder for a program, if one is named; removes the options of `program_options`.

    Raises a usage error for options that apply to another program, or to none. `allow_loss` stays
    among the options.
    """
    given = {name: options[name] for name in _OF if options[name] not in (None, False)}
    for name in [name for name in options if name in _OF and name != "allow_loss"]:
        del options[name]
    for name in given:
        if program != _OF[name] and not (program is None and name == "allow_loss"):
            option = "--" + name.replace("_", "-")
            raise click.UsageError(f"{option} applies only to --for {_OF[name]}.")
    if program is None:
        return False
    if format_ is not None:
        raise click.UsageError("--for and --format exclude each other; give one of them.")
    _saving.refuse_stdout("-o", output, "a folder is written")
    if program == "transformers":
        if "chat_template" in given:
            given["chat_template"] = _text_of(given["chat_template"])
        tok.save_pretrained(output, **given)
    elif "name" in given:
        tok.save_tiktoken_plugin(output, given["name"])
    else:
        raise click.UsageError("--for tiktoken needs --name, the name of the encoding.")
    return True


def _text_of(path: str) -> str:
    """The text of a file in UTF-8."""
    from digram._util.storage import read_file
    from digram.errors import CorruptFileError

    try:
        return read_file(path).decode()
    except UnicodeDecodeError as error:
        raise CorruptFileError(
            f"byte {error.start} is not UTF-8.", path=path, hint="Save the template as UTF-8."
        ) from None
