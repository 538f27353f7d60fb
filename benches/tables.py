"""Markdown tables, and what stands above them: which machine, which versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table that reads well as it is, and renders.

    >>> print(markdown(["text", "MB/s"], [["en", "9"], ["code", "10"]]))
    | text | MB/s |
    |------|-----:|
    | en   |    9 |
    | code |   10 |
    """
    lines = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    body = ["| " + " | ".join(_cells(line, widths)) + " |" for line in lines]
    first, *others = widths
    rule = "|" + "|".join(["-" * (first + 2), *("-" * (width + 1) + ":" for width in others)]) + "|"
    return "\n".join([body[0], rule, *body[1:]])


def _cells(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.rjust(width) if column else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]


def number(value: float) -> str:
    """Three digits that mean something.

    >>> [number(value) for value in (0.01234, 3.14159, 27.18, 1234.5)]
    ['0.012', '3.14', '27.2', '1,234']
    """
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:,.{digits}f}"


def times(ratio: float) -> str:
    """How many times as fast.

    >>> times(5.04), times(0.333), times(123.4)
    ('5.0×', '0.33×', '123×')
    """
    return f"{ratio:.{2 if ratio < 1 else 1 if ratio < 100 else 0}f}×"


def machine() -> str:
    """The processor, how many of it, how busy they are, and the Python."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next(
                (line.partition(":")[2].strip() for line in file if "model name" in line), model
            )
    except OSError:
        pass
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} × {model}, load {load:.1f}, Python {platform.python_version()}"
