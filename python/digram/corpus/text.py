"""Texts: whole, in parts, or not read yet."""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from digram.errors import OptionError

__all__ = ["AsFile", "Further", "LastBorder", "Text", "Unread", "in_parts", "kind_name"]

Text: TypeAlias = str | bytes

LastBorder: TypeAlias = Callable[[bytes, int], int]
"""The last place, at or after some, where a text may be cut into parts; 0 where none is known."""


class Further(bytes):
    """A part of a text that continues the part before it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Unread:
    """A text that is not read yet, with its name; an iterator may yield it in place of a text."""

    blocks: Iterable[bytes]
    name: str

    def whole(self) -> bytes:
        """The text, read."""
        # Joining a list of blocks would hold all of it twice.
        text = io.BytesIO()
        for block in self.blocks:
            text.write(block)
        return text.getvalue()


class AsFile(io.RawIOBase):
    """A binary file object over blocks of bytes; a read allocates no more than there is.

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
        """What was not read, block by block."""
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
        """All that is left."""
        return self.read()

    def readinto(self, buffer: Any, /) -> int:
        """The next bytes, as many as the buffer holds."""
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)


def in_parts(text: Unread, last_border: LastBorder, max_bytes: int | None) -> Iterator[bytes]:
    """Read a text in parts, cut at the places that `last_border` finds.

    All parts but the first are `Further`. `OptionError` where more than `max_bytes` bytes cannot be
    cut.
    """
    held: list[bytes] = []  # what is read and in no part yet
    size = 0
    end = b""  # the last bytes of it: what is before them was searched
    kind: type[bytes] = bytes
    for block in text.blocks:
        # A place is told by the characters around it, of at most four bytes each.
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
                f"there are {size:,} bytes without a place where the pretokenizer is certain to "
                "cut: more than memory_limit= leaves room for.",
                path=text.name,
                value=size,
                hint="Cut the file into documents with separator=, raise the limit, or choose "
                'another pretokenizer; "gpt2" or "o200k" cut at nearly every space.',
            )
    if held or kind is bytes:
        yield kind(b"".join(held))


def kind_name(value: object) -> str:
    """What an error says of a value of the wrong type."""
    return f"of type {type(value).__name__}"
