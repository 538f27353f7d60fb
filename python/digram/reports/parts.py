"""Elements of the page: tables, figures, lists. Strings are escaped here, `Markup` is not.

Invisible characters of strings are shown as symbols.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from digram.display import html

if TYPE_CHECKING:
    from digram.reports.charts import Chart
    from digram.reports.contents import Entry

__all__ = [
    "Markup",
    "chip",
    "chips",
    "classed",
    "element",
    "figure",
    "key_figures",
    "named_list",
    "paragraph",
    "shown",
    "table",
]

_LONG = 48  # the maximum number of characters to show of a token


class Markup(str):
    """HTML made by this package or by `digram.display.html`."""

    __slots__ = ()


def shown(text: str) -> Markup:
    r"""A text as HTML, safe for any content.

    >>> shown("<b> & \x1b")
    '&lt;b&gt; &amp; ␛'
    """
    return text if isinstance(text, Markup) else Markup(html.harmless(text))


def element(name: str, *inner: str, **attributes: str) -> Markup:
    """An element of strings and markup; `class_` is the attribute `class`.

    >>> element("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    written = "".join(f' {key.rstrip("_")}="{escape(v)}"' for key, v in attributes.items())
    return Markup(f"<{name}{written}>{''.join(map(shown, inner))}</{name}>")


def paragraph(*inner: str, class_: str = "") -> Markup:
    """A paragraph."""
    return element("p", *inner, class_=class_) if class_ else element("p", *inner)


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    texts: int = 1,
    marked: dict[int, str] | None = None,
) -> Markup:
    """A table with names in the first column; `texts` columns are text, the others numbers.

    `marked` maps rows, by index, to a class.
    """
    kinds = ["" if at < texts else "n" for at in range(len(head))]
    cells = [
        element("th", cell, scope="col", **_class(kind))
        for cell, kind in zip(head, kinds, strict=True)
    ]
    lines = []
    for number, row in enumerate(rows):
        first, *others = row
        line = [element("th", first, scope="row", **_class(kinds[0]))]
        line += [element("td", c, **_class(k)) for c, k in zip(others, kinds[1:], strict=True)]
        lines.append(element("tr", *line, **_class((marked or {}).get(number, ""))))
    titled = [element("caption", caption)] if caption else []
    inner = element("thead", element("tr", *cells)), element("tbody", *lines)
    return element("div", element("table", *titled, *inner), class_="scroll")


def figure(chart: Chart, number: int, text: str) -> Markup:
    """A figure drawn in the page, with its caption."""
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", chart.svg())
    label = f'role="img" aria-label="{escape(chart.title)}" '
    drawn = Markup(svg.replace("<svg ", f"<svg {label}", 1))
    title = element("b", f"Figure {number}. {chart.title}.")
    return element("figure", drawn, element("figcaption", title, " ", text))


def key_figures(entries: Iterable[tuple[str, str, str]]) -> Markup:
    """The key figures at the top: a name, a number and a remark each."""
    cells = [
        element("div", element("dt", name), element("dd", value, element("small", remark)))
        for name, value, remark in entries
    ]
    return element("dl", *cells, class_="keys")


def named_list(entries: Iterable[tuple[str, str]]) -> Markup:
    """Names with their descriptions."""
    pairs = [element("dt", name) + element("dd", text) for name, text in entries]
    return element("dl", *map(Markup, pairs), class_="words")


def chip(token: bytes, position: int = 0, title: str = "") -> Markup:
    """A token in its colour; a long one is shortened."""
    if len(token) <= _LONG:
        return Markup(html.token(token, position, title))
    start = token[:_LONG].decode("utf-8", "ignore").encode() or token[:_LONG]
    return Markup(html.token(start, position, title) + shown(f" … {len(token)} bytes"))


def chips(entries: Iterable[Entry], below: Callable[[Entry], str] | None = None) -> Markup:
    """Tokens from a list, each with its id and count as a tooltip, and a label below."""
    drawn = []
    for at, one in enumerate(entries):
        token = chip(one.token, at, f"id {one.id}, {one.times:,} times")
        if below is not None:
            token = element("span", token, element("small", below(one)), class_="told")
        drawn.append(token)
    return element("div", *drawn, class_="text")


def classed(markup: str) -> tuple[str, str]:
    """Replace inline styles by classes; returns the markup and the style sheet.

    >>> classed('<i style="color:red">a</i> <b title="t" style="color:red">b</b>')
    ('<i class="s0">a</i> <b title="t" class="s0">b</b>', '.s0 { color:red }')

    Strings in it are escaped, so every quotation mark belongs to the markup.
    """
    names: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        return f'class="{names.setdefault(found[1], f"s{len(names)}")}"'

    short = re.sub(r'(?<= )style="([^"]*)"', named, markup)
    return short, "\n".join(f".{name} {{ {style} }}" for style, name in names.items())


def _class(name: str) -> dict[str, str]:
    return {"class_": name} if name else {}
