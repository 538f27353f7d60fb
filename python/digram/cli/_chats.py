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

__all__ = ["chats_of", "checked", "in_lines", "options"]

options = _options.together(
    click.option(
        "--chats",
        is_flag=True,
        help='Each line of JSON is a chat, with "messages" and, if it has them, "tools" and '
        '"documents".',
    ),
    click.option(
        "--chat-template",
        metavar="NAME",
        help="The template of chats: its name in the tokenizer, or a template in Jinja.  "
        "[default: the tokenizer's]",
    ),
)
"""What says that documents are chats; `checked` takes the values."""


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
