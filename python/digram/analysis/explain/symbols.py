"""Look-ups in a vocabulary for explanations and trees: merges by pair and by token."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, count, pairwise, repeat
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from digram.errors import InternalError
from digram.vocab.bpe import bpe, require_ranked

if TYPE_CHECKING:
    from digram.tokenizer.merge import Merge
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Applied", "How", "Rule", "Symbols", "ids_of", "merge_as_dict", "merged", "way"]

Pair = tuple[int, int]
How = Literal["merges", "whole", "special"]


class Rule(NamedTuple):
    """A merge by ids, with its rank, and its count in training, if known."""

    rank: int
    left: int
    right: int
    id: int
    frequency: int | None


class Applied(NamedTuple):
    """A merge at one place.

    `at` is the index of its left part among the symbols before the merge; `left` and `right` are
    the indices of the first symbols of both parts among the initial symbols.
    """

    rule: Rule
    at: int
    left: int
    right: int


def merge_as_dict(merge: Merge) -> dict[str, Any]:
    """The rank, tokens and id of a merge, ready for JSON; its count has another place in each."""
    return {
        "rank": merge.rank,
        "left": merge.left.hex(),
        "right": merge.right.hex(),
        "hex": merge.token.hex(),
        "id": merge.id,
    }


class Symbols:
    """A vocabulary as plain look-ups; takes some 1.5 µs per token to build."""

    def __init__(self, tok: Tokenizer) -> None:
        self.tokens = tok._model.tokens()
        self.special = {id: text.encode() for text, id in tok.special_tokens.items()}
        record = tok.training
        known: Sequence[int | None] = () if record is None else record.counts
        counts: Iterable[int | None] = chain(known, repeat(None))
        merges = zip(count(), tok._model.merges(), counts, strict=False)
        self.rules = {
            (left, right): Rule(rank, left, right, id, times)
            for rank, (left, right, id), times in merges
        }
        self.unit = tok.unit
        is_char, unknown = tok.unit == "char", tok.on_unknown
        self._unknown = tok._unknown_id
        self._fallback = tok._settings.byte_ids if is_char and unknown == "bytes" else None
        kernel = bpe(tok._settings.kernel)
        self._fuses = kernel is not None and kernel.fuse_unknown
        apart = set(self._fallback or ())
        self._whole = {
            token: id
            for id, token in enumerate(self.tokens)
            if token is not None and id not in apart
        }
        longest = 4 if is_char else 1  # bytes
        self._first = {
            token: id
            for token, id in self._whole.items()
            if len(token) <= longest and (len(token) == 1 or len(token.decode()) == 1)
        }

    def token(self, id: int) -> bytes:
        """The bytes of a token; for a special token, its text."""
        token = self.tokens[id] if id < len(self.tokens) else None
        return self.special[id] if token is None else token

    def first(self, pretoken: bytes) -> list[int]:
        """The ids of a pretoken before any merge.

        An id for an unknown character is never merged, whatever the merges are; it is given as
        `~id`, which no merge contains.
        """
        if self.unit == "byte":
            return [self._first[pretoken[at : at + 1]] for at in range(len(pretoken))]
        found: list[int] = []
        for character in pretoken.decode():
            data = character.encode()
            if data in self._first:
                found.append(self._first[data])
            elif self._fallback is not None:
                found += [~self._fallback[byte] for byte in data]
            else:
                assert self._unknown is not None, "unknown characters were refused before"
                if not (self._fuses and found[-1:] == [~self._unknown]):
                    found.append(~self._unknown)
        return found

    def widths(self, pretoken: bytes) -> list[int]:
        """The number of bytes of a pretoken that each of its initial symbols covers."""
        if self.unit == "byte":
            return [1] * len(pretoken)
        found: list[int] = []
        was_unknown = False
        for character in pretoken.decode():
            data = character.encode()
            is_unknown = data not in self._first
            if is_unknown and self._fallback is not None:
                found += [1] * len(data)
            elif is_unknown and was_unknown and self._fuses:
                found[-1] += len(data)
            else:
                found.append(len(data))
            was_unknown = is_unknown
        return found

    def whole(self, pretoken: bytes) -> int | None:
        """The token that equals a whole pretoken; byte fallback tokens do not count."""
        return self._whole.get(pretoken)

    def is_first(self, id: int) -> bool:
        """Whether text can contain it before any merge."""
        return self.is_fallback(id) or self._first.get(self.token(id)) == id

    def is_fallback(self, id: int) -> bool:
        """Whether a token is a byte of characters that have no token."""
        return self._fallback is not None and id in self._fallback

    @cached_property
    def _making(self) -> dict[int, list[Rule]]:
        """The merges that make each token."""
        found: dict[int, list[Rule]] = {}
        for rule in self.rules.values():
            found.setdefault(rule.id, []).append(rule)
        return found

    def making(self, id: int) -> Rule | None:
        """The merge that makes a token when its bytes are encoded.

        If several merges make it, the one that the encoder applies, or the first one if it applies
        none; None if no merge makes the token.
        """
        rules = self._making.get(id)
        if rules is None:
            return None
        if len(rules) > 1:
            symbols = self.first(self.token(id))
            steps, last = merged(symbols, self.rules)
            if last == [id]:
                return steps[-1].rule
        return rules[0]


def merged(symbols: Sequence[int], rules: dict[Pair, Rule]) -> tuple[list[Applied], list[int]]:
    """The merges of symbols, in order, and the symbols that remain.

    The lowest rank comes first, and then the leftmost place. Takes n log n steps for n symbols,
    where `digram.reference` scans all pairs for each merge.
    """
    ids: list[int | None] = list(symbols)
    after = [*range(1, len(ids)), -1]
    before = [*range(-1, len(ids) - 1)]
    places = _Places(len(ids))
    heap = [(rules[pair].rank, at) for at, pair in enumerate(pairwise(symbols)) if pair in rules]
    heapq.heapify(heap)
    found: list[Applied] = []
    while heap:
        rank, at = heapq.heappop(heap)
        left, nearest = ids[at], after[at]
        right = ids[nearest] if nearest >= 0 else None
        rule = rules.get((left, right)) if left is not None and right is not None else None
        if rule is None or rule.rank != rank:
            continue  # one of its parts has been merged since
        found.append(Applied(rule, places.before(at), at, nearest))
        places.remove(nearest)
        ids[at], ids[nearest] = rule.id, None
        after[at] = after[nearest]
        if after[at] >= 0:
            before[after[at]] = at
        for start in (before[at], at):
            end = after[start] if start >= 0 else -1
            if end >= 0 and (pair := (ids[start], ids[end])) in rules:
                heapq.heappush(heap, (rules[pair].rank, start))
    return found, [id for id in ids if id is not None]


def way(
    tok: Tokenizer, pretoken: bytes, ids: Sequence[int], symbols: Symbols
) -> tuple[How, list[int], list[Applied]]:
    """How a pretoken became its ids: the first symbols and the merges; verified."""
    first = symbols.first(pretoken)
    applied, state = merged(first, symbols.rules)
    last = ids_of(state)
    whole = require_ranked(tok._settings.kernel, "explain").ignore_merges
    if whole and ids == [symbols.whole(pretoken)]:
        return "whole", first, applied if last == ids else []
    if last != ids:
        raise InternalError(
            f"explaining {pretoken!r} gives {last}, and encoding it gives {ids}.",
            hint="Please report it with the tokenizer.",
        )
    return "merges", first, applied


def ids_of(state: Sequence[int]) -> list[int]:
    """The ids of symbols, including those that nothing merges with."""
    return [symbol if symbol >= 0 else ~symbol for symbol in state]


class _Places:
    """The number of remaining symbols before one: sums over a binary indexed tree."""

    def __init__(self, number: int) -> None:
        self._gone = [0] * (number + 1)

    def remove(self, at: int) -> None:
        at += 1
        while at < len(self._gone):
            self._gone[at] += 1
            at += at & -at

    def before(self, at: int) -> int:
        gone, end = 0, at
        while end:
            gone += self._gone[end]
            end -= end & -end
        return at - gone
