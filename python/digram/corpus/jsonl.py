"""Read records that contain texts: lines of JSON, a file of JSON, and rows of CSV."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from digram import _core
from digram.corpus.byte_order_marks import without_mark
from digram.corpus.file_types import files_with
from digram.corpus.reader import Records
from digram.errors import CorruptFileError, OptionError

__all__ = ["Item", "csv_rows", "flat", "json_lines", "json_values", "line_of", "place_of"]

Item: TypeAlias = bytes | list[bytes]
"""The text of a record, or the texts in its list if the field is a list."""

_Reader: TypeAlias = _core.JsonTexts | _core.CsvTexts
_Found: TypeAlias = tuple[
    list[Item], list[tuple[int, int, int, str, str | None]], tuple[int, int, str] | None
]


def flat(items: Iterable[Item]) -> Iterator[bytes]:
    """The texts of records, with lists flattened."""
    for item in items:
        if isinstance(item, bytes):
            yield item
        else:
            yield from item


def json_lines(
    blocks: Iterable[bytes], field: tuple[str, ...], records: Records, max_bytes: int | None = None
) -> Iterator[Item]:
    """Read the texts of a file in which each line is a record, from blocks of its bytes.

    Each line is held in memory as a whole; a line of more than `max_bytes` bytes raises
    `OptionError`. Empty lines and a byte order mark at the beginning of the file are not records.
    """
    number, offset = 0, 0  # records and bytes before the current lines
    mark, blocks = without_mark(blocks)
    offset += mark
    for lines in _whole_lines(blocks, records, max_bytes):
        found, texts, faults = _core.json_texts(lines, list(field))
        yield from _given(texts, faults, records, number, offset)
        number += found
        offset += len(lines)


def json_values(
    blocks: Iterable[bytes], field: tuple[str, ...], records: Records, max_bytes: int | None = None
) -> Iterator[Item]:
    """Read the texts of a file of JSON: a list of records, one record, or several in sequence.

    Each record is held in memory as a whole; a record of more than `max_bytes` bytes raises
    `OptionError`.
    """
    as_lines, as_text = (files_with(f'format="{kind}"') for kind in ("jsonl", "text"))
    hint = (
        f"The rest of the file cannot be parsed. Correct the file; or pass {as_lines} if each line "
        f"is a record, or {as_text} for one text."
    )
    yield from _texts(_core.JsonTexts(list(field)), blocks, records, max_bytes, hint)


def csv_rows(
    blocks: Iterable[bytes],
    delimiter: bytes,
    field: tuple[str, ...],
    records: Records,
    max_bytes: int | None = None,
) -> Iterator[Item]:
    """Read the texts in a column of a CSV file, whose first row names the columns.

    Raises `OptionError` if there is no column of this name, or if a record has more than
    `max_bytes` bytes.
    """
    reader = _core.CsvTexts(".".join(field), ord(delimiter))
    as_text = files_with('format="text"')
    hint = (
        'Correct the file: a quoted field ends with a quote, and a quote in it is written "". Or '
        f"pass {as_text} to read it as one text."
    )
    try:
        yield from _texts(reader, blocks, records, max_bytes, hint)
    except OptionError as error:
        if error.path is None:
            error.path = None if records.path is None else os.fspath(records.path)
            error.hint = f"{error.hint} Pass the name of the text column as field=."
        raise


def line_of(number: int, blocks: Iterable[bytes], records: Records) -> int | None:
    """The offset of the record with this number; `json_lines` counts records from 1."""
    mark, blocks = without_mark(blocks)
    at, found = mark, 0
    for block in _whole_lines(blocks, records, None):
        for line in block.removesuffix(b"\n").split(b"\n"):
            found += bool(line.strip())
            if found == number:
                return at
            at += len(line) + 1
    return None


def place_of(number: int, blocks: Iterable[bytes], delimiter: bytes | None) -> int | None:
    """The offset of the record with this number in `json_values`, or in `csv_rows`.

    `delimiter` is that of `csv_rows`; None is for `json_values`. No field is needed, because
    the texts of the records are not used.
    """
    mark, blocks = without_mark(blocks)
    reader: _Reader = _core.JsonTexts([""], number)
    if delimiter is not None:
        reader = _core.CsvTexts(None, ord(delimiter), number)
    for block in blocks:
        if reader.push(block)[2] is not None or reader.place is not None:
            break
    else:
        reader.finish()
    return None if reader.place is None else mark + reader.place


def _texts(
    reader: _Reader, blocks: Iterable[bytes], records: Records, max_bytes: int | None, hint: str
) -> Iterator[Item]:
    mark, blocks = without_mark(blocks)
    for block in blocks:
        yield from _items(reader.push(block), records, mark, hint)
        _check_size(reader.held, records, max_bytes)
    yield from _items(reader.finish(), records, mark, hint)


def _items(found: _Found, records: Records, mark: int, hint: str) -> Iterator[Item]:
    """Yield the texts that were read; raise `CorruptFileError` if the rest cannot be read."""
    texts, faults, fatal = found
    yield from _given(texts, faults, records, 0, mark)
    if fatal is not None:
        record, offset, reason = fatal
        raise CorruptFileError(
            reason,
            path=records.path,
            record=record + 1,
            offset=mark + offset,
            hint=hint,
        )


def _given(
    texts: list[Item],
    faults: list[tuple[int, int, int, str, str | None]],
    records: Records,
    number: int,
    offset: int,
) -> Iterator[Item]:
    """Yield the texts in order, and report each faulty record when its turn comes."""
    given = 0
    for before, record, start, reason, detail in faults:
        yield from texts[given:before]
        given = before
        records.fault(number + record + 1, offset + start, reason, detail)
    yield from texts[given:]


def _whole_lines(
    blocks: Iterable[bytes], records: Records, max_bytes: int | None
) -> Iterator[bytes]:
    """The same bytes, in blocks that end at the end of a line."""
    held: list[bytes] = []  # the beginning of a line
    size = 0
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*held, block[:end]])
            held, size = [], 0
        held.append(block[end:])
        size += len(block) - end
        _check_size(size, records, max_bytes)
    if size:
        yield b"".join(held)


def _check_size(size: int, records: Records, max_bytes: int | None) -> None:
    if max_bytes is not None and size > max_bytes:
        raise OptionError(
            f"there is a record of more than {size:,} bytes, which exceeds memory_limit=.",
            path=records.path,
            value=size,
            hint="Raise the limit, or leave the file out.",
        )
