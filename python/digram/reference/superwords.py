"""Superwords as BoundlessBPE defines them: merges inside words and merges of whole words.

Here a text is a list of words, and a word is a list of symbols. A merge of the first kind joins two
adjacent symbols of one word; one of the second kind, a joining merge, joins two adjacent words of
one symbol each into one such word. The words of `of the cat of the`:

>>> lines = [([b"of", b" the", b" cat", b" of", b" the"], 2)]
>>> joined = train(lines, max_merges=14)
>>> [(rank, joined.tokens[256 + rank]) for rank in sorted(joined.joining)]
[(8, b'of the'), (9, b' of the'), (10, b' cat of the'), (11, b'of the cat of the')]
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple

from digram import reference
from digram.reference import BYTES, Pair

Line = tuple[Sequence[bytes], int]
"""The words of a piece of text, and its count in the corpus."""


class Joined(NamedTuple):
    """The result of training. `joining` are the ranks of the merges that join words."""

    tokens: list[bytes]
    merges: dict[Pair, int]
    counts: list[int]
    joining: set[int]
    stop_reason: str


def train(
    lines: Iterable[Line],
    base: Sequence[bytes] = BYTES,
    *,
    max_merges: int,
    min_frequency: int = 1,
    max_token_length: int | None = None,
    ties: str = "ids",
    may_join: Callable[[bytes], bool] = lambda word: True,
) -> Joined:
    """At each step merge the more frequent of two pairs: the best inside words, or of joining
    words.

    Joining changes no word, so the merges inside words are those of `reference.train` on them
    alone. Two words can join if both are one symbol at that step, and `may_join`; the result is
    again a word of one symbol. A pair whose bytes are those of a token that the words have, or will
    have, never joins. If both kinds are equally frequent, the pair inside words comes first; `ties`
    decides among equal pairs of one kind.
    """
    lines = list(lines)
    words = reference.words([word for line, weight in lines for word in [*line] * weight], base)
    inner = reference.train(
        words,
        base,
        max_merges=max_merges,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        ties=ties,
    )
    order = list(inner.merges.items())
    tokens, known = list(base), set(inner.tokens)
    merges: dict[Pair, int] = {}
    counts: list[int] = []
    joining: set[int] = set()
    new_ids = {symbol: symbol for symbol in range(len(base))}

    # A word that is not yet one symbol, or may not join, stays bytes.
    def one_symbol(word: bytes) -> bytes | int:
        done = reference.encode(
            reference.symbols(word, base), dict(order[: len(new_ids) - len(base)])
        )
        return new_ids[done[0]] if len(done) == 1 and may_join(word) else word

    now: list[tuple[list[bytes | int], int]] = [([*line], weight) for line, weight in lines]
    while True:
        now = [
            ([one_symbol(word) if isinstance(word, bytes) else word for word in line], weight)
            for line, weight in now
        ]
        found: dict[Pair, int] = {}
        for line, weight in now:
            for left, right in pairwise(line):
                if isinstance(left, int) and isinstance(right, int):
                    found[left, right] = found.get((left, right), 0) + weight
        found = {
            (left, right): count
            for (left, right), count in found.items()
            if tokens[left] + tokens[right] not in known
            and len(tokens[left] + tokens[right])
            <= (max_token_length or len(tokens[left] + tokens[right]))
        }
        rank, learned = len(merges), len(new_ids) - len(base)
        inside = inner.counts[learned] if learned < len(order) else 0
        best = reference.best_pair(found, tokens, ties) if found else None
        if rank == max_merges:
            reason = "max_merges"
        elif best is not None and found[best] >= max(min_frequency, inside + 1):
            new = len(tokens)
            tokens.append(tokens[best[0]] + tokens[best[1]])
            known.add(tokens[-1])
            merges[best] = new
            counts.append(found[best])
            joining.add(rank)
            now = [(_join(line, best, new), weight) for line, weight in now]
            continue
        elif inside:
            (left, right), made = order[learned]
            new_ids[made] = len(tokens)
            merges[new_ids[left], new_ids[right]] = len(tokens)
            tokens.append(inner.tokens[made])
            counts.append(inside)
            continue
        else:
            reason = "min_frequency" if min_frequency > 1 else "no_pairs"
        return Joined(tokens, merges, counts, joining, reason)


def _join(line: list[bytes | int], pair: Pair, new: int) -> list[bytes | int]:
    joined: list[bytes | int] = []
    at = 0
    while at < len(line):
        found = tuple(line[at : at + 2]) == pair
        joined.append(new if found else line[at])
        at += 2 if found else 1
    return joined


def encode(
    words: Iterable[Iterable[int]], merges: Mapping[Pair, int], joining: AbstractSet[int]
) -> list[int]:
    """The ids of words: always the possible merge of the lowest rank, at its leftmost place.

    >>> merges = {(97, 98): 256, (99, 100): 257, (256, 257): 258}
    >>> encode([b"ab", b"cd"], merges, {2}), encode([b"abcd"], merges, {2})
    ([258], [256, 257])
    """
    now = [list(word) for word in words]
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    while True:
        inside = [
            (ranks[pair], number, at)
            for number, word in enumerate(now)
            for at, pair in enumerate(pairwise(word))
            if pair in ranks and ranks[pair] not in joining
        ]
        between = [
            (ranks[left[0], right[0]], number, -1)
            for number, (left, right) in enumerate(pairwise(now))
            if len(left) == len(right) == 1 and ranks.get((left[0], right[0])) in joining
        ]
        if not inside + between:
            return [symbol for word in now for symbol in word]
        rank, number, at = min(inside + between)
        if rank in joining:
            now[number : number + 2] = [[merges[now[number][0], now[number + 1][0]]]]
        else:
            word = now[number]
            word[at : at + 2] = [merges[word[at], word[at + 1]]]
