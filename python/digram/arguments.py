"""Arguments that several calls take, checked and brought into the form of the core."""

from __future__ import annotations

import contextlib
import math
import operator
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from digram._core import LEAST_MEMORY
from digram.errors import OptionError
from digram.special import OnSpecial

__all__ = [
    "available_cores",
    "check_out",
    "check_threads",
    "fraction",
    "memory_in_bytes",
    "refuse_one",
    "rule_of",
    "several_texts",
    "size_in_bytes",
    "whole_number",
]

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kMGTPE]?)(i?)(?:B|bytes)?\s*", re.IGNORECASE)


def several_texts(texts: Iterable[str | bytes], one: str) -> list[str | bytes]:
    """The texts as a list; `one` is the call for a single text."""
    refuse_one(texts, one)
    return texts if isinstance(texts, list) else list(texts)


def refuse_one(texts: Iterable[str | bytes], one: str) -> None:
    """Refuses one text, which is no batch of letters; `one` is the call for it."""
    if isinstance(texts, str | bytes):
        raise TypeError(f"texts is several texts; pass one text to {one}, or put it in a list")


def check_out(out: str, *allowed: str) -> None:
    """Refuses a form of the result that a call does not know.

    >>> check_out("tensor", "list", "numpy")
    Traceback (most recent call last):
        ...
    digram.errors.OptionError: out='tensor' is not known. Pass 'list' or 'numpy'.
    """
    if out not in allowed:
        *others, last = map(repr, allowed)
        choice = f"{', '.join(others)} or {last}"
        raise OptionError(f"out={out!r} is not known. Pass {choice}.", value=out)


def rule_of(special: OnSpecial) -> OnSpecial | None:
    """What the core is told of special tokens; nothing in the usual case, which is the fastest."""
    return None if special == "text" else special


def whole_number(name: str, value: Any, least: int, most: int = sys.maxsize) -> int:
    """A whole number that is not below another, and that the core can hold.

    >>> whole_number("n", 3, 0), whole_number("n", 2**70, 0) == 2**63 - 1
    (3, True)

    More than `most` is as good as that: neither texts nor limits are so large. Raises `TypeError`
    for what is no whole number, `OptionError` for one that is too small.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {value!r}") from None
    if number < least:
        raise OptionError(f"{name}={number} is not at least {least}.", value=value)
    return min(number, most)


def check_threads(threads: int | None) -> int | None:
    """Refuses fewer than one thread."""
    return None if threads is None else whole_number("threads", threads, 1)


def fraction(value: Any, name: str) -> tuple[int, int]:
    """A positive number as numerator and denominator of 64 bits.

    >>> fraction(3, "weight"), fraction(0.1, "weight")
    ((3, 1), (1, 10))

    A float is taken for the decimal number that it prints as.
    """
    import decimal
    import fractions
    import numbers

    if isinstance(value, bool) or not isinstance(value, numbers.Rational | float | decimal.Decimal):
        raise TypeError(f"{name} is a number, not {value!r}")
    try:
        exact = fractions.Fraction(str(value) if isinstance(value, float) else value)
    except (ValueError, OverflowError):  # not a number, or without an end
        exact = fractions.Fraction(0)
    if exact <= 0:
        raise OptionError(f"{name}={value} is no positive number.", value=value)
    if exact.numerator >= 1 << 64 or exact.denominator >= 1 << 64:
        raise OptionError(
            f"{name}={value} has more digits than 64 bits hold.",
            value=value,
            hint="Round it.",
        )
    return exact.numerator, exact.denominator


def size_in_bytes(name: str, value: float | str) -> float:
    """A number of bytes, given as such or as "2 GB" (decimal) or "2 GiB".

    >>> size_in_bytes("memory_limit", "2 GB"), size_in_bytes("memory_limit", "16MiB")
    (2000000000.0, 16777216.0)
    """
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        base = 1024 if match[3] else 1000
        number = float(match[1]) * float(base ** " kmgtpe".index((match[2] or " ").lower()))
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise OptionError(
            f"{name}={value!r} is no size.", value=value, hint='Write it as in "500 GB".'
        )
    else:
        number = float(value)
    if not 1 <= number < 1e24:
        raise OptionError(f"{name}={value!r} is no size.", value=value)
    return number


def memory_in_bytes(limit: int | str | None) -> int | None:
    """A limit of memory in bytes; none, or one that training can keep to.

    >>> memory_in_bytes("2 GB"), memory_in_bytes(None)
    (2000000000, None)
    """
    if limit is None:
        return None
    memory = int(size_in_bytes("memory_limit", limit))
    if memory < LEAST_MEMORY:
        least = f"{LEAST_MEMORY >> 20} MiB"
        raise OptionError(
            f"memory_limit={limit!r} is less than {least}, the least there can be.",
            value=limit,
            hint="The less memory, the more often the disk is read; 1 GB is a good limit.",
        )
    return memory


def available_cores() -> int:
    """How many threads run at once: of a container's processors, those that it may use."""
    try:
        found = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        found = os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):  # Linux, the share that a container has
        share, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        found = min(found, math.ceil(int(share) / int(period)))
    return max(found, 1)
