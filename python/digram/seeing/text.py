"""Explanations, trees and places as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from digram.drawing import Drawn, in_context, runs
from digram.errors import several
from digram.pretokenizers import NAMED
from digram.terminal import chip, chips, columns

if TYPE_CHECKING:
    from digram.seeing.explanation import Explanation, Merging, Step
    from digram.seeing.places import Places, Sample
    from digram.seeing.tree import Tree
    from digram.tokenizer import Merge

__all__ = [
    "amount",
    "branches",
    "cut_out",
    "explained",
    "how",
    "left_out",
    "made",
    "named",
    "place_of",
    "places",
    "told",
    "totals",
    "tree_lines",
]

WIDTH = 80
NO_MORE = "No two neighbours are left that have a merge."
STEPS = 60
"""Merges of one pretoken that are shown; longer ones are nothing to read."""
_STATE = 3  # lines that the tokens of a moment may take
OTHERS = 3  # candidates that are named
_WORDS = 20
_NODES = 500  # lines of a tree
_DEEPEST = 20  # levels that are drawn


def explained(found: Explanation, *, color: bool = False, width: int = WIDTH) -> str:
    """An explanation, step by step.

    >>> import digram
    >>> tok = digram.train("banana", max_merges=2, pretokenizer=None)
    >>> print(explained(tok.explain("banana")))
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
        No two neighbours are left that have a merge.
    """
    parts = [totals(found)]
    for position, one in enumerate(found.pretokens):
        parts.append("\n".join(_merging(one, found.pretokenizer, color, width, position)))
    return "\n\n".join(parts)


def totals(found: Explanation) -> str:
    """What an explanation is of."""
    numbers = (
        (len(found.text), "byte"), (len(found.pretokens), "pretoken"), (len(found.ids), "token"),
    )  # fmt: skip
    return ", ".join(several(number, noun) for number, noun in numbers)


def _merging(
    one: Merging, name: str | None, color: bool, width: int, position: int
) -> Iterator[str]:
    yield f"{chip(one.pretoken, position, color=color)}  {place_of(one)}, {cut_out(one, name)}"
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
    last = len(one.steps)
    for step in one.steps[:STEPS]:
        yield from _state(next(states), color, width)
        yield f"    {_reason(step, color, width - 4)}"
    if last > STEPS:
        yield f"    ... {several(last - STEPS, 'more merge')}"
    *upper, end = _state(one.tokens, color, width)
    yield from upper
    yield f"{end} {ids}" if len(ids) < width else f"{end} {ids[:width]} ..."
    if len(one.ids) > 1 and one.how == "merges":
        yield f"    {NO_MORE}"


def how(one: Merging) -> str:
    """What is to be said of a pretoken whose merges are not what made it."""
    if one.how == "special":
        return "A special token, which nothing is merged with."
    if one.how == "merges":
        return ""
    taken = "It is a token, and this vocabulary takes such pretokens whole (ignore_merges)"
    if one.steps:
        return f"{taken}. Merges lead to the same:"
    return f"{taken}, though merges do not lead to it."


def place_of(one: Merging) -> str:
    """Where a pretoken stands."""
    last = one.start + len(one.pretoken) - 1
    return f"byte {one.start:,}" if last == one.start else f"bytes {one.start:,} to {last:,}"


def cut_out(one: Merging, name: str | None) -> str:
    """Why a pretoken was cut out, in words."""
    cut = one.cut
    if one.how == "special":
        return "a special token"
    if cut.split is None:
        if cut.pattern is not None:
            return f"cut out by digits={cut.pattern!r}"
        return "the whole text"
    of = name or f"pattern {cut.split + 1}"
    number = len(NAMED[name].patterns) if name is not None else 1
    split = f" of pattern {cut.split + 1}" if number > 1 else ""
    if cut.between:
        return f"between two matches of {of}"
    if cut.alternative is None:
        return f"cut out by {of}"
    return f"cut out by `{cut.pattern}`, part {cut.alternative + 1}{split} of {of}"


def _reason(step: Step, color: bool, width: int) -> str:
    """Which merge was applied, and which others not yet."""
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
    """The rank of a merge, and its count in training where that is known."""
    count = "" if merge.count is None else f", count {merge.count:,}"
    return f"rank {merge.rank:,}{count}"


def _pair(merge: Merge, color: bool) -> str:
    left, right = chips([merge.left, merge.right], color=color)
    return f"{left} + {right}"


def _state(tokens: Sequence[bytes], color: bool, width: int) -> Iterator[str]:
    """The tokens of a moment in a few lines."""
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


def tree_lines(tree: Tree, *, color: bool = False) -> Iterator[str]:
    r"""A tree with its branches.

    >>> import digram
    >>> tok = digram.train("aaaaaaaa", max_merges=3, pretokenizer=None)
    >>> print("\n".join(tree_lines(tok.tree("aaaaaaaa"))))
    [aaaaaaaa]  id 258, rank 2, count 1
    ├─ [aaaa]  id 257, rank 1, count 3
    │  ├─ [aa]  id 256, rank 0, count 7
    │  │  ├─ [a]  id 97
    │  │  └─ [a]  id 97
    │  └─ [aa]  id 256, as above
    └─ [aaaa]  id 257, as above
    """
    for number, (lefts, node, note) in enumerate(branches(tree)):
        if number == _NODES:
            yield "..."
            return
        stems = "".join("│  " if left else "   " for left in lefts[:-1])
        branch = ("├─ " if lefts[-1] else "└─ ") if lefts else ""
        yield f"{stems}{branch}{chip(node.token, len(lefts), color=color)}  {made(node, note)}"


def branches(tree: Tree) -> Iterator[tuple[tuple[bool, ...], Tree, str]]:
    """The nodes of a tree as they are drawn: which side each is on from the top, and what to note.

    What was drawn before is not drawn again, nor what lies deeper than one can see.
    """
    waiting: list[tuple[tuple[bool, ...], Tree]] = [((), tree)]
    before: set[int] = set()
    while waiting:
        lefts, node = waiting.pop()
        left, right = node.left, node.right
        if left is None or right is None:
            yield lefts, node, ""
        elif node.id in before:
            yield lefts, node, "as above"
        elif len(lefts) == _DEEPEST:
            yield lefts, node, f"of {several(len(node.token), 'byte')}, not drawn further"
        else:
            before.add(node.id)
            yield lefts, node, ""
            waiting += [((*lefts, False), right), ((*lefts, True), left)]


def made(node: Tree, note: str = "") -> str:
    """What is known of a node beside its token."""
    parts = [f"id {node.id}"]
    if note == "as above":
        return f"{parts[0]}, {note}"
    if node.rank is not None:
        parts.append(f"rank {node.rank:,}")
    if node.count is not None:
        parts.append(f"count {node.count:,}")
    if node.kind in _KINDS:
        parts.append(_KINDS[node.kind])
    return ", ".join([*parts, note] if note else parts)


_KINDS = {"special": "a special token", "whole": "no merge makes it"}


def places(
    found: Places, *, color: bool = False, rows: int = _WORDS, width: int = WIDTH
) -> Iterator[str]:
    r"""Where a token stands: its words with their counts, and lines of context.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", max_merges=3, pretokenizer="gpt2")
    >>> print("\n".join(places(tok.where(" low", "low low lower"))))
    [·low]  id 258, stands 2 times
      in 2 words, of 3 pretokens in 1 document, 13 bytes
    <BLANKLINE>
       count  word
           1  [·low]
           1  [·lower]
    <BLANKLINE>
                                  low[·low]·lower              text 0, byte 3
                              low·low[·low]er                  text 0, byte 7
    """
    yield f"{chip(found.token, color=color)}  id {found.id}, stands {several(found.times, 'time')}"
    yield f"  {amount(found)}"
    if found.words and rows:
        yield ""
        yield f"{'count':>8}  word"
    for word in found.words[:rows]:
        yield f"{word.count:>8,}  {chip(word.word, color=color)}"
    if len(found.words) > rows:
        yield f"{'':>8}  and {several(len(found.words) - rows, 'word')} more"
    if found.missed:
        yield f"{'':>8}  {left_out(found)}"
    if found.samples:
        yield ""
    for sample in found.samples:
        yield _sample(sample, color, max(width - _PLACE, 20))


def amount(found: Places) -> str:
    """What was looked through."""
    return (
        f"in {several(len(found.words), 'word')}, of {several(found.pretokens, 'pretoken')} in "
        f"{several(found.documents, 'document')}, {several(found.bytes, 'byte')}"
    )


def left_out(found: Places) -> str:
    """How far the counts of words may be off."""
    return f"rare words were left out; counts may be up to {found.missed:,} too low"


def told(sample: Sample) -> str:
    """In which text a sample stands, and where."""
    place = f"text {sample.document:,}" if sample.path is None else sample.path
    if sample.path is not None and sample.record is not None:
        place += f", record {sample.record:,}"
    return f"{place}, byte {sample.offset:,}"


_PLACE = 20  # columns that are left for where it stands


def _sample(sample: Sample, color: bool, width: int) -> str:
    before, _, after = in_context([sample.before, sample.token, sample.after])
    own = chips([sample.before, sample.token, sample.after], color=color)[1]
    side = max((width - columns(own)) // 2, 4)
    left = _text(_fitting(before[::-1], side)[::-1])
    right = _text(_fitting(after, side))
    start, end = " " * (side - columns(left)), " " * (side - columns(right))
    return f"  {start}{left}{own}{right}{end}  {told(sample)}"


def _fitting(parts: Sequence[Drawn], width: int) -> Sequence[Drawn]:
    """As many of the first ones as fit into so many columns."""
    used = 0
    for at, part in enumerate(parts):
        used += columns(part.text)
        if used > width:
            return parts[:at]
    return parts


def _text(parts: Sequence[Drawn]) -> str:
    return "".join([part.text for part in runs(parts)])
