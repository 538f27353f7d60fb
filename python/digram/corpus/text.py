"""Texts: whole, in parts, or unread."""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from digram.corpus.file_types import files_with
from digram.errors import OptionError

__all__ = ["AsFile", "Further", "LastBorder", "Text", "Unread", "in_parts", "kind_name"]

Text: TypeAlias = str | bytes

LastBorder: TypeAlias = Callable[[bytes, int], int]
"""The last offset, at or after a given one, where a text may be split; 0 if none is known."""


class Further(bytes):
    """A part of a text that continues the previous part."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Unread:
    """An unread text, with its name; an iterator may yield it in place of a text."""

    blocks: Iterable[bytes]
    name: str

    def whole(self) -> bytes:
        """Read the whole text."""
        # Joining a list of blocks would hold the text twice.
        text = io.BytesIO()
        for block in self.blocks:
            text.write(block)
        return text.getvalue()


class AsFile(io.RawIOBase):
    """A binary file object over blocks of bytes; a read allocates only as much as there is.

    >>> file = AsFile([b"one ", b"two"])
    >>> file.read(2), file.read(100), file.read(1)
    (b'on', b'e two', b'')
    """

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._rest = b""

    def readable(self) -> bool:
        """Yes."""
        return True

    def rest(self) -> Iterator[bytes]:
        """The unread blocks."""
        return itertools.chain([self._rest] if self._rest else [], self._blocks)

    def read(self, size: int | None = -1, /) -> bytes:
        """Read a number of bytes, or all; fewer only at the end."""
        held, self._rest = [self._rest], b""
        over = len(held[0]) - (sys.maxsize if size is None or size < 0 else size)
        while over < 0 and (block := next(self._blocks, b"")):
            held.append(block)
            over += len(block)
        if over > 0:
            last = held.pop()
            self._rest = last[-over:]
            held.append(last[:-over])
        return b"".join(held)

    def readall(self) -> bytes:
        """Read all remaining bytes."""
        return self.read()

    def readinto(self, buffer: Any, /) -> int:
        """Read the next bytes into a buffer."""
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)


def in_parts(text: Unread, last_border: LastBorder, max_bytes: int | None) -> Iterator[bytes]:
    """Read a text in parts, split at the places that `last_border` finds.

    All parts but the first are `Further`. `OptionError` if more than `max_bytes` bytes cannot be
    split.
    """
    held: list[bytes] = []  # bytes that are read and not yet in a part
    size = 0
    end = b""  # their last bytes; the ones before were searched
    kind: type[bytes] = bytes
    for block in text.blocks:
        # The characters around a place decide, each of which has at most four bytes.
        cut = last_border(end + block, 4 if size >= 8 else 0)
        held.append(block)
        if cut:
            known = b"".join(held)
            at = size - len(end) + cut
            yield kind(known[:at])
            kind, held = Further, [known[at:]]
            size = len(known) - at
            end = held[0][-8:]
            del known
        else:
            size += len(block)
            end = (end + block)[-8:]
        if max_bytes is not None and size > max_bytes:
            raise OptionError(
                f"there are {size:,} bytes without a place where the pretokenizer always splits, "
                "which exceeds memory_limit=.",
                path=text.name,
                value=size,
                hint=f"Split it into documents with {files_with('separator=...')}, raise the "
                'limit, or choose another pretokenizer; "gpt2" and "o200k" split at nearly every '
                "space.",
            )
    if held or kind is bytes:
        yield kind(b"".join(held))


def kind_name(value: object) -> str:
    """The type of a value, for an error message."""
    return f"of type {type(value).__name__}"
