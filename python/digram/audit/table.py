"""Audits as tables for a terminal, 80 columns wide."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from digram.audit.findings import Finding
from digram.errors import several
from digram.metrics.table import WIDTH, aligned
from digram.terminal import columns

if TYPE_CHECKING:
    from digram.audit.value import Audit

__all__ = ["table"]

_LINES = 3  # of details of a finding


def table(found: Audit) -> str:
    """The kinds that there is something of, the worst first, each with some of what was found.

    >>> import digram
    >>> print(table(digram.train("play play", max_merges=4).audit("play")))
    260 tokens, 0 special; a corpus of 1 text, 4 bytes, 1 token
    <BLANKLINE>
    warning  unused       3  1.2%  do not occur in the corpus
        [ay] [lay] [·play]
    note     bytes_only  13  5.0%  bytes become them, but no text
        [⟨C0⟩] [⟨C1⟩] [⟨F5⟩] [⟨F6⟩] [⟨F7⟩] [⟨F8⟩] [⟨F9⟩] [⟨FA⟩] …
    note     rare         1  0.4%  occur in the corpus, but seldom
        [play]
    <BLANKLINE>
    None: unreachable, ...
    """
    amount = f"{several(found.tokens, 'token')}, {found.special_tokens:,} special"
    if found.corpus is None:
        first = f"{amount}; no corpus"
    else:
        of = found.corpus
        sizes = (several(of.documents, "text"), several(of.bytes, "byte"))
        first = f"{amount}; a corpus of {', '.join([*sizes, several(of.tokens, 'token')])}"
    findings = found.findings
    if not findings:
        return f"{first}\n\nNothing was found."
    rows = [
        (one.severity, one.kind, f"{one.count:,}", _share(one), one.explanation) for one in findings
    ]
    heads = aligned(rows, "<<>><").splitlines()
    lines = [first, ""]
    for head, one in zip(heads, findings, strict=True):
        lines.append(head if columns(head) <= WIDTH else _cut(head, WIDTH))
        lines += [f"    {_cut(line, WIDTH - 4)}" for line in one.details[:_LINES]]
    none = [kind for kind, one in found.by_kind.items() if not one.count]
    if none:
        lines += ["", *textwrap.wrap(f"None: {', '.join(none)}.", WIDTH)]
    return "\n".join(lines)


def _share(one: Finding) -> str:
    shown = f"{one.share:.1%}"
    return "<0.1%" if shown == "0.0%" else shown


def _cut(text: str, width: int) -> str:
    """The beginning of a line, in so many columns."""
    if columns(text) <= width:
        return text
    kept = text
    while columns(kept) > width - 2:
        kept = kept[:-1]
    # A token is shown whole or not at all.
    whole = kept.rpartition(" ")[0] if "[" in text else kept
    return f"{(whole or kept).removesuffix(' …')} …"
