"""JSONL: a text in each line, in a field of its object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from digram import _core
from digram.errors import OptionError
from digram.sources.reading import Records

__all__ = ["json_lines", "line_of"]

_BOM = b"\xef\xbb\xbf"


def json_lines(
    blocks: Iterable[bytes], field: tuple[str, ...], records: Records, most: int | None = None
) -> Iterator[bytes]:
    """The texts of lines of JSON that come in blocks.

    A line is held as a whole; `OptionError` for one of more than `most` bytes. Empty lines are no
    records, and a byte order mark at the very beginning is none of them either.
    """
    number, offset = 0, 0  # of records, and bytes, before the lines that come next
    for block in _whole_lines(blocks, records, most):
        lines = block
        if offset == 0 and block.startswith(_BOM):
            lines, offset = block[len(_BOM) :], len(_BOM)
        found, texts, faults = _core.json_texts(lines, list(field))
        given = 0
        for before, record, start, reason, detail in faults:
            yield from texts[given:before]
            given = before
            records.fault(number + record + 1, offset + start, reason, detail)
        yield from texts[given:]
        number += found
        offset += len(lines)


def line_of(number: int, blocks: Iterable[bytes], records: Records) -> int | None:
    """At which byte a record stands, from 1 in the numbers that `json_lines` gives them."""
    at = found = 0
    for block in _whole_lines(blocks, records, None):
        for line in block.removesuffix(b"\n").split(b"\n"):
            # A byte order mark is no record, and a line that holds nothing else is none.
            start = len(_BOM) if at == 0 and line.startswith(_BOM) else 0
            found += bool(line[start:].strip())
            if found == number:
                return at + start
            at += len(line) + 1
    return None


def _whole_lines(blocks: Iterable[bytes], records: Records, most: int | None) -> Iterator[bytes]:
    """The same bytes, in blocks that end where a line does."""
    held: list[bytes] = []  # the beginning of a line
    size = 0
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*held, block[:end]])
            held, size = [], 0
        held.append(block[end:])
        size += len(block) - end
        if most is not None and size > most:
            raise OptionError(
                f"there is a record of more than {size:,} bytes: more than memory_limit= leaves "
                "room for.",
                path=records.path,
                value=size,
                hint="Raise the limit, or leave the file out.",
            )
    if size:
        yield b"".join(held)
