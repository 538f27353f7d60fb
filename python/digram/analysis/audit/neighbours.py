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
from digram.vocab.bpe import require_ranked
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
            padding=None,
            special_roles=None,
            matching=None,
            reserved=None,
        )
        self._merging = type(tok)._of(Compact(tok._model, {}, settings))
        self._tokens = {id: token for id, token in tokens.items() if token}
        self._parts_before: dict[int, set[int]] = {}
        self._parts_after: dict[int, set[int]] = {}

    def begun(self, id: int) -> dict[bytes, list[bytes]]:
        """What can precede a token, of the character that its first bytes belong to.

        Each part comes with some texts that end in it: those of the tokens that can precede.
        """
        head = ends(self._tokens[id]).head
        is_open = len(head) == len(self._tokens[id])  # more of the character may follow
        is_valid = is_start if is_open else is_whole
        contexts: dict[bytes, list[bytes]] = {}
        queue = deque([(id, b"")] if head else [])
        while queue:
            first, prefix = queue.popleft()
            before = self._before(first)
            for tail, parts in self._tails_that_fit(len(prefix + head), is_open):
                if is_valid(tail + prefix + head):
                    # Only the end of these texts, and whether they are split, matters.
                    texts = [part.bytes + prefix for part in parts if part.id in before]
                    if texts:
                        contexts.setdefault(tail + prefix, []).extend(texts)
            if len(prefix + head) < 3:
                for part in self._inside:
                    longer = part.bytes + prefix
                    if len(longer + head) <= 3 and part.id in before:
                        queue.append((part.id, longer))
        return contexts

    def rests(self, id: int, tail: bytes) -> dict[bytes, list[bytes]]:
        """What can follow a token, of the character that begins with `tail` at its end."""
        contexts: dict[bytes, list[bytes]] = {}
        queue = deque([(id, b"")] if tail else [])
        while queue:
            last, suffix = queue.popleft()
            character = tail + suffix
            after = self._after(last)
            missing = length(tail[0]) - len(character)
            for head, parts in self._by_head.items():
                if len(head) > missing:
                    continue
                if is_whole(character + head):
                    texts = [suffix + part.bytes for part in parts if part.id in after]
                    if texts:
                        contexts.setdefault(suffix + head, []).extend(texts)
                elif is_start(character + head):
                    for part in parts:
                        if part.is_inside and part.id in after:
                            queue.append((part.id, suffix + part.bytes))
        return contexts

    def followers(self, id: int, bytes_: Collection[int]) -> list[int]:
        """The tokens that can follow this one and begin with one of these bytes."""
        candidates = [other for other, token in self._tokens.items() if token[0] in bytes_]
        return [other for _, other in self._apart([(id, other) for other in candidates])]

    def leaders(self, id: int, bytes_: Collection[int]) -> list[int]:
        """The tokens that can precede this one and end with one of these bytes."""
        candidates = [other for other, token in self._tokens.items() if token[-1] in bytes_]
        return [other for other, _ in self._apart([(other, id) for other in candidates])]

    @cached_property
    def _parts(self) -> list[_Part]:
        parts = (_Part(id, token, ends(token)) for id, token in self._tokens.items())
        return [part for part in parts if part.ends.head or part.ends.tail]

    @cached_property
    def _inside(self) -> list[_Part]:
        return [part for part in self._parts if part.is_inside]

    @cached_property
    def _by_tail(self) -> dict[bytes, list[_Part]]:
        return _grouped((part.ends.tail, part) for part in self._parts)

    def _tails_that_fit(self, size: int, is_open: bool) -> Iterator[tuple[bytes, list[_Part]]]:
        """The parts that need at least this many bytes, by their tails."""
        for tail, parts in self._by_tail.items():
            missing = length(tail[0]) - len(tail)
            if missing == size or (is_open and missing > size):
                yield tail, parts

    @cached_property
    def _by_head(self) -> dict[bytes, list[_Part]]:
        return _grouped((part.ends.head, part) for part in self._parts)

    def _before(self, id: int) -> set[int]:
        """The parts that can precede a token."""
        if id not in self._parts_before:
            candidates = [part.id for part in self._parts if part.ends.tail or part.is_inside]
            pairs = self._apart([(other, id) for other in candidates])
            self._parts_before[id] = {other for other, _ in pairs}
        return self._parts_before[id]

    def _after(self, id: int) -> set[int]:
        """The parts that can follow a token."""
        if id not in self._parts_after:
            candidates = [part.id for part in self._parts if part.ends.head]
            pairs = self._apart([(id, other) for other in candidates])
            self._parts_after[id] = {other for _, other in pairs}
        return self._parts_after[id]

    def _apart(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """The pairs of tokens that do not merge when encoded together."""
        texts = [self._tokens[left] + self._tokens[right] for left, right in pairs]
        ids, offsets = self._merging._encode_batch_numpy(texts, None, 1)
        return [
            pair
            for pair, (start, stop) in zip(pairs, pairwise(offsets.tolist()), strict=True)
            if stop - start == 2 and (ids[start], ids[start + 1]) == pair
        ]


def _grouped(pairs: Iterable[tuple[bytes, _Part]]) -> dict[bytes, list[_Part]]:
    groups: dict[bytes, list[_Part]] = {}
    for key, part in pairs:
        if key:
            groups.setdefault(key, []).append(part)
    return groups
