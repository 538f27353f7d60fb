"""What `digram convert` sets beside the vocabulary, and folders that a program loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from digram.cli import _chats, _options, _saving

if TYPE_CHECKING:
    from digram.formats import TokenizerFormat
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["check_sides", "exported", "program_options", "settings_options", "with_settings"]

_ROLES = {
    "bos": "begins a text",
    "eos": "ends a text",
    "unk": "stands for unknown text",
    "sep": "separates texts",
    "cls": "stands for a whole text",
    "mask": "stands for a token to predict",
}
_SIDES = {"padding_side": "padded", "truncation_side": "truncated"}
_SETTERS = {
    "pad": "with_pad_token",
    "context_size": "with_context_size",
    "chat_template": "with_chat_template",
    **{side: f"with_{side}" for side in _SIDES},
}
"""The method that sets each option other than a role."""

settings_options = _options.together(
    *(
        click.option(f"--{role}", metavar="TOKEN", help=f"The special token that {what}.")
        for role, what in (_ROLES | {"pad": "fills up short texts"}).items()
    ),
    *(
        click.option(
            f"--{name.replace('_', '-')}",
            type=click.Choice(["left", "right"]),
            help=f"The side at which texts are {what}.",
        )
        for name, what in _SIDES.items()
    ),
    click.option(
        "--context-size",
        type=_options.NUMBER,
        metavar="N",
        help="The number of tokens that the model takes.",
    ),
    click.option(
        "--chat-template",
        metavar="TEMPLATE",
        help="The template of the model's chats: a file, or text in Jinja.",
    ),
)
"""What a program that runs the model needs to know; what is not given stays."""

program_options = _options.together(
    click.option(
        "--for",
        "program",
        type=click.Choice(["transformers", "tiktoken"]),
        help="Write a folder for a program: one that AutoTokenizer loads, or a package after whose "
        "installation tiktoken knows the encoding.",
    ),
    click.option("--name", metavar="NAME", help="For tiktoken: the name of the encoding."),
)
"""The program to write for."""


def with_settings(tok: Tokenizer, program: str | None, options: dict[str, Any]) -> Tokenizer:
    """The tokenizer with what is given; removes the options of `settings_options`."""
    given = {name: options.pop(name) for name in (*_ROLES, *_SETTERS)}
    given = {name: value for name, value in given.items() if value is not None}
    if program == "tiktoken" and given:
        raise click.UsageError(_no_place(next(iter(given)), "a package for tiktoken"))
    roles = {role: given.pop(role) for role in _ROLES if role in given}
    if roles:
        tok = tok.with_special_roles(**roles)
    if "chat_template" in given:
        given["chat_template"] = _chats.template_in(given["chat_template"])
    for name, value in given.items():
        tok = getattr(tok, _SETTERS[name])(value)
    return tok


def check_sides(tok: Tokenizer, form: TokenizerFormat, options: dict[str, Any]) -> None:
    """Raise a usage error for a side that is given and that the file would leave out."""
    from digram.vocab.scores import UnigramModel

    unigram = form.name == "huggingface" and isinstance(tok.definition.model, UnigramModel)
    for side in _SIDES:
        if options[side] is not None and (unigram or form.name not in ("digram", "huggingface")):
            raise click.UsageError(
                f"{_no_place(side, f'this file, of the format {form.name},')} "
                "A folder has one: --for transformers."
            )


def _no_place(name: str, what: str) -> str:
    return f"--{name.replace('_', '-')}: {what} has no place for it."


def exported(
    tok: Tokenizer,
    output: str,
    program: str | None,
    name: str | None,
    format_: str | None,
    *,
    allow_loss: bool,
) -> bool:
    """Write the folder for a program, if one is named.

    Raises a usage error for options that apply to another program, or to none.
    """
    if name is not None and program != "tiktoken":
        raise click.UsageError("--name applies only to --for tiktoken.")
    if program is None:
        return False
    if format_ is not None:
        raise click.UsageError("--for and --format exclude each other; give one of them.")
    _saving.refuse_stdout("-o", output, "a folder is written")
    if program == "transformers":
        tok.save_pretrained(output, allow_loss=allow_loss)
    elif allow_loss:
        raise click.UsageError("--allow-loss applies only to files and --for transformers.")
    elif name is not None:
        tok.save_tiktoken_plugin(output, name)
    else:
        raise click.UsageError("--for tiktoken needs --name, the name of the encoding.")
    return True
