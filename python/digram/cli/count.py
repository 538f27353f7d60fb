"""`digram count`: `wc` for tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from digram.cli import common, texts
from digram.cli.faults import Failure, of_verb

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
    options_metavar="-t PATH [OPTIONS]",
    epilog=common.example("digram count -t tokenizer.json docs/*.md"),
)
@click.argument("files", nargs=-1, metavar="[FILES]...")
@common.with_tokenizer
@common.source_options
@common.special_option
@common.json_option
def count(
    *, tok: Tokenizer, files: tuple[str, ...], told: common.Told, special: Any, as_json: bool
) -> None:
    """Count the tokens, bytes and characters of files, and the total.

    FILES are files, folders and quoted patterns; stdin without any, or for -. The columns are
    tokens, bytes, characters and the name, in this order, and a terminal shows these titles. Bytes
    are those of the file: in UTF-8, é is one character of two bytes, 日 one of three. A character
    is a code point, and bytes that continue one are not counted.

    Of JSON lines and tables the texts of the records are counted, and of text cut by a separator
    the documents: each is a text of its own, and a file has the sum of them. Of a file that cannot
    be read, stderr says why, the others are counted, and the exit code is that of the first fault.
    """
    from digram.errors import DigramError, OptionError

    rows: list[_Row] = []
    failed: list[Failure] = []

    def fail(error: DigramError | OSError) -> None:
        failed.append(of_verb(error))
        failed[-1].show()

    found = texts.named(files, told, "Counting", fail)
    several = found.hold_several
    for holder in found:
        try:
            rows.append(_row(tok, holder, several, special))
        except (DigramError, OSError) as error:
            if isinstance(error, OptionError) and error.path is None:
                raise  # about what was typed, and so about all files
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
        common.emit_json({"files": files_, "total": numbers, "errors": errors})
    elif rows:
        titles = ["tokens", "bytes", "characters", "file"]
        one = len(rows) == 1 and not failed
        common.emit_table(titles, rows if one else [*rows, total])
    if failed:
        click.get_current_context().exit(failed[0].exit_code)


def _row(tok: Tokenizer, holder: texts.Holder, several: bool, special: Any) -> _Row:
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


def _tokens(
    tok: Tokenizer, batch: Sequence[bytes], name: str, first: int | None, special: Any
) -> int:
    """The tokens of documents of a file, from number `first` on, or of a file that is one."""
    from digram.errors import DigramError

    try:
        return sum(tok.count_batch(batch, special=special))
    except DigramError:
        for number, text in enumerate(batch, first or 0):  # which one it was
            with texts.where(name, None if first is None else number):
                tok.count(text, special=special)
        raise
