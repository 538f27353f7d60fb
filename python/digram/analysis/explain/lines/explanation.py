"""Explanations as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from digram.analysis.explain.choosing import Chosen
from digram.analysis.explain.cuts import BYTES, RULES, WORDS
from digram.analysis.explain.lines.choosing import chosen
from digram.display import harmless
from digram.display.terminal import WIDTH, chip, chips, columns
from digram.errors import several
from digram.pretokenizers.pretokenizer import NAMED

if TYPE_CHECKING:
    from digram.analysis.explain.cuts import Cut
    from digram.analysis.explain.explanation import Explanation, Merging, Step
    from digram.tokenizer.merge import Merge

__all__ = [
    "NO_MORE",
    "OTHERS",
    "STEPS",
    "cut_out",
    "explained",
    "how",
    "named",
    "parts_used",
    "place_of",
    "steps_shown",
    "totals",
]

NO_MORE = "No adjacent pair has a merge."
STEPS = 60
"""The maximum number of merges that are shown."""
_WORK = 200_000  # symbols to process for the merges of one pretoken
OTHERS = 3
"""The maximum number of other candidates that are named."""
_STATE = 3  # lines for the tokens of one step


def explained(found: Explanation, *, color: bool = False, width: int = WIDTH) -> str:
    """An explanation, step by step.

    >>> import digram
    >>> tok = digram.train("banana", max_merges=2, pretokenizer=None)
    >>> print(explained(digram.explain(tok, "banana")))
    6 bytes, 1 pretoken, 3 tokens
    <BLANKLINE>
    [banana]  bytes 0 to 5, the whole text
      [b][a][n][a][n][a]
        rank 0, count 2: [a] + [n], the first of 2 places
      [b][an][a][n][a]
        rank 0, count 2: [a] + [n]; not yet rank 1 [b] + [an]
      [b][an][an][a]
        rank 1, count 1: [b] + [an]
      [ban][an][a] 257 256 97
        No adjacent pair has a merge.
    """
    parts = [totals(found)]
    for position, one in enumerate(found._each):
        parts.append("\n".join(_merging(one, found.pretokenizer, color, width, position)))
    used = parts_used(found)
    if used:
        wide = max(len(name) for name, _ in used)
        parts.append("\n".join([f"{name:{wide}}  {pattern}" for name, pattern in used]))
    return "\n\n".join(parts)


def totals(found: Explanation) -> str:
    """The size of the explained text."""
    numbers = (
        (len(found.text), "byte"), (len(found._each), "pretoken"), (len(found.ids), "token"),
    )  # fmt: skip
    return ", ".join(several(number, noun) for number, noun in numbers)


def _merging(
    one: Merging | Chosen, name: str | None, color: bool, width: int, position: int
) -> Iterator[str]:
    yield f"{chip(one.pretoken, position, color=color)}  {place_of(one)}, {cut_out(one, name)}"
    if isinstance(one, Chosen):
        yield from chosen(one, color)
        return
    ids = " ".join(map(str, one.ids))
    note = how(one)
    if note:
        yield f"  {note}"
    if one.how == "special":
        yield f"  {chip(one.pretoken, color=color)} {ids}"
        return
    if one.how == "whole" and not one.steps:
        yield f"  {chip(one.pretoken, color=color)} {ids}"
        return
    states = one.states
    last, number = len(one.steps), steps_shown(one)
    for step in one.steps[:number]:
        yield from _state(next(states), color, width)
        yield f"    {_reason(step, color, width - 4)}"
    if last > number:
        yield f"    ... {several(last - number, 'more merge')}"
    *upper, end = _state(one.tokens, color, width)
    yield from upper
    yield f"{end} {ids}" if len(ids) < width else f"{end} {ids[:width]} ..."
    if len(one.ids) > 1 and one.how == "merges":
        yield f"    {NO_MORE}"


def steps_shown(one: Merging) -> int:
    """How many merges of a pretoken are shown: fewer for a very long one."""
    return min(len(one.steps), STEPS, max(_WORK // len(one.pretoken), 3))


def how(one: Merging) -> str:
    """A note on a pretoken that was not made by its merges."""
    if one.how == "special":
        return "A special token, which takes part in no merge."
    if one.how == "merges":
        return ""
    used = "It is a token, and this vocabulary uses such pretokens whole (ignore_merges)"
    if one.steps:
        return f"{used}. Merges lead to the same:"
    return f"{used}, though merges do not lead to it."


def place_of(one: Merging | Chosen) -> str:
    """The bytes of a pretoken in the text."""
    last = one.start + len(one.pretoken) - 1
    return f"byte {one.start:,}" if last == one.start else f"bytes {one.start:,} to {last:,}"


def cut_out(one: Merging | Chosen, name: str | None) -> str:
    """Why a pretoken was cut out, in words."""
    cut = one.cut
    if one.how == "special":
        return "a special token"
    if cut.split is None:
        by = cut.pattern if cut.pattern in (RULES, WORDS, BYTES) else f"digits={cut.pattern!r}"
        how = "between pieces " if cut.between else ""
        return "the whole text" if cut.pattern is None else f"{how}cut out by {by}"
    of = _pattern(cut, name)
    if cut.between:
        return f"between two matches of {of}"
    if cut.alternative is None:
        return f"cut out by {of}"
    return f"cut out by part {cut.alternative + 1} of {of}"


def parts_used(found: Explanation) -> list[tuple[str, str]]:
    """The parts of patterns that cut something out, in order: the name and text of each."""
    cuts = {one.cut for one in found._each if one.cut.alternative is not None}
    found_parts = []
    for cut in sorted(cuts, key=lambda cut: (cut.split or 0, cut.alternative or 0)):
        name = f"part {(cut.alternative or 0) + 1} of {_pattern(cut, found.pretokenizer)}"
        found_parts.append((name, harmless(cut.pattern or "")))
    return found_parts


def _pattern(cut: Cut, name: str | None) -> str:
    """The name of the pattern of a cut."""
    several_of_it = name is not None and len(NAMED[name].patterns) > 1
    number = f"pattern {(cut.split or 0) + 1}"
    return number if name is None else f"{number} of {name}" if several_of_it else name


def _reason(step: Step, color: bool, width: int) -> str:
    """The merge that was applied, and other candidates."""
    chosen, *others = step.candidates
    text = f"{named(step.merge)}: {_pair(step.merge, color)}"
    if len(chosen.places) > 1:
        text += f", the first of {len(chosen.places):,} places"
    if not others:
        return text
    later = [f"rank {one.merge.rank:,} {_pair(one.merge, color)}" for one in others[:OTHERS]]
    if len(others) > OTHERS:
        later[-1] += f" and {several(len(others) - OTHERS, 'other')}"
    line = f"; not yet {', '.join(later)}"
    if columns(text + line) <= width:
        return text + line
    return f"{text};\n      not yet {', '.join(later)}"


def named(merge: Merge) -> str:
    """The rank of a merge, and its count in training, if known."""
    count = "" if merge.count is None else f", count {merge.count:,}"
    return f"rank {merge.rank:,}{count}"


def _pair(merge: Merge, color: bool) -> str:
    left, right = chips([merge.left, merge.right], color=color)
    return f"{left} + {right}"


def _state(tokens: Sequence[bytes], color: bool, width: int) -> Iterator[str]:
    """The tokens of one step in a few lines."""
    line, used, lines = "", 2, 1
    for one in islice(chips(tokens[: WIDTH * _STATE], color=color), WIDTH * _STATE):
        wide = columns(one)
        if line and used + wide > width - 2:
            if lines == _STATE:
                yield f"  {line}…"
                return
            yield f"  {line}"
            line, used, lines = "", 2, lines + 1
        line, used = line + one, used + wide
    yield f"  {line}"
