"""Offsets without the spaces at the ends of tokens, as Hugging Face's post-processors trim them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from digram.vocab.bpe import bpe

if TYPE_CHECKING:
    from digram.tokenizer.encoding.encoding import Call
    from digram.tokenizer.encoding.truncation import Window
    from digram.vocab.settings import Settings

__all__ = ["Trimming", "spans_of"]

_NO_SPACES = "\x1c\x1d\x1e\x1f"
"""Characters that only Python counts as white space."""

_WIDTHS: dict[str | None, tuple[str, int]] = {"bytes": ("utf-8", 1), "utf16": ("utf-16-le", 2)}
"""The encodings in whose units offsets may be, and the bytes of a unit."""

Span = tuple[int, int]


class Trimming(NamedTuple):
    """How the offsets of a tokenizer are trimmed."""

    keeps_prefix: bool
    """Whether a single space at the start of a text is kept."""
    added: dict[int, str]
    """The texts of added tokens by their ids."""
    wide: frozenset[str]
    """Those that may stand for other text."""
    named: Callable[[bytes], bytes]
    """A token without what is only here, the spaces that mark ends of words."""
    space: bytes
    """What a token has for a space."""

    @classmethod
    def of(cls, settings: Settings, special_tokens: Mapping[str, int]) -> Trimming | None:
        """The trimming of a tokenizer; None if it does not trim."""
        if settings.trim_offsets is None:
            return None
        flags = (settings.matching or {}).items()
        wide = (text for text, one in flags if one.lstrip or one.rstrip or one.normalized)
        prefix = settings.trim_offsets == "spaces but the prefix"
        added = {id: text for text, id in special_tokens.items()}
        kernel = bpe(settings.kernel)
        named = bytes if kernel is None or not kernel.affixes else kernel.named
        space = b" " if settings.unit == "byte" else "Ġ".encode()
        return cls(prefix, added, frozenset(wide), named, space)


def spans_of(call: Call, window: Window) -> list[Span]:
    """The offsets of the tokens of a window, trimmed if the tokenizer says so.

    Each character at an end of a token counts as one, as far as its span goes, also where its
    space was put there. If the space of a prefix is kept, that is a single one at the start of the
    first token, and of any that begins where its text begins. Linear.
    """
    spans = call.encoded.spans(*window)
    trimming = call.trimming
    if trimming is None:
        return spans
    found = []
    around = _spaces(call, trimming, window, spans)
    for index, (span, (before, after)) in enumerate(zip(spans, around, strict=True)):
        start, end = span
        if before:
            is_first = index == 0 or start == 0
            start = min(start + before - (trimming.keeps_prefix and is_first and before == 1), end)
        if after and end >= after:
            end = max(end - after, start)
        found.append((start, end))
    return found


def _spaces(call: Call, trimming: Trimming, window: Window, spans: list[Span]) -> Iterator[Span]:
    """The numbers of spaces at both ends of each token, in the unit of the offsets."""
    ids = call.encoded.ids(*window)
    added, named, space = trimming.added, trimming.named, trimming.space
    stored: dict[int, bytes] = {}
    for index, (id, token) in enumerate(zip(ids, call.tok.tokens(ids), strict=True)):
        text = added.get(id)
        if text is None:
            name = named(token)
            before = _count(name, space) if name.startswith(space) else 0
            yield before, _count(name[::-1], space[::-1]) if name.endswith(space) else 0
            continue
        if text in trimming.wide:
            text = _between(call, window[0] + index, spans[index], stored)
        yield _white(text), _white(text[::-1])


def _count(token: bytes, space: bytes) -> int:
    """The number of spaces that a token begins with.

    >>> _count(b"  a", b" "), _count(b"", b" ")
    (2, 0)
    """
    count = 0
    while token.startswith(space, count * len(space)):
        count += 1
    return count


def _between(call: Call, at: int, span: Span, stored: dict[int, bytes]) -> str:
    """The text of the span of a token.

    `stored` keeps the parts of the text in the unit of the offsets, since encoding a part for each
    of its tokens would take quadratic time.
    """
    part = bisect_right(call.bounds, at) - 1
    given: str | bytes = call.given[part]
    start, end = span
    if isinstance(given, bytes):
        return given[start:end].decode(errors="replace")
    unit = call.options.offsets
    if unit not in _WIDTHS:
        return given[start:end]
    encoding, bytes_each = _WIDTHS[unit]
    if part not in stored:
        stored[part] = given.encode(encoding)
    return stored[part][bytes_each * start : bytes_each * end].decode(encoding)


def _white(text: str) -> int:
    """The length of the white space that a text begins with; `Ġ` is written for a space."""

    def is_white(character: str) -> bool:
        return character == "Ġ" or (character.isspace() and character not in _NO_SPACES)

    return len("".join(takewhile(is_white, text)))
