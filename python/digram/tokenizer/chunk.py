"""A piece of a text with the number of its tokens, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Chunk"]

Piece = TypeVar("Piece", str, bytes)


@dataclass(frozen=True, slots=True)
class Chunk(Generic[Piece]):
    """A piece of a text, `text[start:end]`, and the number of its tokens; made by `tok.chunks`.

    `start` and `end` are positions in characters, or in bytes if the text is `bytes`; `count` is
    `tok.count(chunk.text)`.
    """

    text: Piece
    start: int
    end: int
    count: int
