"""Byte order marks: convert files in UTF-16 and UTF-32, and skip the mark of UTF-8."""

from __future__ import annotations

import codecs
import itertools
import os
from collections.abc import Iterable, Iterator

from digram.errors import CorruptFileError

__all__ = ["as_utf8", "may_have_mark", "without_mark"]

# The marks of UTF-32 come first: one of them begins with a mark of UTF-16.
_ENCODINGS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_LONGEST = 4  # bytes


def as_utf8(blocks: Iterable[bytes], path: str | os.PathLike[str]) -> Iterator[bytes]:
    r"""Convert text that begins with a mark of UTF-16 or UTF-32 to UTF-8 without a mark.

    >>> list(as_utf8(["naïve".encode("utf-16")], "a.txt"))
    [b'na\xc3\xafve']
    >>> list(as_utf8([b"\xff\xfe"], "a.txt")), list(as_utf8([b"\xff and more"], "a.txt"))
    ([], [b'\xff and more'])

    Other text is returned unchanged, including a mark of UTF-8. Raises `CorruptFileError`, with the
    byte, if the content does not have the encoding of the mark.
    """
    start, blocks = _start(blocks)
    mark = next((mark for mark in _ENCODINGS if start.startswith(mark)), None)
    if mark is None:
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(_ENCODINGS[mark])()
    block_start = len(mark)  # the offset of the block in the file
    for block in itertools.chain(_without(mark, blocks), [b""]):
        pending = decoder.getstate()[0]
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            offset = block_start - len(pending) + error.start
            name = _ENCODINGS[mark].rpartition("-")[0].upper()
            raise CorruptFileError(
                f"the file begins with the mark of {name}, but is not {name} at byte {offset:,}: "
                f"{error.reason}.",
                path=path,
                offset=offset,
                hint="Write it in UTF-8. If it is not text, leave it out.",
            ) from None
        block_start += len(block)
        if text:
            yield text.encode()


def may_have_mark(start: bytes) -> bool:
    """Whether `as_utf8` may change a text with this beginning."""
    return any(start.startswith(mark) or mark.startswith(start) for mark in _ENCODINGS)


def without_mark(blocks: Iterable[bytes]) -> tuple[int, Iterator[bytes]]:
    """The length of a UTF-8 mark at the start of a stream of blocks, and the rest of the stream."""
    start, blocks = _start(blocks)
    if not start.startswith(codecs.BOM_UTF8):
        return 0, blocks
    return len(codecs.BOM_UTF8), _without(codecs.BOM_UTF8, blocks)


def _start(blocks: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, enough to detect a mark, and all blocks."""
    blocks = iter(blocks)
    pending, start = [], b""
    while len(start) < _LONGEST and (block := next(blocks, None)) is not None:
        pending.append(block)
        start += block[:_LONGEST]
    return start, itertools.chain(pending, blocks)


def _without(mark: bytes, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The blocks without the mark at their start."""
    left = len(mark)
    for block in blocks:
        rest = block[left:]
        left -= len(block) - len(rest)
        if rest:
            yield rest
