"""`digram count`: count tokens, as `wc` counts words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from digram.cli import (
    _chats,
    _files_argument,
    _loading,
    _options,
    _printing,
    _reading,
    _texts_by_file,
    _verbs,
)
from digram.cli._failures import Failure, of_verb

if TYPE_CHECKING:
    from digram.errors import DigramError
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["count"]


class _Row(NamedTuple):
    tokens: int
    bytes: int
    characters: int
    path: str


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH [OPTIONS]",
    epilog=_verbs.example(
        "digram count -t tokenizer.json docs/*.md", "digram count -t gpt-4o notes.txt"
    ),
)
@_files_argument.optional
@_loading.with_tokenizer
@_chats.options
@_reading.source_options
@_options.special_option
@_options.json_option
def count(
    *,
    tok: Tokenizer,
    files: tuple[str, ...],
    read_options: _reading.ReadOptions,
    chats: bool,
    chat_template: str | None,
    special: Any,
    as_json: bool,
) -> None:
    """Count the tokens, bytes and characters of files, and the total.

    {files_or_stdin} The
    columns are tokens, bytes, characters and the name, in this order; on a terminal they have
    titles. A character is a code point of UTF-8, of one to four bytes: é has two bytes, 日 three.

    In JSON lines and tables the texts of the records are counted, and in files split by a separator
    the documents: each is encoded by itself, and the file's row is the sum. For a file that cannot
    be read, stderr says why, the other files are counted, and the exit code is that of the first
    error.

    With --chats each record is a chat, and its text is what the template makes of it: so the tokens
    are those that a model reads.
    """
    from digram.errors import DigramError, OptionError

    rows: list[_Row] = []
    failed: list[Failure] = []

    def fail(error: DigramError | OSError) -> None:
        failed.append(of_verb(error))
        failed[-1].show()

    read_options = _chats.checked(chats, chat_template, special, files, read_options)
    chat_template = _chats.template_of(tok, chat_template)
    sources = _texts_by_file.named(files, read_options, "Counting", fail)
    several = sources.hold_several
    if chats:
        sources = _chats.in_lines(sources)
    for holder in sources:
        try:
            if chats:
                rows.append(_row_of_chats(tok, holder, chat_template))
            else:
                rows.append(_row(tok, holder, several, special))
        except (DigramError, OSError) as error:
            if isinstance(error, OptionError) and error.path is None:
                raise  # caused by an option, and so the same for all files
            fail(error)
    total = _Row(
        sum(r.tokens for r in rows),
        sum(r.bytes for r in rows),
        sum(r.characters for r in rows),
        "total",
    )
    if as_json:
        numbers = {name: value for name, value in total._asdict().items() if name != "path"}
        errors = [one.message for one in failed]
        files_ = [row._asdict() for row in rows]
        _printing.emit_json({"files": files_, "total": numbers, "errors": errors})
    elif rows:
        titles = ["tokens", "bytes", "characters", "file"]
        one = len(rows) == 1 and not failed
        _printing.emit_table(titles, rows if one else [*rows, total])
    if failed:
        click.get_current_context().exit(failed[0].exit_code)


def _row(tok: Tokenizer, holder: _texts_by_file.Holder, several: bool, special: Any) -> _Row:
    import numpy as np

    from digram.corpus import batches

    tokens = size = continuing = documents = 0
    for batch in cast("Iterator[list[bytes]]", batches(holder.texts)):
        tokens += _tokens(tok, batch, holder.name, documents if several else None, special)
        documents += len(batch)
        for text in batch:
            size += len(text)
            continuing += int(np.count_nonzero((np.frombuffer(text, np.uint8) & 0xC0) == 0x80))
    return _Row(tokens, size, size - continuing, holder.name)


def _row_of_chats(tok: Tokenizer, holder: _texts_by_file.Holder, template: str | None) -> _Row:
    from digram.corpus import batches

    tokens = size = characters = documents = 0
    for batch in cast("Iterator[list[bytes]]", batches(holder.texts)):
        for chat in _chats.chats_of(tok, batch, template, holder.name, documents):
            tokens += len(chat)
            size += len(chat.text.encode())
            characters += len(chat.text)
        documents += len(batch)
    return _Row(tokens, size, characters, holder.name)


def _tokens(
    tok: Tokenizer, batch: Sequence[bytes], name: str, first: int | None, special: Any
) -> int:
    """The tokens of documents; `first` is the number of the first, None if the file is one."""
    from digram.errors import DigramError

    try:
        return sum(tok.count_batch(batch, special=special))
    except DigramError:
        for number, text in enumerate(batch, first or 0):  # find the document that failed
            with _texts_by_file.where(name, None if first is None else number):
                tok.count(text, special=special)
        raise
