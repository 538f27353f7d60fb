"""What a `decoder` does, as a list of steps without those that have no effect."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from digram.formats._json import kind_of

__all__ = ["FALLBACK", "FUSE", "STRIP_FIRST", "shown", "steps_of"]

FUSE = {"type": "Fuse"}
FALLBACK = {"type": "ByteFallback"}
STRIP_FIRST = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
"""The decoder that removes the space at the start of a text, after `Fuse`."""
_BYTE = re.compile(r"<0x[0-9A-Fa-f+][0-9A-Fa-f]>")
"""The tokens that `ByteFallback` decodes as bytes."""


def steps_of(decoder: Any, vocab: Iterable[str]) -> list[Any]:
    """The decoders of nested sequences, in order; the decoder itself if it is not one.

    >>> nested = {"type": "Sequence", "decoders": [{"type": "ByteLevel"}, FUSE]}
    >>> steps_of({"type": "Sequence", "decoders": [nested, FUSE]}, [])
    [{'type': 'ByteLevel'}]

    At the end `Fuse` has no effect, since texts of tokens are joined without anything between them;
    only without any decoder they are joined by spaces. `ByteFallback` has none if no token of
    `vocab` is that of a byte.
    """
    if decoder is None:
        return [None]
    steps = [one for one in _flattened(decoder) if not _is_empty_strip(one)]
    if FALLBACK in steps and not any(map(_BYTE.fullmatch, vocab)):
        steps = [one for one in steps if one != FALLBACK]
    while steps[-1:] == [FUSE]:
        steps.pop()
    return steps


def shown(decoder: Any) -> str:
    """The types of decoders, for messages.

    >>> shown({"type": "Sequence", "decoders": [FALLBACK, FUSE]}), shown(None)
    ('ByteFallback + Fuse', 'None')
    """
    return " + ".join(map(kind_of, _flattened(decoder))) or "Sequence of nothing"


def _flattened(decoder: Any) -> list[Any]:
    parts = decoder.get("decoders") if kind_of(decoder) == "Sequence" else None
    if not isinstance(parts, list):
        return [decoder]
    # Sequences inside sequences nest at most as deep as the JSON reader allows.
    return [step for part in parts for step in _flattened(part)]


def _is_empty_strip(decoder: Any) -> bool:
    return kind_of(decoder) == "Strip" and decoder.get("start") == decoder.get("stop") == 0
