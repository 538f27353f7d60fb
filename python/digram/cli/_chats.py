"""Chats on the command line: records of JSON that a template turns into text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from digram.cli import _options, _reading, _texts_by_file

if TYPE_CHECKING:
    from digram.tokenizer.chat.chat import Chat
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["chats_of", "checked", "in_lines", "options", "template_in", "template_of"]

options = _options.together(
    click.option(
        "--chats",
        is_flag=True,
        help='Each line of JSON is a chat, with "messages" and, if it has them, "tools" and '
        '"documents".',
    ),
    click.option(
        "--chat-template",
        metavar="TEMPLATE",
        help="The template of chats: its name in the tokenizer, a file, or text in Jinja.  "
        "[default: the tokenizer's]",
    ),
)
"""What says that documents are chats; `checked` takes the values."""


def template_in(value: str) -> str:
    """The template of an option that names a file, or is a template itself.

    >>> template_in("{{ messages[0].content }}")
    '{{ messages[0].content }}'
    """
    if "{{" in value or "{%" in value:
        return value
    from digram._util.storage import read_file
    from digram.errors import CorruptFileError

    try:
        return read_file(value).decode()
    except UnicodeDecodeError as error:
        raise CorruptFileError(
            f"byte {error.start} is not UTF-8.", path=value, hint="Save the template as UTF-8."
        ) from None


def template_of(tok: Tokenizer, value: str | None) -> str | None:
    """The template of the option: a name in the tokenizer stays, since it has the template."""
    known = tok.chat_templates
    if value is None or value in known:
        return value
    try:
        return template_in(value)
    except FileNotFoundError as error:
        error.add_note(
            f"The tokenizer has the templates {', '.join(map(repr, known))}."
            if known
            else "The tokenizer has no templates with names."
        )
        raise


def checked(
    chats: bool,
    template: str | None,
    special: Any,
    files: Sequence[str],
    read_options: _reading.ReadOptions,
) -> _reading.ReadOptions:
    """The options for reading chats; a usage error for options that do nothing."""
    if not chats:
        if template is not None:
            raise click.UsageError("--chat-template needs --chats.")
        return read_options
    if special != "text":
        raise click.UsageError(
            "--special does nothing, since chats are encoded by their template; leave it out."
        )
    usual = read_options.format is None and read_options.separator is None
    if usual and (not files or "-" in files):
        return read_options._replace(format="jsonl")  # stdin has no name that says so
    return read_options


def in_lines(sources: _texts_by_file.Named) -> _texts_by_file.Named:
    """The sources with each line of JSON as a text, not the text in its field."""
    from digram.shards.chats import source_in_lines

    return replace(sources, sources=tuple(map(source_in_lines, sources.sources)))


def chats_of(
    tok: Tokenizer,
    texts: Sequence[bytes],
    template: str | None,
    name: str,
    first: int,
    threads: int | None = None,
) -> list[Chat]:
    """The chats of some records of JSON; an error has the file and the number of the record."""
    from digram.errors import DigramError
    from digram.shards.chats import chats_of

    try:
        return chats_of(tok, texts, template, threads)
    except DigramError:
        for number, text in enumerate(texts, first):  # find the record that failed
            with _texts_by_file.where(name, number):
                chats_of(tok, [text], template, 1)
        raise
