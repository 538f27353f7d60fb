"""Verifications as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram._util.progress import amount
from digram._util.wording import said
from digram.analysis.metrics.table import WIDTH, aligned, shortened
from digram.analysis.verification.sides import FACTS, Mode
from digram.analysis.verification.value import named
from digram.display.terminal import chip
from digram.errors import several

if TYPE_CHECKING:
    from digram.analysis.verification.value import Counterexample, Outcome, Verification

__all__ = ["table"]

_AROUND = 6  # tokens shown before and after the first that differs
_MODES: dict[Mode, str] = {"text": "special tokens as text", "parse": "special tokens parsed"}


def table(found: Verification) -> str:
    """What was compared, and the counterexample.

    >>> import digram
    >>> tok = digram.train("low low lower", max_merges=3, pretokenizer="gpt2")
    >>> other = digram.train("low low lower", max_merges=2, pretokenizer="gpt2")
    >>> print(table(digram.verify(tok, other, fuzz=500)))
    Different: ids, found after ... s.
    <BLANKLINE>
      a  digram
      b  digram
    <BLANKLINE>
    text ' low' (4 characters, special tokens as text)
    <BLANKLINE>
             a       b
    ids      258     32 257
    tokens   [·low]  [·][low]
    offsets  0-4     0-1 1-4
    decoded  ' low'  ' low'
    <BLANKLINE>
    The first token that differs has index 0.
    <BLANKLINE>
    Compared, with special tokens as text:
      ids, offsets, decoded text
    Compared, with special tokens parsed:
      ids, offsets, decoded text, text decoded without special tokens
    Not compared: nothing was left out
    Seed 0
    """
    size = f"{several(found.texts, 'text')}, {amount(found.bytes)}, {found.seconds:.1f} s"
    shown = found.counterexample
    if shown is None:
        each = several(round(found.texts / found.seconds), "text") if found.seconds else ""
        rate = f", {each} per second" if each else ""
        head = f"Equal: {size}{rate}."
    else:
        head = f"Different: {named(shown.what)}, found after {size}."
    a, b = found.names
    lines = [head, "", f"  a  {a}", f"  b  {b}", ""]
    if shown is not None:
        lines += [*_counterexample(shown), ""]
    for mode, facts in found.compared.items():
        told = ", ".join(FACTS[one] for one in facts)
        lines += [f"Compared, with {_MODES[mode]}:", f"  {told}"]
    if len(found.not_compared) < 2:
        lines.append(f"Not compared: {next(iter(found.not_compared), 'nothing was left out')}")
    else:
        lines += ["Not compared:", *(f"  {reason}" for reason in found.not_compared)]
    if found.refused:
        lines.append(f"Refused by both: {several(found.refused, 'text')}")
    return "\n".join([*lines, f"Seed {found.seed}"])


def _counterexample(found: Counterexample) -> list[str]:
    unit = "character" if isinstance(found.text, str) else "byte"
    text = ascii(found.text) if isinstance(found.text, str) else repr(found.text)
    size = several(len(found.text), unit)
    lines = [f"text {shortened(text, 4 * WIDTH)} ({size}, {_MODES[found.mode]})"]
    if not found.is_shortest:
        lines.append("It may not be the shortest: the time for shortening it was over.")
    rows = [("", "a", "b"), *_rows(found)]
    lines += ["", aligned([[shortened(cell, WIDTH) for cell in row] for row in rows], "<<<")]
    if found.what in ("ids", "offsets"):
        lines += ["", f"The first token that differs has index {found.place}."]
        if found.what == "offsets":
            lines[-1] += (
                " Its ids are equal.\nOffsets are left out with "
                f"{said('offsets=False', '--no-offsets')}."
            )
    elif found.what != "error":
        lines += ["", f"The first character that differs has index {found.place}."]
    return lines


def _rows(found: Counterexample) -> list[tuple[str, str, str]]:
    """Each fact of both sides; of many tokens, those around the first that differs."""
    start = max(0, found.place - _AROUND) if found.what in ("ids", "offsets") else 0
    part = slice(start, start + 2 * _AROUND + 1)
    one, other = (_cells(side, part) for side in (found.a, found.b))
    rows = [(name, one[name], other[name]) for name in one if one[name] or other[name]]
    return [row for row in rows if row[0] != _KEPT or found.what == "decoded_without_special"]


_KEPT = "without special"


def _cells(of: Outcome, part: slice) -> dict[str, str]:
    if of.error is not None:
        return dict.fromkeys(("ids", "tokens", "offsets", "decoded", _KEPT), "") | {
            "error": of.error
        }
    offsets = of.offsets or ()
    spans = " ".join(f"{a}" if b is None else f"{a}-{b}" for a, b in offsets[part])
    return {
        "ids": _cut(" ".join(map(str, of.ids[part])), len(of.ids), part),
        "tokens": "".join(chip(token, color=False) for token in of.tokens[part]),
        "offsets": spans,
        "decoded": "" if of.decoded is None else ascii(of.decoded),
        _KEPT: "" if of.decoded_without_special is None else ascii(of.decoded_without_special),
        "error": "",
    }


def _cut(text: str, size: int, part: slice) -> str:
    return f"{'… ' * (part.start > 0)}{text}{' …' * (part.stop < size)}" or "none"
