"""Heaps' law: the growth of distinct pretokens with the size of a text.

The number of distinct pretokens in n bytes is approximately scale * n ** exponent, and so is their
total size. This module has the constants for three kinds of text; `python -m benches
estimate_training` fits them again and checks them on four times as much text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from digram._util.validation import utf8_bytes
from digram.errors import OptionError
from digram.pretokenizers.pretokenizer import Pretokenizer

__all__ = ["GROWTH", "KINDS", "MEASURED_BYTES", "Growth", "Law", "Point", "fitted", "points"]


class Law(NamedTuple):
    """A quantity that grows with a power of the bytes of text.

    >>> Law(2.0, 0.5)(10_000)
    200.0
    """

    scale: float
    exponent: float

    def __call__(self, text: float) -> float:
        return self.scale * math.pow(text, self.exponent)

    def inverse(self, value: float) -> float:
        """The size of the text for a value."""
        return math.pow(value / self.scale, 1 / self.exponent)


class Growth(NamedTuple):
    """Growth laws of a text: distinct pretokens, their bytes, and the share that occurs once."""

    pretokens: Law
    bytes: Law
    once: float


# Fitted at 1/32, 1/16, 1/8 and 1/4 of three corpora (43 MB of English, 40 MB of code, 33 MB in many
# languages, some without spaces), and checked on the whole corpora, 4 times as much text.
GROWTH: dict[tuple[str, str], Growth] = {
    ("english", "gpt2"): Growth(Law(11.5, 0.534), Law(68.9, 0.550), 0.35),
    ("english", "cl100k"): Growth(Law(10.5, 0.546), Law(59.4, 0.567), 0.39),
    ("english", "o200k"): Growth(Law(11.6, 0.540), Law(69.6, 0.556), 0.39),
    ("code", "gpt2"): Growth(Law(2.73, 0.605), Law(16.1, 0.627), 0.34),
    ("code", "cl100k"): Growth(Law(3.88, 0.596), Law(11.1, 0.660), 0.30),
    ("code", "o200k"): Growth(Law(5.77, 0.567), Law(21.0, 0.608), 0.28),
    ("multilingual", "gpt2"): Growth(Law(0.115, 0.908), Law(1.22, 0.950), 0.79),
    ("multilingual", "cl100k"): Growth(Law(0.121, 0.908), Law(1.38, 0.948), 0.79),
    ("multilingual", "o200k"): Growth(Law(0.075, 0.935), Law(0.98, 0.979), 0.82),
}
MEASURED_BYTES = 43e6
"""The size of the largest text of one kind that the laws were checked on."""

KINDS = tuple(dict.fromkeys(kind for kind, _ in GROWTH))


class Point(NamedTuple):
    """A measurement: the size of a text, its distinct pretokens, and their bytes.

    `once` is the share of the distinct pretokens that occur a single time.
    """

    text: int
    pretokens: int
    bytes: int
    once: float


def points(
    texts: Iterable[str | bytes], pretokenizer: Pretokenizer, first: float = 1 << 16
) -> Iterator[Point]:
    """Points at `first` bytes, twice as many, four times as many, ..., and at the end.

    >>> [point.pretokens for point in points(["a b", "a c", "b b b"], Pretokenizer("gpt2"), 3)]
    [2, 3, 4]

    The texts should be in random order. Keeps all distinct pretokens in memory; about 5 MB/s.
    """
    split = pretokenizer.splitter().split
    seen: Counter[bytes] = Counter()
    text = done = 0
    for number, document in enumerate(texts):
        data = utf8_bytes(f"sample[{number}]", document)
        seen.update(split(data))
        text += len(data)
        if text >= first:
            yield _point(text, seen)
            done = text
            first = max(2 * first, 1.5 * text)
    if text > done:
        yield _point(text, seen)


def _point(text: int, seen: Counter[bytes]) -> Point:
    once = sum(1 for count in seen.values() if count == 1) / len(seen)
    return Point(text, len(seen), sum(map(len, seen)), once)


def fitted(measured: Sequence[Point]) -> Growth:
    """Fit the laws to the points by least squares of logarithms.

    >>> growth = fitted([Point(100, 20, 60, 0.5), Point(10_000, 200, 600, 0.5)])
    >>> round(growth.pretokens(1_000_000)), round(growth.pretokens.exponent, 3)
    (2000, 0.5)

    Raises `OptionError` for fewer than two points.
    """
    if len(measured) < 2:
        raise OptionError(
            "there is too little text to measure the growth of its pretokens.",
            hint="Pass a sample of several megabytes, in several documents.",
        )

    def law(values: list[int]) -> Law:
        across = [math.log(point.text) for point in measured]
        up = [math.log(value) for value in values]
        x, y = sum(across) / len(across), sum(up) / len(up)
        slope = sum((a - x) * (b - y) for a, b in zip(across, up, strict=True))
        slope /= sum((a - x) ** 2 for a in across)
        return Law(math.exp(y - slope * x), slope)

    return Growth(
        law([point.pretokens for point in measured]),
        law([point.bytes for point in measured]),
        measured[-1].once,
    )
