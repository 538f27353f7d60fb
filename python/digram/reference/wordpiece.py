"""WordPiece as a readable specification: encoding and training.

Tokens are written as in BERT's files: `un` begins a word, and `##able` does not. A **word** is a
pretoken without the space before it.

>>> ids = {"[UNK]": 0, "un": 1, "##aff": 2, "##able": 3, "##a": 4}
>>> encode("unaffable", ids, 0), encode("unaffine", ids, 0)
([1, 2, 3], [0])
"""

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

Rule = Literal["count", "likelihood"]


def encode(
    word: str,
    ids: Mapping[str, int],
    unknown: int,
    *,
    max_word_chars: int = 100,
    prefix: str = "##",
) -> list[int]:
    """The longest token at each place of a word; `unknown` alone if there is none somewhere.

    >>> ids = {"un": 1, "u": 2, "##n": 3, "##s": 4}
    >>> encode("uns", ids, 0), encode("u", ids, 0), encode("unt", ids, 0)
    ([1, 4], [2], [0])
    >>> encode("uns", ids, 0, max_word_chars=2)
    [0]

    What follows the first token is looked up with the prefix before it. So a word that begins with
    the prefix may begin with a token that has it.

    >>> encode("##ns", ids, 0)
    [3, 4]
    """
    if not word or len(word) > max_word_chars:
        return [unknown]
    found: list[int] = []
    start = 0
    while start < len(word):
        before = prefix if start else ""
        fits = [end for end in range(start + 1, len(word) + 1) if before + word[start:end] in ids]
        if not fits:
            return [unknown]
        found.append(ids[before + word[start : fits[-1]]])
        start = fits[-1]
    return found


def letters(words: Mapping[str, int], prefix: str = "##") -> list[str]:
    """The base of training: the characters, sorted, and then those inside words, with the prefix.

    >>> letters({"ab": 1, "ac": 2})
    ['a', 'b', 'c', '##b', '##c']
    """
    inside = {character for word in words for character in word[1:]}
    return sorted({*"".join(words)}) + [prefix + character for character in sorted(inside)]


def train(
    words: Mapping[str, int],
    *,
    max_merges: int,
    min_frequency: int = 1,
    rule: Rule = "count",
    prefix: str = "##",
    base: list[str] | None = None,
) -> list[str]:
    """Join the best pair of adjacent tokens everywhere, and repeat; returns all tokens.

    With the rule "count" the best pair is the most frequent one, as in BPE: this is what the
    trainer of Hugging Face does. With "likelihood" it is the one with the highest count divided by
    the product of the counts of its two tokens, by which the likelihood of the corpus rises most;
    Google describes WordPiece so. Of equal pairs the one with the smallest ids is taken. Pairs
    that occur fewer than `min_frequency` times are not joined, and neither are pairs whose token
    would begin a word and be written like one that does not.

    >>> words = {"aaab": 3, "aac": 5, "xy": 1}
    >>> train(words, max_merges=2)[9:]
    ['aa', 'aac']
    >>> train(words, max_merges=2, rule="likelihood")[9:]
    ['xy', 'aa']
    """
    tokens = letters(words, prefix) if base is None else list(base)
    number = {token: id for id, token in enumerate(tokens)}
    now = [
        ([number[prefix * (at > 0) + character] for at, character in enumerate(word)], weight)
        for word, weight in words.items()
    ]
    for _ in range(max_merges):
        pairs: Counter[tuple[int, int]] = Counter()
        alone: Counter[int] = Counter()
        for word, weight in now:
            for pair in pairwise(word):
                pairs[pair] += weight
            for id in word:
                alone[id] += weight
        frequent = [
            pair
            for pair, count in pairs.items()
            if count >= min_frequency and not _looks_inner(tokens[pair[0]], tokens[pair[1]], prefix)
        ]
        if not frequent:
            break

        def score(
            pair: tuple[int, int],
            pairs: Counter[tuple[int, int]] = pairs,
            alone: Counter[int] = alone,
        ) -> float:
            if rule == "count":
                return pairs[pair]
            return pairs[pair] / (float(alone[pair[0]]) * float(alone[pair[1]]))

        best = max(frequent, key=lambda pair: (score(pair), -pair[0], -pair[1]))
        left, right = (tokens[id] for id in best)
        joined = left + right.removeprefix(prefix)
        # Two pairs may make the same token.
        new = number.setdefault(joined, len(tokens))
        if new == len(tokens):
            tokens.append(joined)
        now = [(_joined(word, best, new), weight) for word, weight in now]
    return tokens


def _looks_inner(left: str, right: str, prefix: str) -> bool:
    """Whether a token that begins a word would be written like one that does not."""
    joined = left + right.removeprefix(prefix)
    return joined.startswith(prefix) and not left.startswith(prefix)


def _joined(word: list[int], pair: tuple[int, int], new: int) -> list[int]:
    joined: list[int] = []
    at = 0
    while at < len(word):
        found = tuple(word[at : at + 2]) == pair
        joined.append(new if found else word[at])
        at += 2 if found else 1
    return joined
