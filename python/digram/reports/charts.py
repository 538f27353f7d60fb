"""The figures of a report: the data of each, and its files."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from digram._util.storage import atomic_write
from digram._util.validation import path_name
from digram.display import harmless
from digram.errors import OptionError
from digram.reports import drawings

if TYPE_CHECKING:
    from digram.analysis.metrics import Curve
    from digram.reports.contents import Group
    from digram.reports.gathering import Report

__all__ = ["Chart", "Row", "charts", "check_installed"]

Row = dict[str, Any]
_RANKS = 96  # points of a curve over ranks


@dataclass(frozen=True, eq=False)
class Chart:
    """One figure: its data, and the code that draws it when needed.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", max_merges=4, pretokenizer="gpt2")
    >>> chart = digram.report(tok, ["low lower"]).charts["lengths"]
    >>> chart.data[0]
    {'bytes': '1', 'tokens': 256, 'used': 1, 'times': 1, 'of_vocabulary': 0.98..., 'of_text': ...}
    >>> print(chart.csv())
    bytes,tokens,used,times,of_vocabulary,of_text
    1,256,1,1,0.98...
    ...

    `data` are rows of plain values, which are also the rows of the CSV. `altair()` returns a chart
    of the package altair (Vega-Lite) that you can change: `pip install ".[plots]"`. Figures are
    drawn in this process, without a browser or a network, and are the same each time.
    """

    name: str
    title: str
    """The title, in one line."""
    data: tuple[Row, ...]
    _draw: Callable[[Sequence[Row]], Any] = field(repr=False)

    def altair(self) -> Any:
        """The figure as an `altair` chart; `OptionError` if altair is not installed."""
        check_installed()
        return self._draw(self.data)

    def svg(self) -> str:
        """The figure as SVG, as wide as a column of a paper; a unit is a point (1/72 inch)."""
        return self._svg

    def png(self) -> bytes:
        """The figure as PNG, 300 dots per inch."""
        out = io.BytesIO()
        self.altair().save(out, format="png", ppi=300)
        return out.getvalue()

    @cached_property
    def _svg(self) -> str:
        text = io.StringIO()
        self.altair().save(text, format="svg")
        return _in_points(text.getvalue())

    def csv(self) -> str:
        """The data as CSV, with a header line."""
        out = io.StringIO()
        if self.data:
            writer = csv.DictWriter(out, self.data[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.data)
        return out.getvalue()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the figure; the suffix of the file is `.svg`, `.png` or `.csv`. The write is
        atomic.

        `OptionError` for another suffix, and if altair is not installed; OSError as
        `Tokenizer.save`.
        """
        kind = Path(path_name(path)).suffix.lower()
        if kind == ".png":
            atomic_write(path, self.png())
        elif kind in (".svg", ".csv"):
            atomic_write(path, (self.svg() if kind == ".svg" else self.csv()).encode())
        else:
            raise OptionError(
                f"a figure cannot be written to {path_name(path)!r}.",
                value=path,
                hint="Choose a name that ends in .svg, .png or .csv.",
            )

    def _repr_html_(self) -> str:
        return self.svg()


def charts(of: Report) -> dict[str, Chart]:
    """The figures for which there is data."""
    found: dict[str, Chart] = {}

    def add(name: str, title: str, rows: Iterator[Row], draw: Callable[..., Any]) -> None:
        data = tuple(rows)
        if data:
            found[name] = Chart(name, title, data, draw)

    add("curve", "Compression by size of the vocabulary", _curve(of.curves), drawings.curve)
    if of.parallel is not None and of.parallel.parallel is not None:
        reference = harmless(of.parallel.parallel.reference)
        title = f"The cost of the same lines relative to {reference}"
        add("premium", title, _premium(of), lambda rows: drawings.premium(rows, reference))
    add("ranks", "How often each token is used", _ranks(of), drawings.ranks)
    by_length, by_kind = of.contents.by_length, of.contents.by_kind
    add("lengths", "Tokens by length", _groups("bytes", by_length), drawings.lengths)
    add("kinds", "Tokens by kind and script", _groups("kind", by_kind), drawings.kinds)
    return found


def _curve(curves: dict[str, Curve]) -> Iterator[Row]:
    for name, one in curves.items():
        for point in one if one.bytes else ():
            yield {
                "corpus": harmless(name) if name else drawings.ALL,
                "vocab_size": point.vocab_size,
                "tokens": point.tokens,
                "bytes_per_token": point.bytes_per_token,
            }


def _premium(of: Report) -> Iterator[Row]:
    assert of.parallel is not None
    costs = of.parallel.parallel
    assert costs is not None
    for name in sorted(costs.premium, key=lambda name: (costs.premium[name], name)):
        yield {
            "language": harmless(name),
            "tokens_per_line": costs.tokens_per_line[name],
            "premium": costs.premium[name],
        }


def _ranks(of: Report) -> Iterator[Row]:
    """Ranks at equal ratios; all ranks would make a large file that looks the same."""
    for name, one in of.evaluation.by_name.items():
        times = sorted((n for n in one.times.tolist() if n), reverse=True)
        total, last = sum(times), len(times)
        places = sorted({round(last ** (step / _RANKS)) for step in range(_RANKS + 1)})
        for rank in places if times else ():
            yield {
                "corpus": harmless(name),
                "rank": rank,
                "times": times[rank - 1],
                "share": times[rank - 1] / total,
            }


def _groups(title: str, groups: Sequence[Group]) -> Iterator[Row]:
    tokens, times = (
        sum(values) for values in ((g.tokens for g in groups), (g.times for g in groups))
    )
    for one in groups:
        yield {
            title: one.name,
            "tokens": one.tokens,
            "used": one.used,
            "times": one.times,
            "of_vocabulary": one.tokens / (tokens or 1),
            "of_text": one.times / (times or 1),
        }


def check_installed() -> None:
    """Raise an error if the packages that draw figures are not installed."""
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ModuleNotFoundError:
        raise OptionError(
            "figures need altair and vl-convert, which are not installed.",
            hint='Install them in the folder of digram\'s clone: pip install ".[plots]".',
        ) from None


def _in_points(svg: str) -> str:
    """Set the size of a drawing in points; Vega's SVG has no unit.

    >>> _in_points('<svg width="240" height="150" viewBox="0 0 240 150"><rect width="240"/></svg>')
    '<svg width="240pt" height="150pt" viewBox="0 0 240 150"><rect width="240"/></svg>'
    """
    head, bracket, rest = svg.partition(">")
    for side in ("width", "height"):
        before, name, value = head.partition(f' {side}="')
        size, quote, after = value.partition('"')
        head = f"{before}{name}{size}pt{quote}{after}"
    return head + bracket + rest
