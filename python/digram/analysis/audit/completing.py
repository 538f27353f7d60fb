"""Texts that complete a token which begins or ends inside a character."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import cache

from digram.analysis.audit.utf8 import characters_with, ends, is_whole

__all__ = ["Completions", "by_any", "characters_of"]

_ANY = 4096  # characters to try, out of all
_KEPT = 32  # ways to complete a part of a character, out of the vocabulary's


class Completions:
    r"""Parts of the characters of a vocabulary, each with the bytes missing before and after it.

    >>> completions = Completions(["中文".encode()])
    >>> [*completions.texts(b"\xb8\xad\xe6")], [*completions.texts(b"\x96")]
    ([b'\xe4\xb8\xad\xe6\x96\x87'], [b'\xe6\x96\x87'])
    """

    def __init__(self, tokens: Iterable[bytes]) -> None:
        texts = (token.decode() for token in tokens if is_whole(token))
        self._completions: dict[bytes, list[tuple[bytes, bytes]]] = {}
        for character in sorted({c for text in texts for c in text if c > "\x7f"}):
            data = character.encode()
            for start, stop in itertools.combinations(range(len(data) + 1), 2):
                ways = self._completions.setdefault(data[start:stop], [])
                if len(ways) < _KEPT:
                    ways.append((data[:start], data[stop:]))

    def texts(self, token: bytes) -> Iterator[bytes]:
        """Texts that hold a token and complete it with characters of the vocabulary."""
        if is_whole(token):
            yield token
            return
        token_ends = ends(token)
        if len(token_ends.head) == len(token):
            for left, right in self._completions.get(token, ()):
                yield left + token + right
            return
        lefts = [left for left, right in self._completions.get(token_ends.head, ()) if not right]
        rights = [right for left, right in self._completions.get(token_ends.tail, ()) if not left]
        yield from (
            left + token + right
            for left in (lefts if token_ends.head else [b""])
            for right in (rights if token_ends.tail else [b""])
        )


def by_any(token: bytes) -> Iterator[bytes]:
    """Texts that hold a token and complete it with any characters; only some of them."""
    token_ends = ends(token)
    if len(token_ends.head) == len(token):
        pairs = _some_characters(token, before=True, after=True)
        yield from (left + token + right for left, right in pairs)
        return
    empty = [(b"", b"")]
    heads = (
        _some_characters(token_ends.head, before=True, after=False) if token_ends.head else empty
    )
    tails = (
        _some_characters(token_ends.tail, before=False, after=True) if token_ends.tail else empty
    )
    both = itertools.islice(itertools.product(heads, tails), _ANY)
    yield from (left + token + right for (left, _), (_, right) in both)


@cache
def _some_characters(part: bytes, *, before: bool, after: bool) -> list[tuple[bytes, bytes]]:
    return [*itertools.islice(characters_with(part, before=before, after=after), _ANY)]


def characters_of(byte: int) -> Iterator[bytes]:
    """The multi-byte characters that contain this byte."""
    part = bytes([byte])
    first = byte >= 0xC0
    ways = characters_with(part, before=not first, after=True)
    return (left + part + right for left, right in ways)
