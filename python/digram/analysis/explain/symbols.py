"""What explanations and trees look up in a vocabulary: merges by pair and by token."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, count, pairwise, repeat
from typing import TYPE_CHECKING, NamedTuple

from digram.vocab.special_tokens import SpecialToken

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Applied", "Rule", "Symbols", "merged"]

Pair = tuple[int, int]


class Rule(NamedTuple):
    """A merge by ids, with its rank and its count in training, where that is known."""

    rank: int
    left: int
    right: int
    id: int
    frequency: int | None


class Applied(NamedTuple):
    """A merge at one place.

    `at` is the index of its left part among the symbols of that moment; `left` and `right` are
    those of the first symbols of both parts among all that there were at first.
    """

    rule: Rule
    at: int
    left: int
    right: int


class Symbols:
    """A vocabulary as plain look-ups, made in some 1.5 µs for each of its tokens."""

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
        self._unknown = (
            tok.special_tokens[unknown.text] if isinstance(unknown, SpecialToken) else None
        )
        self._fallback = tok._settings.byte_ids if is_char and unknown == "bytes" else None
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
        """The bytes of a token; of a special one its text."""
        token = self.tokens[id] if id < len(self.tokens) else None
        return self.special[id] if token is None else token

    def first(self, pretoken: bytes) -> list[int]:
        """The ids that a pretoken starts from, before any merge.

        An id that stands for an unknown character joins with nothing, whatever the merges say; it
        comes as `~id`, which no merge has.
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
                assert self._unknown is not None, "else the text was refused"
                found.append(~self._unknown)
        return found

    def widths(self, pretoken: bytes) -> list[int]:
        """How many bytes of a pretoken each of its first symbols stands for."""
        if self.unit == "byte":
            return [1] * len(pretoken)
        found: list[int] = []
        for character in pretoken.decode():
            data = character.encode()
            apart = self._fallback is not None and data not in self._first
            found += [1] * len(data) if apart else [len(data)]
        return found

    def whole(self, pretoken: bytes) -> int | None:
        """The token that a whole pretoken is, bytes of a fallback aside."""
        return self._whole.get(pretoken)

    def is_first(self, id: int) -> bool:
        """Whether text is made of it before anything is merged."""
        return self.is_fallback(id) or self._first.get(self.token(id)) == id

    def is_fallback(self, id: int) -> bool:
        """Whether a token is a byte of characters without a token."""
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

        Where several make it, the one that the encoder comes to; the first one if it comes to none,
        and None where no merge makes the token.
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
    """The merges of symbols, in their order, and what they end with.

    The lowest rank comes first, and of several places the leftmost.

    Takes n log n steps for n symbols, where `digram.reference` looks at all pairs each time.
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
            continue  # one of its parts was merged away meanwhile
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


class _Places:
    """How many symbols are left before one: sums over a binary indexed tree."""

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
