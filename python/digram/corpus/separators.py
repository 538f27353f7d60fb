"""Separators: split texts and streams into documents."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from digram._core import cut
from digram.corpus.text import Unread, kind_name
from digram.errors import OptionError, show

__all__ = [
    "BLOCK",
    "check_own_separator",
    "cut_blocks",
    "cut_texts",
    "separator_bytes",
    "start_of",
]

BLOCK = 1 << 16  # bytes; 200 MB in lines took 0.6 s with 64 KiB, 1.2 s with 1 MiB
LONG = 1 << 20  # bytes; a longer document may be read in parts


def cut_texts(texts: Iterable[bytes], separator: bytes | None) -> Iterator[bytes]:
    """Split texts at each separator; empty documents are dropped.

    >>> list(cut_texts([b"one--two", b"----three"], b"--"))
    [b'one', b'two', b'three']
    """
    if separator is None:
        yield from texts
        return
    for text in texts:
        yield from filter(None, text.split(separator))


def start_of(number: int, blocks: Iterable[bytes], separator: bytes) -> int | None:
    """The offset in a stream at which a document starts, by its number from 1 in `cut_blocks`.

    >>> start_of(2, [b"one----two"], b"--")
    7
    """
    begun, at, found = -1, 0, 0  # offsets of the document and of `held`; the documents passed
    held = b""
    for block in itertools.chain(blocks, [separator]):  # the end of the stream ends a document
        held += block
        while (end := held.find(separator)) >= 0:
            if end or begun >= 0:
                found += 1
                if found == number:
                    return begun if begun >= 0 else at
            begun = -1
            at += end + len(separator)
            held = held[end + len(separator) :]
        kept = len(separator) - 1  # bytes that may begin a separator
        if len(held) > kept:
            begun = begun if begun >= 0 else at
            at += len(held) - kept
            held = held[len(held) - kept :]
    return None


def cut_blocks(
    blocks: Iterable[bytes], separator: bytes, name: str = "", long: int = LONG
) -> Iterator[bytes | Unread]:
    """The documents of a stream that comes in blocks.

    >>> list(cut_blocks([b"one-", b"-two----three"], b"--"))
    [b'one', b'two', b'three']

    Memory is bounded by `long`, or by the longest document, and a block. Takes linear time. A
    document that does not end within `long` bytes is yielded unread, with the name of the stream.
    Read it before you take the next one.
    """
    blocks = iter(blocks)
    pending = bytearray()  # already searched, so that a document of many blocks takes linear time
    for block in blocks:
        rest = block
        while rest:
            found = cut(pending, rest, separator)
            if found is None:
                pending += rest
            else:
                documents, end = found
                yield from documents
                pending = bytearray(memoryview(rest)[end:])
            rest = b""
            # A remainder as long as the separator may be its beginning, and not a document.
            if len(pending) > max(long, len(separator)):
                document = _Long(pending, blocks, separator)
                yield Unread(document, name)
                rest, pending = document.after(), bytearray()
    if pending:
        yield bytes(pending)


class _Long(Iterator[bytes]):
    """A document of many blocks, up to its separator."""

    def __init__(self, start: bytes | bytearray, blocks: Iterator[bytes], separator: bytes) -> None:
        self._held = bytes(start)  # already searched: it contains no separator
        self._blocks = blocks
        self._separator = separator
        self._after: bytes | None = None

    def __next__(self) -> bytes:
        if self._after is not None:
            raise StopIteration
        # A separator may begin in the bytes that are kept.
        keep = len(self._separator) - 1
        given, held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        while not given and self._after is None:
            block = next(self._blocks, b"")
            found, parted, after = (held + block).partition(self._separator)
            if parted or not block:
                given, held, self._after = found, b"", after
            else:
                given, held = found[: len(found) - keep], found[len(found) - keep :]
        self._held = held
        if not given:
            raise StopIteration
        return given

    def after(self) -> bytes:
        """The bytes that were read after the separator, once the document was read or skipped."""
        for _ in self:
            pass
        return self._after or b""


def separator_bytes(separator: str | bytes | None) -> bytes | None:
    """A separator as bytes; raises for an empty one."""
    if separator is None:
        return None
    if not isinstance(separator, str | bytes):
        raise TypeError(f"separator must be str, bytes or None, and is {kind_name(separator)}.")
    if not separator:
        raise OptionError(
            "the separator is empty.",
            value=separator,
            hint="Leave out separator= for whole texts.",
        )
    if isinstance(separator, bytes):
        return separator
    try:
        return separator.encode()
    except UnicodeEncodeError as error:
        raise OptionError(
            f"separator={show(separator)} contains a lone surrogate.",
            value=separator,
            index=error.start,
            hint="Pass it as bytes.",
        ) from None


def check_own_separator(separator: object) -> None:
    r"""Check the separator of a corpus that is made directly: bytes, as `separator_bytes` gives.

    >>> check_own_separator("\n")
    Traceback (most recent call last):
        ...
    TypeError: separator is of type str, expected bytes or None.
    """
    if separator is not None and not isinstance(separator, bytes):
        raise TypeError(f"separator is {kind_name(separator)}, expected bytes or None.")
    separator_bytes(separator)
