"""Numbers of a tokenizer.json as serde_json reads them, the reader of Hugging Face's libraries.

It takes the digits as one whole number, and multiplies or divides it by a power of ten. Both steps
are rounded, so the result of more than fifteen digits may be next to the number that is written.
The scores of Unigram are such numbers, and the sums of them decide between segmentations.
"""

from __future__ import annotations

import re
from math import copysign, inf, nextafter

__all__ = ["read_number", "written_number"]

_PARTS = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")
_POWERS = [float(f"1e{n}") for n in range(309)]
_LARGEST = 2**64 - 1
_LONGEST = 20
"""The digits of the largest whole number."""


def read_number(text: str) -> float:
    """The value of a JSON number as serde_json reads it; infinity if it refuses the number.

    >>> read_number("-10.266200065612793"), read_number("0.1"), read_number("25e-1")
    (-10.266200065612791, 0.1, 2.5)
    """
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise ValueError(f"{text!r} is not a JSON number")
    sign, whole, fraction, written = parts.groups()
    number, exponent = _whole(whole, fraction or "")
    if written is not None:
        # Larger exponents have the same result: zero or infinity.
        exponent += max(min(int(written[:12]), 2**31), -(2**31))
    value = _scaled(float(number), exponent)
    return copysign(value, -1.0 if sign else 1.0)


def _whole(whole: str, fraction: str) -> tuple[int, int]:
    """The digits that fit into 64 bits as one number, and its exponent. Others are not rounded."""
    if len(whole) + len(fraction) < _LONGEST:
        return int(whole + fraction), -len(fraction)
    number = taken = 0
    for digit in whole:
        if number * 10 + int(digit) > _LARGEST:
            break
        number, taken = number * 10 + int(digit), taken + 1
    exponent = len(whole) - taken
    # Where digits before the point do not fit, a small one behind it may.
    for digit in fraction:
        if number * 10 + int(digit) > _LARGEST:
            break
        number, exponent = number * 10 + int(digit), exponent - 1
    return number, exponent


def _scaled(value: float, exponent: int) -> float:
    """A number times a power of ten, rounded as serde_json does."""
    while exponent < -308 and value:
        value, exponent = value / 1e308, exponent + 308
    if not value:
        return 0.0
    if exponent > 308:
        return inf
    return value * _POWERS[exponent] if exponent >= 0 else value / _POWERS[-exponent]


def written_number(value: float) -> str | None:
    """The digits of a JSON number that serde_json reads as this finite value.

    None if there are none, as for one of a thousand numbers with all their bits; those that were
    read, and those with at most fifteen digits, have some.

    >>> written_number(-10.266200065612791), written_number(-2.5)
    ('-10.26620006561279', '-2.5')
    """
    text = repr(value)
    if read_number(text) == value:
        return text
    size = abs(value)
    for exponent in range(308) if size < _LARGEST else range(-1, -308, -1):
        whole = _scaled(size, exponent)
        for one in _beside(whole):
            if one <= _LARGEST and one == int(one) and _scaled(one, -exponent) == size:
                return f"{'-' if value < 0 else ''}{int(one)}e{-exponent}"
        if exponent >= 0 and whole > _LARGEST or exponent < 0 and whole < 1:
            return None
    return None


def _beside(value: float) -> list[float]:
    """A number, and two on each side of it."""
    below, above = nextafter(value, 0.0), nextafter(value, inf)
    return [value, below, above, nextafter(below, 0.0), nextafter(above, inf)]
