"""Checks of rules as tables for a terminal, 80 columns wide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram.analysis.metrics.table import WIDTH, aligned, shortened
from digram.display.terminal import columns, visible
from digram.errors import several

if TYPE_CHECKING:
    from digram.analysis.rule_check.value import Place, RulesCheck

__all__ = ["table"]

_EXAMPLES = 3


def table(found: RulesCheck) -> str:
    """The kinds of rules with their places, and the most frequent violations.

    >>> import digram
    >>> tok = digram.train("5 mg of iron, 10 mg", max_merges=6, pretokenizer="gpt2")
    >>> rules = digram.Rules(["iron"], units=["mg"])
    >>> print(table(digram.check_rules(tok, "5 mg of iron, 5mg", rules)))
    1 text, 17 bytes, 12 tokens
    <BLANKLINE>
    rule   places  violated
    terms       1         1  100.0%
        "·iron": [·i] [r] [on], 1 time, first in text 0 at byte 7
    units       2         2  100.0%
        "mg": [·mg], 1 time, first in text 0 at byte 2
        "mg": [m] [g], 1 time, first in text 0 at byte 15
    <BLANKLINE>
    10 tokens with these rules, 12 without: 16.7% fewer.
    """
    sizes = (several(found.documents, "text"), several(found.bytes, "byte"))
    lines = [", ".join([*sizes, several(found.tokens, "token")])]
    if found.by_kind:
        head = ("rule", "places", "violated", "")
        rows = [
            (one.kind, f"{one.places:,}", f"{one.violated:,}", f"{one.share:.1%}")
            for one in found.by_kind.values()
        ]
        first, *heads = aligned([head, *rows], "<>>>").splitlines()
        lines += ["", first.rstrip()]
        for line, one in zip(heads, found.by_kind.values(), strict=True):
            lines.append(line)
            lines += [f"    {_line(place)}" for place in one.examples[:_EXAMPLES]]
    if found.with_rules is None or found.without_rules is None or found.cost is None:
        return "\n".join(lines)
    totals = (
        f"{several(found.with_rules, 'token')} with these rules, {found.without_rules:,} without"
    )
    change = f"{abs(found.cost):.1%} {'more' if found.cost >= 0 else 'fewer'}"
    return "\n".join([*lines, "", f"{totals}: {change}."])


def _line(place: Place) -> str:
    """A place on one line, with as many of its tokens as fit."""
    where = f"first in text {place.document:,} at byte {place.start:,}"
    end = f", {several(place.times, 'time')}, {where}"
    room = WIDTH - 4 - len(end)
    begin = f'"{shortened(visible(place.text.encode()), room // 2)}":'
    shown = [f" [{visible(token)}]" for token in place.became]
    kept = shown
    while len(kept) > 1 and columns(begin + "".join(kept)) > room - 2 * (kept != shown):
        kept = kept[:-1]
    return f"{begin}{''.join(kept)}{' …' * (kept != shown)}{end}"
