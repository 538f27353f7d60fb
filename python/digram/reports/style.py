"""The style of the page: on a screen in light and dark mode, on a phone, and on paper."""

from __future__ import annotations

from digram.reports.canvas import COLORS, FAINT, GRID, INK

__all__ = ["STYLE"]

# Figures are drawn once, in colours for paper. Dark mode replaces them by these.
_NIGHT = dict(
    zip(COLORS, ("#4fa8e0", "#ff8a3d", "#2cc79a", "#e39bc4", "#f2b53a", "#8fd0f5"), strict=True)
)

_BASE = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1c1c1e; --faint: #62626a; --line: #dcdce0; --grid: #e6e6ea;
  --soft: #f5f5f7; --accent: #0a5fa8; --error: #b3261e; --warning: #8a5a00;
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 64rem; padding: 3rem 1.5rem 5rem; background: var(--page);
  color: var(--ink); line-height: 1.55;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
h1, h2, h3 { line-height: 1.2; font-weight: 650; letter-spacing: -.01em; overflow-wrap: anywhere; }
h1 { font-size: 2.2rem; margin: .1rem 0 .6rem; }
h2 {
  font-size: 1.4rem; margin: 3.2rem 0 .6rem; padding-top: .9rem; border-top: 1px solid
  var(--line);
}
h3 .note { font-weight: 400; }
h3 { font-size: 1rem; margin: 1.8rem 0 .5rem; }
p, .note { max-width: 44rem; margin: .5rem 0; }
a { color: var(--accent); text-decoration-thickness: .06em; text-underline-offset: .15em; }
.kicker, .note, figcaption, caption, footer { color: var(--faint); font-size: .86rem; }
.kicker { margin: 0; }
.lead { font-size: 1.12rem; }
nav ul {
  list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; margin:
  1.2rem 0;
}
.keys {
  display: grid; grid-template-columns: repeat(4, 1fr); gap: .75rem; margin: 1.6rem 0;
  padding: 0;
}
.keys div { background: var(--soft); border-radius: .5rem; padding: .7rem .9rem; }
.keys dt { color: var(--faint); font-size: .82rem; }
.keys dd { margin: 0; font-size: 1.45rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.keys small { display: block; font-size: .76rem; font-weight: 400; color: var(--faint); }
.beside { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; align-items: flex-start; }
.beside > * { flex: 1 1 24rem; min-width: 0; }
figure { margin: 1rem 0; max-width: 28rem; }
figure svg { display: block; width: 100%; height: auto; overflow: visible; }
figcaption { margin-top: .4rem; }
b { font-weight: 600; color: var(--ink); }
.scroll { overflow-x: auto; margin: 1rem 0; }
table {
  border-collapse: collapse; min-width: min(20rem, 100%); font-size: .88rem;
  font-variant-numeric: tabular-nums;
}
caption { text-align: left; padding-bottom: .4rem; caption-side: top; }
th, td { padding: .16rem 1.1rem .16rem 0; text-align: left; vertical-align: top; }
thead th {
  font-weight: 500; color: var(--faint); border-bottom: 1px solid var(--line);
  vertical-align: bottom;
}
tbody tr + tr > * { border-top: 1px solid var(--grid); }
tbody tr.sum > * { border-top: 1px solid var(--faint); }
tbody th { font-weight: 500; overflow-wrap: break-word; }
tbody tr.sum th { white-space: nowrap; }
tr.here > * { font-weight: 650; }
td.n, th.n { text-align: right; }
td.n { white-space: nowrap; }
td.n:last-child, th.n:last-child { padding-right: 0; }
dl.words {
  display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .35rem 1.2rem;
  font-size: .88rem; max-width: 56rem;
}
dl.words dt { font-weight: 600; }
dl.words dd { margin: 0; color: var(--faint); overflow-wrap: anywhere; }
code, .mono {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9em;
  overflow-wrap: anywhere;
}
.told { display: inline-block; text-align: center; margin: 0 .5rem .3rem 0; vertical-align: top; }
.told small {
  display: block; color: var(--faint); font-size: .72rem; line-height: 1.2;
  font-variant-numeric: tabular-nums;
}
.text {
  font-size: .92rem; line-height: 1.75; background: var(--soft); border-radius: .5rem;
  padding: .7rem .9rem; margin: .5rem 0 1rem; overflow-wrap: anywhere;
}
.mark {
  font-size: .76rem; font-weight: 600; border-radius: .7rem; padding: .1rem .55rem; border:
  1px solid currentColor;
}
.error {
  color: var(--error); } .warning { color: var(--warning); } .mark.note { color:
  var(--faint); margin: 0;
}
details { margin: 1rem 0; }
summary { cursor: pointer; color: var(--accent); }
footer { margin-top: 3.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
@media (max-width: 40rem) {
  body { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.7rem; }
  dl.words { grid-template-columns: 1fr; gap: 0; }
  dl.words dd { margin-bottom: .5rem; }
  .keys { grid-template-columns: repeat(2, 1fr); }
}
@media print {
  html { font-size: 8.5pt; }
  body { max-width: none; padding: 0; }
  nav { display: none; }
  figure, tr, .text, .keys div { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; }
  .scroll { overflow: visible; }
  .text, .keys div { background: none; border: .5pt solid var(--line); }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""

_DARK = """
  :root {
    --page: #141416; --ink: #e9e9ec; --faint: #a0a0a8; --line: #38383e; --grid: #2a2a2f;
    --soft: #1e1e22; --accent: #6db8f2; --error: #ff8a80; --warning: #f2b53a;
  }
"""


def _painted(paper: str, screen: str) -> str:
    return (
        f'svg [fill="{paper}"] {{ fill: {screen}; }}\n'
        f'svg [stroke="{paper}"] {{ stroke: {screen}; }}\n'
    )


_GREYS = {INK: "ink", FAINT: "faint", GRID: "grid"}
_DRAWN = "svg > rect { fill: none; }\n" + "".join(
    _painted(paper, f"var(--{name})") for paper, name in _GREYS.items()
)

STYLE = (
    f"{_BASE}{_DRAWN}@media screen and (prefers-color-scheme: dark) {{{_DARK}"
    f"{''.join(_painted(paper, screen) for paper, screen in _NIGHT.items())}}}\n"
)
