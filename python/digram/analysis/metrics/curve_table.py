"""A curve as a table for a terminal, 80 columns wide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram.analysis.metrics.table import aligned, share
from digram.errors import several

if TYPE_CHECKING:
    from digram.analysis.metrics.size_curve import Curve, Point

__all__ = ["short", "table"]

_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))


def table(found: Curve) -> str:
    """A row for each size.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", vocab_size=262)
    >>> print(table(digram.curve(tok, ["low lower", "lowest"], sizes=[258, 262])))
    2 documents of 15 bytes, 15 characters, 3 words
    <BLANKLINE>
    ...
    """
    amounts = (found.bytes, "byte"), (found.characters, "character"), (found.words, "word")
    of = ", ".join(several(number, noun) for number, noun in amounts)
    last = found.points[-1]
    titles = [
        ["", "", "bytes/", "tokens/", "atten-", "", "", "", "100×"],
        ["size", "tokens", "token", "text", "tion", "fertility", "coverage", "used", "used"],
    ]
    rows = [_row(point, last) for point in found.points]
    if found.width is not None:
        for row, title in zip(titles, ("embed-", "dings"), strict=True):
            row.append(title)
        for row, point in zip(rows, found.points, strict=True):
            row.append(short(point.embedding_parameters or 0))
    return "\n\n".join(
        [
            f"{several(found.documents, 'document')} of {of}",
            aligned([*titles, *rows], ">" * len(titles[0])),
        ]
    )


def _row(point: Point, last: Point) -> list[str]:
    times = point.attention / last.attention if last.attention else 1.0
    return [
        f"{point.vocab_size:,}",
        f"{point.tokens:,}",
        f"{point.bytes_per_token:.2f}",
        f"{point.tokens_per_document:,.1f}",
        f"{times:.2f}×",
        f"{point.fertility:.2f}",
        share(point.coverage),
        f"{point.vocabulary_used:.0%}",
        f"{point.frequent:.0%}",
    ]


def short(number: float) -> str:
    """A number of parameters in three digits, for display.

    >>> short(6_553_600), short(7e9), short(768), short(999_999_999)
    ('6.55M', '7B', '768', '1B')
    """
    number = float(f"{number:.3g}")
    for unit, letter in _UNITS:
        if number >= unit:
            return f"{number / unit:.3g}{letter}"
    return f"{number:.3g}"
