"""Evaluations as tables for a terminal, 80 columns wide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from digram.display.terminal import columns
from digram.errors import several

if TYPE_CHECKING:
    from digram.analysis.metrics.evaluation import Evaluation, Measures, Parallel

__all__ = ["WIDTH", "aligned", "share", "shortened", "side_by_side", "table"]

WIDTH = 80
_LEAST = 12  # minimum width of a name in columns

# Titles in two lines, with the function that formats the cells.
_COLUMNS: dict[tuple[str, str], Callable[[Measures], str]] = {
    ("", "tokens"): lambda of: f"{of.tokens:,}",
    ("bytes/", "token"): lambda of: f"{of.bytes_per_token:.2f}",
    ("chars/", "token"): lambda of: f"{of.characters_per_token:.2f}",
    ("", "fertility"): lambda of: f"{of.fertility:.2f}",
    ("whole", "words"): lambda of: f"{of.whole_words:.0%}",
    ("", "coverage"): lambda of: share(of.coverage),
    ("Rényi", "eff."): lambda of: f"{of.renyi_efficiency:.3f}",
}


def table(found: Evaluation) -> str:
    """The measures of all text in lines; those of several corpora in rows.

    >>> import digram
    >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
    >>> print(table(digram.evaluate(tok, {"en": "low low", "pl": "niski"}, reference="en")))
    tokens                     8  of 12 bytes, 12 characters, 3 words, 2 documents
    bytes per token        1.500
    ...
        tokens/           bytes/  chars/             whole
           line  premium   token   token  fertility  words  coverage
    en     3.00    1.00×    2.33    2.33       1.00   100%    100.0%
    pl     5.00    1.67×    1.00    1.00       5.00     0%    100.0%
    <BLANKLINE>
    Fewest tokens: en. Most: pl, 1.67 times those of en.
    Gini 0.125.
    """
    parts = [_one(found.total)]
    if found.by_name:
        parts.append(side_by_side(found.by_name, found.parallel))
    if found.parallel is not None:
        parts.append(_verdict(found.parallel))
    return "\n\n".join(parts)


def side_by_side(by_name: Mapping[str, Measures], parallel: Parallel | None = None) -> str:
    """The measures of several texts, or of several tokenizers, in rows; parallel ones by cost."""
    if parallel is None:
        order = [*by_name]
        titles = [*_COLUMNS]
    else:
        # The tokens per line say how many tokens there are, and names need the space.
        order = sorted(by_name, key=parallel.tokens_per_line.__getitem__)
        titles = [t for t in _COLUMNS if t not in {("", "tokens"), ("Rényi", "eff.")}]
    cells = [[_COLUMNS[title](by_name[name]) for title in titles] for name in order]
    if parallel is not None:
        premium = parallel.premium
        titles = [("tokens/", "line"), ("", "premium"), *titles]
        cells = [
            [f"{parallel.tokens_per_line[name]:,.2f}", f"{premium[name]:.2f}×", *row]
            for name, row in zip(order, cells, strict=True)
        ]
    heads = [[upper for upper, _ in titles], [lower for _, lower in titles]]
    widths = [max(map(columns, column)) for column in zip(*heads, *cells, strict=True)]
    width = max(WIDTH - sum(width + 2 for width in widths), _LEAST)
    names = ["", "", *(shortened(name, width) for name in order)]
    rows = [[name, *row] for name, row in zip(names, [*heads, *cells], strict=True)]
    return aligned(rows, "<" + ">" * len(titles))


def _one(of: Measures) -> str:
    numbers = ("byte", of.bytes), ("character", of.characters), ("word", of.words)
    parts = [several(number, noun) for noun, number in (*numbers, ("document", of.documents))]
    amount = f"of {', '.join(parts)}"
    size = f"{several(of.vocab_size, 'token')}, special ones not counted"
    rows = [
        ("tokens", f"{of.tokens:,}", ""),
        ("bytes per token", f"{of.bytes_per_token:.3f}", ""),
        ("characters per token", f"{of.characters_per_token:.3f}", ""),
        ("words per token", f"{of.words_per_token:.3f}", ""),
        ("fertility", f"{of.fertility:.3f}", "tokens per word, not counting white space"),
        ("whole words", f"{of.whole_words:.1%}", "of the words are one token"),
        ("coverage", share(of.coverage), "of the characters are not split between tokens"),
        ("entropy", f"{of.entropy:.3f}", "bits per token, Shannon's"),
        ("", f"{of.renyi_entropy:.3f}", f"bits per token, Rényi's of order {of.alpha:g}"),
        ("Rényi efficiency", f"{of.renyi_efficiency:.3f}", f"of log₂ of {size}"),
        ("vocabulary used", f"{of.vocabulary_used:.1%}", f"{of.tokens_used:,} tokens"),
    ]
    first, *others = aligned(rows, "<><").splitlines()
    wide = f"{first}  {amount}"
    if columns(wide) > WIDTH:
        wide = f"{first}\n{amount}"
    return "\n".join([wide, *others])


def _verdict(of: Parallel) -> str:
    best, worst, base = (shortened(name, 14) for name in (of.best, of.worst, of.reference))
    times = f"{of.premium[of.worst]:,.2f} times those of {base}"
    return f"Fewest tokens: {best}. Most: {worst}, {times}.\nGini {of.gini:.3f}."


def share(value: float) -> str:
    """A share as a percentage; 100.0% means all."""
    shown = f"{value:.1%}"
    return "99.9%" if shown == "100.0%" and value < 1 else shown


def shortened(text: str, width: int) -> str:
    """Shorten a text to a number of columns by leaving out its middle.

    >>> shortened("vocabs/cl100k_base.tiktoken", 14), shortened("中文中文", 5)
    ('vocabs…iktoken', '中…文')
    """
    if columns(text) <= width:
        return text
    for kept in range(len(text) - 1, 0, -1):
        end = (kept + 1) // 2
        short = f"{text[: kept // 2]}…{text[len(text) - end :]}"
        if columns(short) <= width:
            return short
    return "…"


def aligned(rows: Sequence[Sequence[str]], sides: str) -> str:
    """Rows in columns of equal width; wide characters count as two.

    >>> print(aligned([("a", "1"), ("中文", "20")], "<>"))
    a      1
    中文  20
    """
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for cell, width, side in zip(row, widths, sides, strict=True):
            padding = " " * (width - columns(cell))
            cells.append(cell + padding if side == "<" else padding + cell)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
