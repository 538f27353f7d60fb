"""PickyBPE: tokens are merged, and dropped again if a merge leaves little use for them.

Chizhov, Arnett, Korotkova and Yamshchikov, "BPE Gets Picky: Efficient Vocabulary Refinement During
Tokenizer Training", EMNLP 2024. Training records its steps in order as a list of events, and
encoding applies the same events to a word:

>>> corpus = words([b"the", b"the", b"hut", b"she"], BYTES)
>>> found = train(corpus, BYTES, threshold=0.6, max_merges=2)
>>> for kind, token, parts, times in found.events:
...     print(kind, found.tokens[token], [found.tokens[part] for part in parts], times)
merge b'he' [b'h', b'e'] 3
merge b'the' [b't', b'he'] 2
drop b'he' [b'h', b'e'] 1
>>> [found.tokens[token] for token in found.live[256:]]
[b'the']
>>> [[found.tokens[n] for n in encode(word, found.events)] for word in (b"the", b"she")]
[[b'the'], [b's', b'h', b'e']]
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from digram.reference import (
    BYTES,
    Pair,
    Word,
    allowed,
    best_pair,
    count_pairs,
    merge,
    words,
)

__all__ = ["BYTES", "Event", "Picked", "encode", "split", "train", "words"]


class Event(NamedTuple):
    """A step of PickyBPE: parts become a token, or a token becomes parts."""

    kind: str
    """ "merge" or "drop"."""
    token: int
    parts: tuple[int, ...]
    times: int
    """The count of the pair when it was chosen, or of the dropped token when it was dropped."""


class Picked(NamedTuple):
    """The result of PickyBPE: all tokens it ever made, and those that are left at the end."""

    tokens: list[bytes]
    live: list[int]
    events: list[Event]
    stop_reason: str
    words: list[Word]


def train(
    corpus: Iterable[Word],
    base: Sequence[bytes],
    *,
    threshold: float,
    vocab_size: int | None = None,
    max_merges: int | None = None,
    min_frequency: int = 1,
    max_token_length: int | None = None,
    whole_characters: bool = False,
    ties: str = "ids",
) -> Picked:
    """Train, and drop a token at once if a merge leaves little use for it.

    After each merge its parts are checked, the left one first: in what share of its occurrences was
    the part merged? If that share reaches the `threshold`, the part is dropped: all its remaining
    occurrences become the parts from which it was first made, and parts that are dropped already
    become their own parts. Base symbols are never dropped.

    `vocab_size` counts the remaining tokens, and `max_merges` the merges. A merge may make a
    dropped token again, or an existing one; tokens are identified by their bytes. The other
    arguments are those of `train`. Training ends: a merge makes its token more frequent and no
    longer token rarer, and the tokens that it drops are shorter.
    """
    now, tokens = list(corpus), list(base)
    live, made_of, events = set(range(len(base))), dict[int, Pair](), list[Event]()
    merges = 0

    def parts(token: int) -> list[int]:
        return [token] if token in live else [n for part in made_of[token] for n in parts(part)]

    while True:
        found = allowed(count_pairs(now), tokens, max_token_length, whole_characters)
        if len(live) == vocab_size:
            reason = "vocab_size"
        elif merges == max_merges:
            reason = "max_merges"
        elif not found:
            reason = "no_pairs"
        elif found[best := best_pair(found, tokens, ties)] < min_frequency:
            reason = "min_frequency"
        else:
            text, merges = tokens[best[0]] + tokens[best[1]], merges + 1
            if text not in tokens[len(base) :]:
                made_of[len(tokens)] = best
                tokens.append(text)
            new = tokens.index(text, len(base))
            live.add(new)
            events.append(Event("merge", new, best, found[best]))
            before = now
            now = [(merge(word, best, new), weight) for word, weight in before]
            lengths = zip(before, now, strict=True)
            merged = sum((len(old) - len(word)) * weight for (old, weight), (word, _) in lengths)
            for part in dict.fromkeys(best):
                rest = sum(word.count(part) * weight for word, weight in now)
                if part in made_of and float(merged) / (merged + rest) >= threshold:
                    live.remove(part)
                    events.append(Event("drop", part, tuple(parts(part)), rest))
                    now = [(split(word, part, parts(part)), weight) for word, weight in now]
            continue
        return Picked(tokens, sorted(live), events, reason, now)


def split(word: Sequence[int], token: int, parts: Sequence[int]) -> list[int]:
    """`word` with the parts in place of each `token`.

    >>> split([98, 256, 256, 97], 256, (97, 110))
    [98, 97, 110, 97, 110, 97]
    """
    return [n for symbol in word for n in (parts if symbol == token else [symbol])]


def encode(word: Iterable[int], events: Iterable[Event]) -> list[int]:
    """Encode one word with PickyBPE: apply each event in turn, wherever it applies.

    >>> encode(b"the", [Event("merge", 256, (104, 101), 0), Event("drop", 256, (104, 101), 0)])
    [116, 104, 101]
    """
    ids = list(word)
    for kind, token, parts, _ in events:
        if kind == "merge":
            left, right = parts
            ids = merge(ids, (left, right), token)
        else:
            ids = split(ids, token, parts)
    return ids
