"""The training of Unigram (Kudo, "Subword Regularization", ACL 2018), as SentencePiece does it.

A vocabulary has a score for each piece, the logarithm of its probability. `train` starts from
frequent substrings and drops those that are needed least, in rounds. How a text is encoded is in
`digram.reference.scores.segment`.

>>> pieces, full = train({" low": 5, " lower": 2, " newest": 6, " widest": 3}, pieces=15)
>>> [piece for piece, _ in pieces if len(piece) > 1], full
(['est', ' low', 'st', 'we'], True)

Texts are parts of pretokens in which a piece may be anywhere, with their counts. All characters of
them are pieces. The functions `exp`, `ln` and `digamma` have the same bits on every system, and
expected numbers are sums of whole parts, so that the order of texts has no effect.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from digram.reference.scores import segment

Texts = Mapping[str, int]

UNIT = 1 << 20
"""The parts of one in which expected numbers are counted."""
LEAST = 0.5
"""A piece that is expected to occur fewer times is dropped."""

_LN_2 = (6.931471803691238e-1, 1.9082149292705877e-10)
"""The logarithm of two: its leading bits, and the rest."""


def exp(x: float) -> float:
    """The exponential function: a power of two times a sum of powers of the rest; 0 below -700.

    >>> abs(exp(1.0) - math.e) < 1e-15, exp(-800.0)
    (True, 0.0)
    """
    if x < -700:
        return 0.0
    power = math.floor(x * 1.4426950408889634 + 0.5)
    rest = x - power * _LN_2[0] - power * _LN_2[1]
    total = 1.0
    for n in range(14, 0, -1):
        total = 1.0 + total * rest / n
    return math.ldexp(total, power)


def ln(x: float) -> float:
    """The natural logarithm of a positive number.

    >>> ln(2.0) - math.log(2), ln(1.0)
    (0.0, 0.0)
    """
    fraction, exponent = math.frexp(x)
    if fraction < math.sqrt(0.5):
        fraction, exponent = fraction * 2, exponent - 1
    s = (fraction - 1) / (fraction + 1)
    square = s * s
    total = 0.0
    for n in range(11, -1, -1):
        total = 1.0 / (2 * n + 1) + total * square
    return exponent * _LN_2[0] + (2.0 * s * total + exponent * _LN_2[1])


def digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function, for a positive number.

    >>> round(digamma(1.0), 9)  # minus Euler's constant
    -0.577215665
    """
    result = 0.0
    while x < 7:
        result -= 1.0 / x
        x += 1.0
    x -= 0.5
    square = 1.0 / x * (1.0 / x)
    fourth = square * square
    return (
        result
        + ln(x)
        + 1 / 24 * square
        - 7 / 960 * fourth
        + 31 / 8064 * fourth * square
        - 127 / 30720 * fourth * fourth
    )


def seeds(texts: Texts, size: int, max_length: int = 16, min_count: int = 2) -> dict[str, int]:
    """Substrings of at least two characters with their weights: the count times the length.

    A seed occurs at two places of the distinct texts. A substring that is always followed by the
    same character is none, unless it has `max_length` characters. Of more than `size`, those with
    the highest weights are taken, and of equal weights the first in the order of code points.

    >>> seeds({"lower": 2, "low": 5}, size=9)
    {'ow': 14, 'low': 21}
    """
    counts, places, after = Counter[str](), Counter[str](), dict[str, set[str]]()
    for text, count in texts.items():
        for start in range(len(text)):
            for end in range(start + 2, min(len(text), start + max_length) + 1):
                counts[text[start:end]] += count
                places[text[start:end]] += 1
                after.setdefault(text[start:end], set()).add(text[end : end + 1])
    weights = {
        piece: count * len(piece)
        for piece, count in counts.items()
        if count >= min_count
        and places[piece] >= 2
        and (len(piece) == max_length or len(after[piece]) > 1 or "" in after[piece])
    }
    best = sorted(weights, key=lambda piece: (-weights[piece], piece))[:size]
    return {piece: weights[piece] for piece in sorted(best, key=lambda piece: (len(piece), piece))}


def expected(texts: Texts, shares: Mapping[str, float]) -> Counter[str]:
    """How often each piece is expected to occur, in parts of `UNIT`.

    A segmentation has the product of the probabilities of its pieces. `before[i]` is the sum of
    those of the first i characters, `behind[i]` of those of the rest. The core also multiplies
    sums that are small by powers of two, which changes no other bit.

    >>> {piece: number / UNIT for piece, number in expected({"ab": 1}, {
    ...     "a": 0.5, "b": 0.25, "ab": 0.125}).items()}
    {'b': 0.5, 'ab': 0.5, 'a': 0.5}
    """
    longest = max(map(len, shares), default=1)
    found = Counter[str]()
    for text, count in texts.items():
        places = range(len(text))
        ends = [range(at + 1, min(len(text), at + longest) + 1) for at in places]
        edges = [[end for end in ends[at] if text[at:end] in shares] for at in places]
        before, behind = [1.0] + [0.0] * len(text), [0.0] * len(text) + [1.0]
        for at in places:
            for end in edges[at]:
                before[end] += before[at] * shares[text[at:end]]
        factor = count * UNIT / before[-1]
        for at in reversed(places):
            for end in reversed(edges[at]):
                share = shares[text[at:end]] * behind[end]
                behind[at] += share
                found[text[at:end]] += int(before[at] * share * factor + 0.5)
    return found


def maximized(numbers: Mapping[str, int], old: Iterable[str], pieces: int) -> dict[str, float]:
    """New scores of the pieces `old`, from expected numbers in parts of `UNIT`.

    Pieces of several characters that are expected too rarely are dropped, unless fewer than
    `pieces` would remain.

    >>> maximized({"a": 9 * UNIT, "b": UNIT, "ab": 0}, ["a", "b", "ab"], 2).keys()
    dict_keys(['a', 'b'])
    """
    kept = [p for p in old if len(p) == 1 or numbers.get(p, 0) >= LEAST * UNIT]
    kept = kept if len(kept) >= pieces else list(old)
    whole = {piece: max(numbers.get(piece, 0), int(LEAST * UNIT)) for piece in kept}
    everything = digamma(max(sum(whole.values()), 1) / UNIT)
    return {piece: digamma(number / UNIT) - everything for piece, number in whole.items()}


def losses(texts: Texts, scores: Mapping[str, float]) -> dict[str, float]:
    """How much less likely the best segmentations become without each piece of several characters.

    Without it, each of its occurrences is the best segmentation of its text into others.
    """
    counts = Counter[str]()
    for text, count in texts.items():
        for piece in segment(text, scores, -math.inf):
            counts[piece] += count
    everything = sum(counts.values())
    found = {}
    for piece in scores:
        own = counts[piece]
        if len(piece) == 1:
            continue
        found[piece] = 0.0
        if own:
            others = segment(piece, {k: v for k, v in scores.items() if k != piece}, -math.inf)
            total = ln(everything + own * (len(others) - 1.0))
            rest = 0.0
            for other in reversed(others):
                rest += ln(float(counts[other] + own)) - total
            found[piece] = own * (ln(float(own)) - ln(float(everything)) - rest)
    return found


def train(
    texts: Texts,
    *,
    pieces: int,
    seed_size: int = 1_000_000,
    max_length: int = 16,
    min_count: int = 2,
    shrinking: float = 0.75,
    steps: int = 2,
) -> tuple[list[tuple[str, float]], bool]:
    """Pieces with scores, the highest first, and whether they are as many as requested.

    The characters are pieces too, and never dropped. A round has some steps of expectation
    maximization; then the pieces with the lowest losses are dropped, so that the share `shrinking`
    of all remains, or the requested number. ValueError if there are more characters than `pieces`.
    """
    letters = Counter[str]()
    for text, count in texts.items():
        for letter in text:
            letters[letter] += count
    if len(letters) > pieces:
        raise ValueError("there are more characters than pieces")
    weights = {**letters, **seeds(texts, seed_size, max_length, min_count)}
    total = sum(weights.values())
    shares = {piece: weights[piece] / total for piece in sorted(weights)}
    while True:
        for _ in range(steps):
            scores = maximized(expected(texts, shares), shares, pieces)
            shares = {piece: exp(score) for piece, score in scores.items()}
        if len(scores) <= pieces:
            break
        loss = losses(texts, scores)
        room = max(int(len(scores) * shrinking), pieces) - len(letters)
        kept = sorted(loss, key=lambda piece: (-loss[piece], piece))[: max(room, 0)]
        shares = {piece: shares[piece] for piece in sorted([*letters, *kept])}
    ranked = sorted(scores, key=lambda piece: (-scores[piece], piece))
    return [(piece, scores[piece]) for piece in ranked], len(ranked) == pieces
