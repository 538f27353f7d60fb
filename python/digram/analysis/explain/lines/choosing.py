"""Explanations of models without merges, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from digram.display.terminal import chip, chips
from digram.errors import several

if TYPE_CHECKING:
    from digram.analysis.explain.choosing import Choice, Chosen

__all__ = ["CHOICES", "chosen", "totalled"]

CHOICES = 60
"""The maximum number of tokens of a pretoken that are shown one by one."""
_OTHERS = 3


def chosen(one: Chosen, color: bool) -> Iterator[str]:
    r"""The tokens of a pretoken, each with what decided it.

    >>> import digram
    >>> tok = digram.train("low low lower", max_merges=4, model="wordpiece")
    >>> [word] = digram.explain(tok, "loww").chosen
    >>> print("\n".join(chosen(word, color=False)))
      [·low] the longest token that fits; shorter: [·lo] [·l]
      [w] the only token that fits
      [·low][w] 10 8
    """
    for choice in one.choices[:CHOICES]:
        yield f"  {chip(choice.token, color=color)} {_why(one, choice, color)}"
    if len(one.choices) > CHOICES:
        yield f"  ... {several(len(one.choices) - CHOICES, 'more token')}"
    ids = " ".join(map(str, one.ids[:CHOICES]))
    yield f"  {''.join(chips(one.tokens[:CHOICES], color=color))} {ids}{totalled(one)}"
    for other in one.alternatives:
        tokens = "".join(chips(other.tokens[:CHOICES], color=color))
        yield f"    next: {tokens}, sum {other.sum:.4g}"


def _why(one: Chosen, choice: Choice, color: bool) -> str:
    if one.how == "special":
        return "a special token"
    if one.how == "unknown":
        return f"the whole word is unknown: {one.reason}"
    if one.how == "scores":
        return "unknown text" if choice.score is None else f"score {choice.score:.4g}"
    if not choice.others:
        return "the only token that fits"
    shorter = " ".join(chips(choice.others[:_OTHERS], color=color))
    more = len(choice.others) - _OTHERS
    return f"the longest token that fits; shorter: {shorter}" + (
        f" and {several(more, 'other')}" if more > 0 else ""
    )


def totalled(one: Chosen) -> str:
    """The sum of scores, if it is known."""
    return "" if one.sum is None else f", sum {one.sum:.4g}"
