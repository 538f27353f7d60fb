r"""Incomplete characters: the bytes that a token lacks at either end to be valid UTF-8.

>>> ends(b"\xad\xe6\x96\x87\xe5")
Ends(head=b'\xad', tail=b'\xe5', body=b'\xe6\x96\x87', is_possible=True)
>>> ends(b"\x80\x80").head, ends(b"\xffa").is_possible
(b'\x80\x80', False)
"""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Ends", "characters_with", "ends", "is_start", "is_whole", "length"]

_CONTINUING = [*range(0x80, 0xC0)]
_LEADS = {2: range(0xC2, 0xE0), 3: range(0xE0, 0xF0), 4: range(0xF0, 0xF5)}


class Ends(NamedTuple):
    """The bytes at the ends of a token that belong to characters outside of it."""

    head: bytes
    """Those of a character that begins before it; all of a token that lies inside one."""
    tail: bytes
    """Those of a character that continues after it."""
    body: bytes
    """The bytes between them."""
    is_possible: bool
    """Whether any text contains these bytes."""


def ends(token: bytes) -> Ends:
    """The incomplete characters of a token."""
    size = 0
    while size < len(token) and 0x80 <= token[size] < 0xC0:
        size += 1
    head, body = token[:size], token[size:]
    _, read = codecs.utf_8_decode(body, "ignore", False)
    possible = is_start(body) and any(True for _ in _around_head(head, bool(body)))
    return Ends(head, body[read:], body[:read], possible)


def _around_head(head: bytes, is_closed: bool) -> Iterator[tuple[bytes, bytes]]:
    if not head:
        return iter([(b"", b"")])
    return characters_with(head, before=True, after=not is_closed)


def is_whole(data: bytes) -> bool:
    """Whether bytes are valid UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_start(data: bytes) -> bool:
    r"""Whether bytes are valid UTF-8, or would be with more bytes after them.

    >>> is_start(b"\xe4\xb8"), is_start(b"\xe4\xb8\xad"), is_start(b"\xe0\x80")
    (True, True, False)
    """
    try:
        codecs.utf_8_decode(data, "strict", False)
    except UnicodeDecodeError:
        return False
    return True


def length(lead: int) -> int:
    """The length in bytes of the characters that begin with this byte."""
    return next((size for size, leads in _LEADS.items() if lead in leads), 1)


def characters_with(part: bytes, *, after: bool, before: bool) -> Iterator[tuple[bytes, bytes]]:
    r"""All ways to complete a part of a character, as the bytes before and after it.

    `before` allows bytes before, `after` bytes after; with both, there may be none after.

    >>> next(characters_with(b"\xe4\xb8", before=False, after=True))
    (b'', b'\x80')
    >>> len([*characters_with(b"\xad", before=True, after=False)])
    17374
    """
    for size, leads in _LEADS.items():
        for first in range(size - len(part) + 1):
            rest = size - first - len(part)
            if (first > 0) != before or (rest > 0 and not after) or (rest == 0 and not before):
                continue
            if part[0] not in (_CONTINUING if first else leads):
                continue
            left = [leads, *[_CONTINUING] * (first - 1)] if first else []
            for rest_bytes in itertools.product(*left, *[_CONTINUING] * rest):
                pair = bytes(rest_bytes[:first]), bytes(rest_bytes[first:])
                if is_whole(pair[0] + part + pair[1]):
                    yield pair
