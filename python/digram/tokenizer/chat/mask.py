"""Which part of a chat the model has to write: what a loss is computed for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate

from digram.tokenizer.chat.control import Found
from digram.tokenizer.chat.marked import GENERATED, TEMPLATE, Marked

__all__ = ["generated", "mask_of", "said_by_assistant"]

Span = tuple[int, int]


def generated(text: Marked) -> list[Span]:
    """The places of `{% generation %}` blocks, in characters."""
    runs = text.runs()
    ends = accumulate(run.length for run in runs)
    return [
        (end - run.length, end)
        for run, end in zip(runs, ends, strict=True)
        if run.said == GENERATED
    ]


def said_by_assistant(
    text: Marked, found: Sequence[Found], special: Collection[str], prompt: str
) -> list[Span]:
    """What the assistant says, by the origin of texts.

    A message goes from its first character to its last. Before it, what the template writes after
    the generation prompt belongs to it, too; and after it, what the template writes up to the first
    special token, with that token, which ends the message.
    """
    ends = [one.stop for one in found if one.token in special]
    spans: list[Span] = []
    next_end = after = 0
    for low, start, stop, high in _groups(text):
        at = text.rfind(prompt, max(low, after), start) if prompt else -1
        first = start if at < 0 else at + len(prompt)
        while next_end < len(ends) and ends[next_end] <= stop:
            next_end += 1
        is_ended = next_end < len(ends) and ends[next_end] <= high
        after = ends[next_end] if is_ended else stop
        spans.append((first, after))
    return spans


def _groups(text: Marked) -> list[tuple[int, int, int, int]]:
    """For each message of the assistant, the start and end of its text, between those of what the
    template writes around it.
    """
    groups: list[tuple[int, int, int, int]] = []
    at = edge = start = said = low = 0
    for run in text.runs():
        if run.trust != TEMPLATE or run.said:
            if said and run.said != said:
                groups.append((low, start, edge, at))
            if run.said and run.said != said:
                low, start = edge, at
            said, edge = run.said, at + run.length
        at += run.length
    return [*groups, (low, start, edge, at)] if said else groups


def mask_of(spans: Sequence[Span], offsets: Sequence[Span]) -> list[int]:
    """1 for each token that has a part of a span, 0 for others; both are in ascending order.

    >>> mask_of([(2, 5)], [(0, 2), (2, 4), (4, 6), (6, 7)])
    [0, 1, 1, 0]
    """
    mask, index = [], 0
    for start, stop in offsets:
        while index < len(spans) and start >= spans[index][1]:
            index += 1
        mask.append(int(index < len(spans) and stop > spans[index][0]))
    return mask
