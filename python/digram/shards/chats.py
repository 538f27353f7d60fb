"""Chats as documents: records of JSON with messages, and their ids with what the assistant says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from digram.corpus import Corpus, Files, Stream, Streams, Text
from digram.errors import CorruptFileError
from digram.tokenizer.chat.chat import Chat
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["EncodedChats", "chats_of", "encode_chats", "lines_of", "source_in_lines"]

_BESIDE = ("tools", "documents")


class EncodedChats(NamedTuple):
    """The ids of chats, and the mask of each, with the interface of `EncodedDocuments`."""

    ids: list[list[int]]
    masks: list[list[int]]

    def gather(self, end: int | None, dtype: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The ids, with the id `end` after each chat, and the ends."""
        return _joined(self.ids, end, dtype)

    def mask(self, end: int | None) -> NDArray[np.uint8]:
        """The masks, with 0 for the id after each chat."""
        return _joined(self.masks, None if end is None else 0, "uint8")[0]


def _joined(
    rows: list[list[int]], end: int | None, dtype: str
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    whole = rows if end is None else [[*row, end] for row in rows]
    ends = np.cumsum([len(row) for row in whole], dtype=np.int64)
    flat = [item for row in whole for item in row]
    return np.array(flat, dtype=np.dtype(dtype).newbyteorder("<")), ends


def lines_of(corpus: Any) -> Any:
    """The corpus with each line of a file of JSON lines as a text, not the text in its field."""
    if isinstance(corpus, Mapping):
        return {name: lines_of(one) for name, one in corpus.items()}
    found = Corpus.of(corpus).source
    return source_in_lines(found) if isinstance(found, Files | Stream | Streams) else corpus


def source_in_lines(source: Any) -> Any:
    """A source with each line of a file of JSON lines as a text; others are returned unchanged."""
    if isinstance(source, Streams):
        return Streams(tuple(map(source_in_lines, source.sources)))
    if isinstance(source, Stream):
        if source.kind.form != "jsonl":
            return source
        return replace(source, kind=replace(source.kind, form="text"), separator=b"\n")
    if not all(source.kind(path).form == "jsonl" for path in source.paths):
        return source
    _, _, packing = (source.format or "").partition(".")
    return replace(source, format=f"text.{packing}" if packing else "text", separator=b"\n")


def chats_of(
    tok: Tokenizer, texts: Sequence[Text], template: str | None, threads: int | None
) -> list[Chat]:
    """The chats of records of JSON.

    Raises `CorruptFileError` for a record that is no chat, and the errors of `Tokenizer.chat`.
    """
    chats = [_record(text) for text in texts]
    try:
        return tok._chats(chats, template, threads)
    except TypeError as error:
        raise CorruptFileError(f"{error}.") from None


def encode_chats(
    tok: Tokenizer, texts: Sequence[Text], template: str | None, threads: int | None
) -> EncodedChats:
    """Encode records of JSON, with the errors of `chats_of`."""
    encoded = chats_of(tok, texts, template, threads)
    return EncodedChats([one.ids for one in encoded], [one.assistant_mask for one in encoded])


def _record(text: Text) -> tuple[Any, dict[str, Any]]:
    """The messages of a record, and what is beside them."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorruptFileError(f"the record is not JSON: {error}.") from None
    if isinstance(found, list):
        return found, {}
    if not isinstance(found, dict) or not isinstance(found.get("messages"), list):
        raise CorruptFileError(
            'the record is no chat: it has no list "messages".',
            hint='A chat is {"messages": [{"role": "user", "content": "..."}, ...]}.',
        )
    return found["messages"], {name: found.get(name) for name in _BESIDE}
