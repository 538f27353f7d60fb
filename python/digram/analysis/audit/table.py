"""Audits as tables for a terminal, 80 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from digram.analysis.audit.findings import Finding
from digram.analysis.metrics.table import WIDTH, aligned
from digram.display.terminal import columns
from digram.errors import several

if TYPE_CHECKING:
    from digram.analysis.audit.value import Audit

__all__ = ["table"]

_LINES = 3  # of the details of a finding


def table(audit: Audit) -> str:
    """The remedies, and the kinds with findings, the most serious first.

    >>> import digram
    >>> print(table(digram.audit(digram.train("play play", max_merges=4), "play")))
    260 tokens, 0 special; a corpus of 1 text, 4 bytes, 1 token
    <BLANKLINE>
    What to do:
      unused: Prune these tokens, or train on text that is more like this corpus.
    <BLANKLINE>
    warning  unused       3  1.2%  do not occur in the corpus
        [ay] [lay] [·play]
    note     bytes_only  13  5.0%  only invalid UTF-8 is encoded to them
        [⟨C0⟩] [⟨C1⟩] [⟨F5⟩] [⟨F6⟩] [⟨F7⟩] [⟨F8⟩] [⟨F9⟩] [⟨FA⟩] …
    note     rare         1  0.4%  occur rarely in the corpus
        [play]
    <BLANKLINE>
    None: unreachable, ...
    """
    amount = f"{several(audit.tokens, 'token')}, {audit.special_tokens:,} special"
    if audit.corpus is None:
        first = f"{amount}; no corpus"
    else:
        corpus = audit.corpus
        sizes = (several(corpus.documents, "text"), several(corpus.bytes, "byte"))
        first = f"{amount}; a corpus of {', '.join([*sizes, several(corpus.tokens, 'token')])}"
    findings = audit.findings
    if not findings:
        return f"{first}\n\nNothing was found."
    rows = [
        (finding.severity, finding.kind, f"{finding.count:,}", _share(finding), finding.explanation)
        for finding in findings
    ]
    heads = aligned(rows, "<<>><").splitlines()
    lines = [first, "", *_what_to_do(findings), ""]
    for head, finding in zip(heads, findings, strict=True):
        lines.append(head if columns(head) <= WIDTH else _cut(head, WIDTH))
        lines += [f"    {_cut(line, WIDTH - 4)}" for line in finding.details[:_LINES]]
    none = [kind for kind, finding in audit.by_kind.items() if not finding.count]
    if none:
        lines += ["", *textwrap.wrap(f"None: {', '.join(none)}.", WIDTH)]
    return "\n".join(lines)


def _what_to_do(findings: Sequence[Finding]) -> list[str]:
    """A sentence for each remedy, with the kinds that it applies to; notes have none."""
    kinds: dict[str, list[str]] = {}
    for finding in findings:
        if finding.remedy:
            kinds.setdefault(finding.remedy, []).append(finding.kind)
    if not kinds:
        return ["No action is needed: these are notes."]
    lines = ["What to do:"]
    for remedy, names in kinds.items():
        paragraph = f"{', '.join(names)}: {remedy}"
        lines += textwrap.wrap(paragraph, WIDTH, initial_indent="  ", subsequent_indent="    ")
    return lines


def _share(finding: Finding) -> str:
    shown = f"{finding.share:.1%}"
    return "<0.1%" if shown == "0.0%" else shown


def _cut(text: str, width: int) -> str:
    """The beginning of a line, cut to a number of columns."""
    if columns(text) <= width:
        return text
    line = text
    while columns(line) > width - 2:
        line = line[:-1]
    # A token is shown completely or not at all.
    whole = line.rpartition(" ")[0] if "[" in text else line
    return f"{(whole or line).removesuffix(' …')} …"
