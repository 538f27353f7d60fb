"""Tokens as HTML: safe for any content, readable on paper and in dark mode, without scripts.

Notebooks and the sites that show them strip style sheets, so each element has its style inline.
Colours are transparent fills over any background, and text keeps the colour of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

from digram.display import symbols
from digram.display.colors import color_of
from digram.display.symbols import Drawn, drawn, in_context, joined
from digram.display.width import isolated

__all__ = [
    "MOST",
    "context",
    "faint",
    "fragment",
    "harmless",
    "heading",
    "pair",
    "report",
    "report_page",
    "table",
    "token",
    "tokens",
]

MOST = 2000
"""The maximum number of tokens to display; a notebook with more scrolls slowly."""

_MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
_CHIP = (
    "display:inline-block;max-width:100%;border-radius:3px;padding:0 2px;margin:1px;"
    f"white-space:pre-wrap;overflow-wrap:anywhere;direction:ltr;unicode-bidi:isolate;{_MONO}"
)
# A page's own font for preformatted text might not align the columns.
_REPORT = (
    "background:none;color:inherit;margin:0;line-height:1.35;white-space:pre;overflow-x:auto;"
    f"text-align:left;direction:ltr;{_MONO}"
)
_CELL = "padding:1px 12px 1px 0;text-align:left;vertical-align:top;border:0;background:none"
_NUMBER = f"{_CELL};text-align:right;font-variant-numeric:tabular-nums"


def fragment(*parts: str) -> str:
    """Join markup to one fragment that fits into any page."""
    style = "color:inherit;background:none;line-height:1.5;overflow-x:auto"
    return f'<div class="digram" style="{style}">{"".join(parts)}</div>'


def harmless(text: str) -> str:
    r"""A text of several lines as HTML; invisible characters are shown as in tokens.

    >>> harmless("<b> a\u202eb")
    '&lt;b&gt; a⟨U+202E⟩b'
    """
    return "\n".join([escape(symbols.harmless(line)) for line in text.split("\n")])


def report_page(found: object) -> str:
    """A result that prints as tables: an evaluation, comparison, curve, advice or estimate."""
    return fragment(report(str(found)))


def report(text: str) -> str:
    r"""Text in aligned columns; right-to-left text stays in its column.

    >>> report("a  אב")
    '<pre style="...">a  <bdi dir="ltr">אב</bdi></pre>'
    """
    words = re.split(r"([ \n]+)", text)
    shown = [
        f'<bdi dir="ltr">{harmless(word)}</bdi>' if isolated(word) != word else harmless(word)
        for word in words
    ]
    return f'<pre style="{_REPORT}">{"".join(shown)}</pre>'


def heading(text: str) -> str:
    """A line above what follows."""
    return f'<div style="font-weight:600;margin:.6em 0 .2em">{harmless(text)}</div>'


def faint(text: str) -> str:
    """A remark in a faint colour."""
    return f'<span style="opacity:.7">{harmless(text)}</span>'


def table(rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """A table of cells that are HTML; the columns of these indices are right-aligned."""
    right = set(numbers)
    lines = []
    for row in rows:
        cells = "".join(_cell(cell, at in right) for at, cell in enumerate(row))
        lines.append(f'<tr style="background:none">{cells}</tr>')
    style = f"border-collapse:collapse;border:0;margin:0;{_MONO};font-size:.95em"
    return f'<table style="{style}"><tbody>{"".join(lines)}</tbody></table>'


def token(data: bytes, position: int = 0, title: str = "") -> str:
    """One token.

    >>> token(b"<b>")
    '<span style="..."><bdi>&lt;b&gt;</bdi></span>'
    """
    return _chip(drawn(data), position, title)


def tokens(
    data: Iterable[bytes],
    below: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    framed: Sequence[bool] | None = None,
    most: int = MOST,
    positions: Sequence[int] | None = None,
) -> str:
    """Adjacent tokens, with optional labels below, tooltips, and frames around some.

    A line feed ends a line. Tokens after the first `most` are only counted. `positions` are the
    numbers of the colours.
    """
    out = []
    every = in_context(data)
    for at, parts in enumerate(islice(every, most)):
        title = titles[at] if titles is not None else ""
        position = at if positions is None else positions[at]
        chip = _chip(parts, position, title, is_framed=framed is not None and framed[at])
        if below is not None:
            chip = (
                '<span style="display:inline-block;vertical-align:top;margin:0 4px 3px 0">'
                f'{chip}<span style="display:block;opacity:.7;font-size:.8em;{_MONO}">'
                f"{harmless(below[at])}</span></span>"
            )
        out.append(chip)
        if parts and parts[-1].kind == "break":
            out.append("<br>")
    rest = sum(1 for _ in every)
    if rest:
        out.append(faint(f" and {rest:,} more"))
    return f"<div>{''.join(out)}</div>"


def pair(left: bytes, right: bytes) -> str:
    """The two parts of a merge."""
    first, second = in_context([left, right])
    return f"{_chip(first, 0, '')} + {_chip(second, 1, '')}"


def context(before: bytes, data: bytes, after: bytes) -> str:
    """A token within the text around it."""
    left, own, right = in_context([before, data, after])
    return (
        f'<span style="direction:ltr;unicode-bidi:isolate">{_marked(left)}{_chip(own, 0, "")}'
        f"{_marked(right)}</span>"
    )


def _chip(parts: Sequence[Drawn], position: int, title: str, is_framed: bool = False) -> str:
    tooltip = f' title="{harmless(title)}"' if title else ""
    frame = ";outline:1px dashed currentColor;outline-offset:-1px" if is_framed else ""
    style = f"{_CHIP};background:{color_of(position).css}{frame}"
    return f'<span{tooltip} style="{style}">{_marked(parts)}</span>'


def _marked(parts: Iterable[Drawn]) -> str:
    """Each run isolated in its direction, symbols faint, and shared characters underlined."""
    out = []
    for text, kind in joined(parts):
        if kind == "text":
            out.append(f"<bdi>{escape(text)}</bdi>")
            continue
        line = ";text-decoration:underline dotted" if kind == "part" else ""
        out.append(f'<bdi dir="ltr" style="opacity:.65{line}">{escape(text)}</bdi>')
    return "".join(out)


def _cell(markup: str, is_number: bool) -> str:
    return f'<td style="{_NUMBER if is_number else _CELL}">{markup}</td>'
