"""Which tokens can be adjacent in an unsplit text, and so complete each other's characters."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from digram.analysis.audit.utf8 import Ends, ends, is_start, is_whole, length
from digram.pretokenizers.pretokenizer import resolve
from digram.vocab.model import require_ranked
from digram.vocab.packed import Compact

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Neighbours"]


class _Part(NamedTuple):
    """A token that is not valid UTF-8."""

    id: int
    bytes: bytes
    ends: Ends

    @property
    def is_inside(self) -> bool:
        """Whether it is inside one character: continuation bytes only."""
        return len(self.ends.head) == len(self.bytes)


class Neighbours:
    """The tokens that their own bytes are merged to, and which of them can follow each other.

    If two tokens are adjacent in an encoding, their bytes by themselves encode to these two. So the
    pairs found here are all that are possible; only a text shows that one occurs.
    """

    def __init__(self, tok: Tokenizer, tokens: Mapping[int, bytes]) -> None:
        kernel = require_ranked(tok._settings.kernel, "a proof of the audit")
        settings = tok._settings._replace(
            pretokenizer=resolve(None),
            kernel=replace(kernel, ignore_merges=False),
            template=None,
            pad_token=None,
            reserved=None,
        )
        self._merging = type(tok)._of(Compact(tok._model, {}, settings))
        self._tokens = {id: token for id, token in tokens.items() if token}
        self._known_before: dict[int, set[int]] = {}
        self._known_after: dict[int, set[int]] = {}

    def begun(self, id: int) -> dict[bytes, list[bytes]]:
        """What can precede a token, of the character that its first bytes belong to.

        Each part comes with some texts that end in it: those of the tokens that can precede.
        """
        head = ends(self._tokens[id]).head
        is_open = len(head) == len(self._tokens[id])  # more of the character may follow
        fits = is_start if is_open else is_whole
        found: dict[bytes, list[bytes]] = {}
        waiting = deque([(id, b"")] if head else [])
        while waiting:
            first, so_far = waiting.popleft()
            before = self._before(first)
            for tail, parts in self._tails_that_fit(len(so_far + head), is_open):
                if fits(tail + so_far + head):
                    # Only the end of these texts, and whether they are split, matters.
                    texts = [part.bytes + so_far for part in parts if part.id in before]
                    if texts:
                        found.setdefault(tail + so_far, []).extend(texts)
            if len(so_far + head) < 3:
                for part in self._inside:
                    longer = part.bytes + so_far
                    if len(longer + head) <= 3 and part.id in before:
                        waiting.append((part.id, longer))
        return found

    def rests(self, id: int, tail: bytes) -> dict[bytes, list[bytes]]:
        """What can follow a token, of the character that begins with `tail` at its end."""
        found: dict[bytes, list[bytes]] = {}
        waiting = deque([(id, b"")] if tail else [])
        while waiting:
            last, so_far = waiting.popleft()
            begun = tail + so_far
            after = self._after(last)
            asked = length(tail[0]) - len(begun)
            for head, parts in self._by_head.items():
                if len(head) > asked:
                    continue
                if is_whole(begun + head):
                    texts = [so_far + part.bytes for part in parts if part.id in after]
                    if texts:
                        found.setdefault(so_far + head, []).extend(texts)
                elif is_start(begun + head):
                    for part in parts:
                        if part.is_inside and part.id in after:
                            waiting.append((part.id, so_far + part.bytes))
        return found

    def followers(self, id: int, bytes_: Collection[int]) -> list[int]:
        """The tokens that can follow this one and begin with one of these bytes."""
        begins = [other for other, token in self._tokens.items() if token[0] in bytes_]
        return [other for _, other in self._apart([(id, other) for other in begins])]

    def leaders(self, id: int, bytes_: Collection[int]) -> list[int]:
        """The tokens that can precede this one and end with one of these bytes."""
        before = [other for other, token in self._tokens.items() if token[-1] in bytes_]
        return [other for other, _ in self._apart([(other, id) for other in before])]

    @cached_property
    def _parts(self) -> list[_Part]:
        found = (_Part(id, token, ends(token)) for id, token in self._tokens.items())
        return [part for part in found if part.ends.head or part.ends.tail]

    @cached_property
    def _inside(self) -> list[_Part]:
        return [part for part in self._parts if part.is_inside]

    @cached_property
    def _by_tail(self) -> dict[bytes, list[_Part]]:
        return _grouped((part.ends.tail, part) for part in self._parts)

    def _tails_that_fit(self, size: int, is_open: bool) -> Iterator[tuple[bytes, list[_Part]]]:
        """The parts that need at least this many bytes, by their tails."""
        for tail, parts in self._by_tail.items():
            asked = length(tail[0]) - len(tail)
            if asked == size or (is_open and asked > size):
                yield tail, parts

    @cached_property
    def _by_head(self) -> dict[bytes, list[_Part]]:
        return _grouped((part.ends.head, part) for part in self._parts)

    def _before(self, id: int) -> set[int]:
        """The parts that can precede a token."""
        if id not in self._known_before:
            begin = [part.id for part in self._parts if part.ends.tail or part.is_inside]
            pairs = self._apart([(other, id) for other in begin])
            self._known_before[id] = {other for other, _ in pairs}
        return self._known_before[id]

    def _after(self, id: int) -> set[int]:
        """The parts that can follow a token."""
        if id not in self._known_after:
            go_on = [part.id for part in self._parts if part.ends.head]
            pairs = self._apart([(id, other) for other in go_on])
            self._known_after[id] = {other for _, other in pairs}
        return self._known_after[id]

    def _apart(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """The pairs of tokens that do not merge when encoded together."""
        texts = [self._tokens[one] + self._tokens[other] for one, other in pairs]
        ids, offsets = self._merging._encode_batch_numpy(texts, None, 1)
        return [
            pair
            for pair, (start, stop) in zip(pairs, pairwise(offsets.tolist()), strict=True)
            if stop - start == 2 and (ids[start], ids[start + 1]) == pair
        ]


def _grouped(named: Iterable[tuple[bytes, _Part]]) -> dict[bytes, list[_Part]]:
    found: dict[bytes, list[_Part]] = {}
    for name, part in named:
        if name:
            found.setdefault(name, []).append(part)
    return found
