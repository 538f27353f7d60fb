"""What the figures share: size, type, colours, axes and labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from digram.reports.charts import Row

__all__ = [
    "COLORS", "FAINT", "GRID", "HEIGHT", "INK", "LINE", "PAIR", "SHAPES", "apart", "color", "few",
    "key", "marked", "multiples", "named_rows", "plot", "shape", "themed", "ticks",
]  # fmt: skip

WIDTH, HEIGHT = 240, 150
"""The width in points; a column in most proceedings is 3.3 inches wide."""
LINE = 11
"""The distance between two lines of labels in points."""
INK, FAINT, GRID = "#222222", "#666666", "#e4e4e4"
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""The colours of Okabe and Ito 2008: distinct for all kinds of colour vision."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
"""A shape for each colour, for printing in black."""
PAIR = (INK, COLORS[4])
"""For the vocabulary and the text, in figures that do not distinguish texts."""

_FONT = "Arial, Helvetica, Liberation Sans, sans-serif"


def themed(chart: Any, height: float) -> Any:
    """A chart as wide as a column, in the type and the greys of all figures."""
    import altair as alt

    axis = {
        "labelFontSize": 8, "titleFontSize": 8.5, "titleFontWeight": "normal", "labelColor": INK,
        "titleColor": INK, "gridColor": GRID, "gridWidth": 0.6, "domainColor": FAINT,
        "tickColor": FAINT, "tickSize": 3, "labelPadding": 2, "titlePadding": 4,
    }  # fmt: skip
    size = alt.AutoSizeParams(type="fit-x", contains="padding")
    return (
        chart.properties(width=WIDTH, height=height, padding=4, autosize=size)
        .configure(font=_FONT, background="white", aria=False)
        .configure_axis(**axis)
        .configure_view(stroke=None)
        .configure_text(fontSize=8, color=INK)
        .configure_legend(labelColor=INK)
    )


def plot(rows: Sequence[Row]) -> Any:
    """A chart with these rows as its inline data."""
    import altair as alt

    return alt.Chart(alt.Data(values=[*rows]))


def color(names: Sequence[str], field: str = "corpus", **options: Any) -> Any:
    """Colours by name, without a legend by default."""
    import altair as alt

    colors = COLORS if field == "corpus" else PAIR
    scale = alt.Scale(domain=[*names], range=[*colors[: len(names)]])
    return alt.Color(f"{field}:N", scale=scale, **{"legend": None, **options})


def shape(names: Sequence[str], field: str = "corpus", **options: Any) -> Any:
    """Shapes of marks by name, as for `color`."""
    import altair as alt

    scale = alt.Scale(domain=[*names], range=[*SHAPES[: len(names)]])
    return alt.Shape(f"{field}:N", scale=scale, **{"legend": None, **options})


def marked(rows: Sequence[Row], *encoded: Any, size: float = 34) -> Any:
    """Marks without an outline."""
    return plot(rows).mark_point(filled=True, size=size, opacity=1).encode(*encoded)


def key(names: Sequence[str], field: str = "corpus") -> list[Any]:
    """A legend of names with their marks at the top right, where no line passes."""
    import altair as alt

    rows = [{field: name, "at": 8 + LINE * number} for number, name in enumerate(names)]
    left, place = alt.XValue(WIDTH * 0.42), alt.Y("at:Q", scale=None, axis=None)
    text = plot(rows).mark_text(align="left", dx=7, limit=110)
    return [
        marked(rows, left, place, color(names, field), shape(names, field)),
        text.encode(left, place, text=f"{field}:N"),
    ]


def named_rows(names: Sequence[str], grid: bool = False) -> dict[str, Any]:
    """A vertical axis of names, in this order."""
    import altair as alt

    axis = alt.Axis(ticks=False, domain=False, grid=grid, labelLimit=110)
    return {"title": None, "sort": [*names], "axis": axis}


def few(rows: Sequence[Row], always: str) -> tuple[list[Row], list[str]]:
    """The rows of at most as many texts as there are colours, and the names of these texts.

    >>> rows = [{"corpus": name} for name in "abcdefgh"]
    >>> few(rows, always="h")[1]
    ['a', 'b', 'c', 'd', 'e', 'h']
    """
    names = [*dict.fromkeys(row["corpus"] for row in rows)]
    if len(names) > len(COLORS):
        last = always if always in names else names[len(COLORS) - 1]
        names = [*names[: len(COLORS) - 1], last]
    return [row for row in rows if row["corpus"] in names], names


def apart(values: Sequence[float], gap: float) -> list[float]:
    """Positions for labels near their values, at least a gap apart.

    >>> apart([4.0, 4.1, 1.0], 0.5)
    [3.8, 4.3, 1.0]
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    # A group of labels that touch is centred at the mean of their values, not counting the gaps.
    groups: list[list[float]] = []
    for number, at in enumerate(order):
        groups.append([values[at] - number * gap])
        while len(groups) > 1 and _mean(groups[-2]) > _mean(groups[-1]):
            last = groups.pop()
            groups[-1] += last
    places = [_mean(group) for group in groups for _ in group]
    found = [0.0] * len(values)
    for number, (at, place) in enumerate(zip(order, places, strict=True)):
        found[at] = round(place + number * gap, 9)
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def ticks(first: float, last: float) -> list[float]:
    """Round numbers on a logarithmic axis.

    >>> ticks(257, 16_000), ticks(1, 10_000)
    ([500.0, 1000.0, 2000.0, 5000.0, 10000.0], [1.0, 10.0, 100.0, 1000.0, 10000.0])
    """
    found = [step * 10.0**power for power in range(13) for step in (1, 2, 5)]
    found = [value for value in found if first <= value <= last]
    return found if len(found) <= 7 else [value for value in found if f"{value:g}"[0] == "1"]


def multiples(first: float, last: float) -> list[float]:
    """Round multiples on a logarithmic axis.

    >>> multiples(1, 2.6), multiples(0.9, 14.2)
    ([1.0, 1.5, 2.0, 3.0], [1.0, 2.0, 5.0, 10.0])
    """
    steps = (1, 2, 5) if last / first > 5 else (1, 1.5, 2, 3, 5)
    found = [step * 10.0**power for power in range(-2, 4) for step in steps]
    return [value for value in found if first * 0.95 <= value <= last * 1.2]
