"""How each figure is drawn: for a column of a paper, in colours that everyone can distinguish.

Each function takes the rows of a figure and returns an `altair` chart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from digram.reports.canvas import (
    COLORS,
    FAINT,
    GRID,
    HEIGHT,
    INK,
    LINE,
    apart,
    color,
    few,
    key,
    marked,
    multiples,
    named_rows,
    plot,
    shape,
    themed,
    ticks,
)

if TYPE_CHECKING:
    from digram.reports.charts import Row

__all__ = ["ALL", "curve", "kinds", "lengths", "premium", "ranks"]

ALL = "all text"
"""The name of all texts together."""

_SHARES = {"in the vocabulary": "of_vocabulary", "in the text": "of_text"}
_TIMES = "datum.label + '×'"


def curve(rows: Sequence[Row]) -> Any:
    """Bytes per token over the sizes, one line per text; a mark at the size of this vocabulary."""
    import altair as alt

    rows, names = few(rows, ALL)
    last = max(row["vocab_size"] for row in rows)
    first = min(last - 1, *(row["vocab_size"] for row in rows))
    top = max(1.1, *(row["bytes_per_token"] for row in rows))
    x = alt.X(
        "vocab_size:Q",
        title="size of the vocabulary (tokens)",
        scale=alt.Scale(type="log", domain=[first, last], nice=False),
        axis=alt.Axis(values=ticks(first, last), format="~s", grid=False),
    )
    y = alt.Y(
        "bytes_per_token:Q", title="bytes per token", scale=alt.Scale(domain=[1, top], nice=True)
    )
    lines = plot(rows).mark_line(strokeWidth=1.6).encode(x, y, color(names))
    today = plot([{"vocab_size": last, "name": f"{last:,} tokens"}])
    rule = today.mark_rule(color=FAINT, strokeDash=[2, 2]).encode(alt.X("vocab_size:Q"))
    size = today.mark_text(align="right", baseline="bottom", dx=-4, color=FAINT, y="height", dy=-4)
    size = size.encode(alt.X("vocab_size:Q"), text="name:N")
    ends = [row for row in rows if row["vocab_size"] == last]
    marks = marked(ends, x, y, color(names), shape(names))
    values = [row["bytes_per_token"] for row in ends]
    named = [
        {**row, "at": at, "label": f"{row['corpus']} {row['bytes_per_token']:.2f}"}
        for row, at in zip(ends, apart(values, (top - 1) * LINE / HEIGHT), strict=True)
    ]
    text = plot(named).mark_text(align="left", dx=7, limit=90)
    text = text.encode(x, alt.Y("at:Q"), text="label:N")
    return themed(alt.layer(rule, lines, size, marks, text), HEIGHT)


def premium(rows: Sequence[Row], reference: str) -> Any:
    """One dot per language, each on its own line, the cheapest at the top."""
    import altair as alt

    y = alt.Y("language:N", **named_rows([row["language"] for row in rows]))
    shown = [row for row in rows if row["premium"] > 0]
    maximum = max([1.0, *(row["premium"] for row in shown)])
    least = min([1.0, *(row["premium"] for row in shown)])
    first = least * 0.95
    last = maximum * max(1.1, (maximum / first) ** 0.25)  # with room for the last label
    x = alt.X(
        "premium:Q",
        title=f"tokens per line, as a multiple of {reference}",
        scale=alt.Scale(type="log", domain=[first, last], nice=False),
        axis=alt.Axis(values=multiples(least, maximum), format="~g", grid=False, labelExpr=_TIMES),
    )
    shown = [{**row, "first": first, "label": f"{row['premium']:.2f}×"} for row in shown]
    stems = plot(shown).mark_rule(color=GRID, strokeWidth=0.8)
    stems = stems.encode(alt.X("first:Q"), alt.X2("premium"), y)
    rule = plot([{"premium": 1}]).mark_rule(color=FAINT, strokeDash=[2, 2]).encode(x)
    dots = marked(shown, x, y, alt.ColorValue(COLORS[0]), size=26)
    text = plot(shown).mark_text(align="left", dx=6, fontSize=7.5, color=INK)
    text = text.encode(x, y, text="label:N")
    return themed(alt.layer(stems, rule, dots, text), LINE * len(rows) + 4)


def ranks(rows: Sequence[Row]) -> Any:
    """The share of each token in the text over its rank, both on logarithmic axes."""
    import altair as alt

    rows, names = few(rows, ALL)
    last = max(2, *(row["rank"] for row in rows))
    x = alt.X(
        "rank:Q",
        title="rank of the token, by use",
        scale=alt.Scale(type="log", domain=[1, last], nice=False),
        axis=alt.Axis(values=ticks(1, last), format="~s", grid=False),
    )
    y = alt.Y(
        "share:Q",
        title="share of the tokens of the text",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(format="~%", values=[10.0**-power for power in range(12)]),
    )
    lines = plot(rows).mark_line(strokeWidth=1.6).encode(x, y, color(names))
    # One mark per line, each at a different rank, since the lines may overlap.
    by_text = [[*of] for _, of in groupby(rows, itemgetter("corpus"))]
    places = [last ** (0.2 + 0.1 * number) for number in range(len(by_text))]
    some = [_nearest(of, place) for of, place in zip(by_text, places, strict=True)]
    marks = marked(some, x, y, color(names), shape(names))
    return themed(alt.layer(lines, marks, *key(names)), HEIGHT)


def lengths(rows: Sequence[Row]) -> Any:
    """The share of each length in the vocabulary, and in the tokens of the text."""
    import altair as alt

    x = alt.X(
        "bytes:N",
        title="length of the token (bytes)",
        sort=[row["bytes"] for row in rows],
        axis=alt.Axis(labelAngle=0, labelFontSize=7, grid=False),
        scale=alt.Scale(type="point", padding=0.5),
    )
    y = alt.Y("share:Q", title="share of the tokens", axis=alt.Axis(format="%"))
    both, names = _both(rows, "bytes"), [*_SHARES]
    lines = plot(both).mark_line(strokeWidth=1.4).encode(x, y, color(names, "of"))
    marks = marked(both, x, y, color(names, "of"), shape(names, "of"), size=24)
    return themed(alt.layer(lines, marks, *key(names, "of")), HEIGHT)


def kinds(rows: Sequence[Row]) -> Any:
    """The share of each kind in the vocabulary, and in the tokens of the text, a line per kind."""
    import altair as alt

    y = alt.Y("kind:N", **named_rows([row["kind"] for row in rows], grid=True))
    both, names = [row for row in _both(rows, "kind") if row["share"]], [*_SHARES]
    least = min(row["share"] for row in both)
    x = alt.X(
        "share:Q",
        title="share of the tokens",
        scale=alt.Scale(type="log", domain=[least * 0.7, 1.3], nice=False),
        axis=alt.Axis(
            values=[10.0**-power for power in range(9, -1, -1)],
            format="~%",
            grid=False,
            labelFlush=False,
        ),
    )
    pairs = [
        {"kind": row["kind"], "first": row["of_vocabulary"], "last": row["of_text"]}
        for row in rows
        if row["of_vocabulary"] and row["of_text"]
    ]
    joined = plot(pairs).mark_rule(color=FAINT, strokeWidth=0.8)
    joined = joined.encode(alt.X("first:Q"), alt.X2("last"), y)
    legend = alt.Legend(orient="top", title=None, symbolSize=36, labelFontSize=8, offset=2)
    encodings = color(names, "of", legend=legend), shape(names, "of", legend=legend)
    return themed(alt.layer(joined, marked(both, x, y, *encodings)), (LINE + 2) * len(rows) + 4)


def _both(rows: Sequence[Row], name: str) -> list[Row]:
    """The shares of the vocabulary and of the text as separate rows."""
    return [
        {name: row[name], "of": of, "share": row[field]}
        for of, field in _SHARES.items()
        for row in rows
    ]


def _nearest(rows: Sequence[Row], rank: float) -> Row:
    return min(rows, key=lambda row: abs(float(row["rank"]) - rank))
