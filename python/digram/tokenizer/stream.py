"""Encode one text in chunks, or any number of texts, with bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from digram._core import Stream
    from digram.tokenizer.batch import FlatIds
    from digram.vocab.special_tokens import SpecialToken, TextOrParts

__all__ = ["each_chunk", "each_text"]

BATCH_LENGTH = 1 << 22  # characters or bytes, enough for all threads
BATCH_TEXTS = 1 << 16


def each_chunk(stream: Stream, chunks: Iterable[str | bytes], out: str) -> Iterator[Any]:
    """Yield the ids of a text in chunks, once they are final; most small chunks yield none."""
    push: Callable[[str | bytes | None], Any]
    push = stream.push if out == "list" else stream.push_numpy
    for chunk in chunks:
        ids = push(chunk)
        if len(ids):
            yield ids
    ids = push(None)
    if len(ids):
        yield ids


def each_text(
    encode: Callable[[list[TextOrParts], int], list[list[int]] | FlatIds],
    texts: Iterable[TextOrParts],
    out: str,
) -> Iterator[Any]:
    """Yield the ids of each text; `encode` takes a batch and the number of its first text."""
    first = 0
    for batch in _batches(texts):
        try:
            encoded: Any = encode(batch, first)
        except Exception as error:
            error.add_note(f"in the batch that starts with text {first}")
            raise
        first += len(batch)
        if out == "list":
            yield from encoded
        else:
            ids, ends = encoded.ids, encoded.offsets.tolist()
            yield from (ids[a:b] for a, b in pairwise(ends))


def _batches(texts: Iterable[TextOrParts]) -> Iterator[list[TextOrParts]]:
    batch: list[TextOrParts] = []
    length = 0
    for text in texts:
        batch.append(text)
        length += len(text) if isinstance(text, str | bytes) else _length(text)
        if length >= BATCH_LENGTH or len(batch) >= BATCH_TEXTS:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _length(parts: Iterable[str | bytes | SpecialToken]) -> int:
    """The approximate size of a text in parts, which are checked by the core."""
    if not isinstance(parts, list | tuple):
        return 1
    return sum(len(part) if isinstance(part, str | bytes) else 1 for part in parts)
