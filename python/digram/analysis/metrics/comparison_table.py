"""A comparison as tables for a terminal, 80 columns wide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from digram.analysis.metrics.overlap import Numbers
from digram.analysis.metrics.table import WIDTH, aligned, share, shortened
from digram.display.terminal import columns, visible
from digram.errors import several

if TYPE_CHECKING:
    from digram.analysis.metrics.comparison import Both, Comparison
    from digram.analysis.metrics.overlap import Overlap, Used
    from digram.analysis.metrics.places import Place

__all__ = ["table"]

_NAME = 14  # columns of a tokenizer's name
_TOKENS = 30  # columns of the tokens of a place
_KINDS = 12  # rows of a vocabulary's kinds


def table(found: Comparison) -> str:
    """The tokens of all text, by name and by kind; the places that differ; tokens of only one.

    >>> import digram
    >>> small = digram.train("low low lower lowest", vocab_size=258)
    >>> large = digram.train("low low lower lowest", vocab_size=261)
    >>> print(table(digram.compare(small, large, "low lowest", names=("small", "large"))))
                  bytes  small  large  change  alike
    all text         10      6      3  -50.0%  30.0%
    <BLANKLINE>
    words, Latin     10      6      3  -50.0%  30.0%
    <BLANKLINE>
    Where large needs fewer tokens
    times  saved  small        large
        1      2  [·][low][e]  [·lowe]
        1      1  [s][t]       [st]
    <BLANKLINE>
    vocabulary          both  small alone  large alone
    all tokens           258            0            3
    other bytes          128            0            0
    ...
    """
    this, other = (shortened(name, _NAME) for name in found.names)
    parts = [_sums([{"all text": found.total}, found.by_name, found.by_kind], (this, other))]
    for title, places in (
        (f"Where {this} needs fewer tokens", found.this_fewer),
        (f"Where {other} needs fewer tokens", found.other_fewer),
        ("Where both need as many", found.as_many),
    ):
        if places:
            parts.append(f"{title}\n{_places(places, this, other)}")
    parts.append(_vocabulary(found.vocabulary, (this, other)))
    return "\n\n".join(parts)


def _sums(groups: Sequence[Mapping[str, Both]], names: Sequence[str]) -> str:
    """The tokens of each, the change from this to the other, and the share of text split alike."""
    titles = ["", "bytes", *names, "change", "alike"]
    blank = [""] * len(titles)
    cells = [
        [blank, *([name, *_row(of)] for name, of in group.items())] for group in groups if group
    ]
    rows = [titles, *(row for group in cells for row in group)]
    used = [max(map(columns, column)) + 2 for column in [*zip(*rows, strict=True)][1:]]
    shown = [[shortened(name, WIDTH - sum(used)), *row] for name, *row in rows]
    # The titles come directly above the first group.
    return aligned([shown[0], *shown[2:]], "<" + ">" * 5)


def _row(of: Both) -> list[str]:
    numbers = (f"{number:,}" for number in (of.bytes, of.this, of.other))
    return [*numbers, f"{of.change:+.1%}", share(of.agreement)]


def _places(places: Sequence[Place], this: str, other: str) -> str:
    rows = [["times", "saved", this, other]]
    rows += [
        [f"{one.count:,}", f"{abs(one.saved):,}", _tokens(one.this), _tokens(one.other)]
        for one in places
    ]
    if not any(one.saved for one in places):
        return aligned([[times, *cut] for times, _, *cut in rows], "><<")
    return aligned(rows, ">><<")


def _tokens(tokens: Sequence[bytes]) -> str:
    """Tokens in brackets; if they do not fit, their text and their number.

    >>> _tokens([b"low", b"er"]), _tokens([b"a"] * 11)
    ('[low][er]', 'aaaaaaaaaaa, 11 tokens')
    """
    shown = "".join(f"[{visible(token)}]" for token in tokens)
    if columns(shown) <= _TOKENS:
        return shown
    number = f", {several(len(tokens), 'token')}"
    return shortened(visible(b"".join(tokens)), _TOKENS - len(number)) + number


def _vocabulary(of: Overlap, names: Sequence[str]) -> str:
    kinds = [*of.by_kind.items()]
    shown, others = kinds[:_KINDS], kinds[_KINDS:]
    if others:
        sums = map(sum, zip(*(numbers for _, numbers in others), strict=True))
        shown.append((several(len(others), "other kind"), Numbers(*sums)))
    rows = [["vocabulary", "both", *(f"{name} alone" for name in names)]]
    rows += [
        [kind, *(f"{number:,}" for number in numbers)]
        for kind, numbers in [("all tokens", of.total), *shown]
    ]
    rows.append(["tokens of the text", "", f"{of.this_tokens:,}", f"{of.other_tokens:,}"])
    lines = [aligned(rows, "<>>>")]
    for name, used in zip(names, (of.this_used, of.other_used), strict=True):
        if used:
            lines.append(_most(name, used))
    return "\n".join(lines)


def _most(name: str, used: Sequence[Used]) -> str:
    """The most used tokens that only one vocabulary has, as many as fit on a line."""
    line = f"{name} alone, the most frequent:"
    for one in used:
        more = f" [{visible(one.token)}]"
        if columns(line + more) > WIDTH:
            break
        line += more
    return line
