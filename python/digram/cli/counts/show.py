"""`digram counts show`: show the contents of a file of counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from digram.cli import _options, _printing, _verbs
from digram.cli.counts import _output
from digram.errors import several

__all__ = ["show"]


@click.command(cls=_verbs.Verb, epilog=_verbs.example("digram counts show counts.arrow"))
@click.argument("file", metavar="FILE")
@_options.rows_option(20, "The number of pretokens to show.")
@_options.json_option
def show(*, file: str, rows: int, as_json: bool) -> None:
    """Show the contents of FILE, a file of counts: totals, the pretokenizer, and the most frequent
    pretokens with their counts.
    """
    from digram import Counts

    counts = Counts.load(Path(file))
    facts = _output.facts(counts)
    most_common = counts.most_common(rows)
    if as_json:
        _printing.emit_json({**facts, "most_common": [_row(*row) for row in most_common]})
        return
    _printing.emit(f"{_printing.heading(several(len(counts), 'distinct pretoken'))}\n")
    for line in _summary(facts):
        _printing.emit(f"  {line}\n")
    if most_common:
        _printing.emit(f"\n{_printing.heading('Most frequent')}\n")
        for line in _lines(most_common):
            _printing.emit(f"  {line}\n")


def _row(piece: bytes, count: int) -> dict[str, Any]:
    return {"text": piece.decode("utf-8", "replace"), "hex": piece.hex(), "count": count}


def _summary(facts: dict[str, Any]) -> Iterator[str]:
    patterns = facts["patterns"]
    pretokenizer = facts["pretokenizer"] or (" then ".join(patterns) if patterns else "none")
    digits = f", digits {facts['digits']}" if facts["digits"] else ""
    yield f"pretokens    {facts['pretokens']:,} ({several(facts['bytes'], 'byte')})"
    yield f"documents    {facts['documents']:,}"
    yield f"pretokenizer {pretokenizer}{digits}"
    yield f"unit         {facts['unit']}"
    yield f"first places {'known' if facts['has_first'] else 'not known'}"
    yield f"fingerprint  {facts['fingerprint']}"


def _lines(most_common: list[tuple[bytes, int]]) -> Iterator[str]:
    from digram.display.terminal import visible

    width = max(5, *(len(f"{count:,}") for _, count in most_common))
    yield f"{'count':>{width}}  pretoken"
    for piece, count in most_common:
        shown = visible(piece)
        shown = shown if len(shown) <= 56 else shown[:55] + "…"
        yield f"{count:>{width},}  [{shown}]"
