"""Explanations, trees, places and replays as HTML for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from digram.analysis.explain.choosing import Chosen
from digram.analysis.explain.lines import explanation as words
from digram.analysis.explain.lines.choosing import chosen
from digram.analysis.explain.lines.places import amount, left_out, located
from digram.analysis.explain.lines.replay import colors
from digram.analysis.explain.lines.tree import branches, made
from digram.display import html
from digram.errors import several

if TYPE_CHECKING:
    from digram.analysis.explain.explanation import Explanation, Merging, Step
    from digram.analysis.explain.frames import Replay
    from digram.analysis.explain.places import Places, Sample
    from digram.analysis.explain.tree import Tree

__all__ = [
    "explained",
    "places",
    "replayed",
    "tokens_page",
    "tree_page",
]

_PRETOKENS = 100
_STATE = 120  # tokens of one step
_WORDS = 30
_NODES = 1000
_INDENTED = '<div style="margin-left:1.5em">{}</div>'
_NODE = (
    '<div style="display:inline-flex;flex-direction:column;align-items:stretch">'
    '<div style="text-align:center;display:grid">{}'
    '<span style="opacity:.65;font-size:.7em;line-height:1.1">{}</span></div>'
    '<div style="display:flex;align-items:flex-start;justify-content:center">'
)
_END_OF_NODE = "</div></div>"


def tokens_page(tokens: Sequence[bytes], ids: Sequence[int] | None) -> str:
    """The tokens of a text, with their ids below them if given."""
    below = None if ids is None else [str(id) for id in ids[: html.MOST]]
    return html.fragment(html.tokens(tokens, below))


def explained(found: Explanation) -> str:
    """An explanation, step by step."""
    parts = [html.heading(words.totals(found)), html.tokens(found.tokens)]
    for position, one in enumerate(found._each[:_PRETOKENS]):
        name = found.pretokenizer
        if isinstance(one, Chosen):
            parts.append(_chosen(one, name, position))
        else:
            parts.append(_merging(one, name, position))
    if len(found._each) > _PRETOKENS:
        rest = len(found._each) - _PRETOKENS
        parts.append(html.faint(f"and {several(rest, 'pretoken')} more"))
    used = words.parts_used(found)
    if used:
        parts.append(html.table([(html.faint(name), html.harmless(text)) for name, text in used]))
    return html.fragment(*parts)


def _chosen(one: Chosen, name: str | None, position: int) -> str:
    reason = f" {words.place_of(one)}, {words.cut_out(one, name)}"
    lines = "".join(_INDENTED.format(html.harmless(line)) for line in chosen(one, color=False))
    return (
        f'<details open style="margin:.5em 0"><summary style="cursor:pointer">'
        f"{html.token(one.pretoken, position)}{html.faint(reason)}</summary>{lines}</details>"
    )


def _merging(one: Merging, name: str | None, position: int) -> str:
    reason = f" {words.place_of(one)}, {words.cut_out(one, name)}"
    note = words.how(one)
    rows = []
    states = one.states
    number = words.steps_shown(one)
    for step in one.steps[:number]:
        rows += [_state(next(states)), _INDENTED.format(_reason(step))]
    if len(one.steps) > number:
        rest = len(one.steps) - number
        rows.append(_INDENTED.format(html.faint(f"... {several(rest, 'more merge')}")))
    rows.append(_state(one.tokens, one.ids))
    if len(one.ids) > 1 and one.how == "merges":
        rows.append(_INDENTED.format(html.faint(words.NO_MORE)))
    lines = "".join(map(_INDENTED.format, rows))
    return (
        f'<details open style="margin:.5em 0"><summary style="cursor:pointer">'
        f"{html.token(one.pretoken, position)}{html.faint(reason)}</summary>"
        f"{html.faint(note) if note else ''}{lines}</details>"
    )


def _reason(step: Step) -> str:
    """The merge that was applied, and other candidates."""
    chosen, *others = step.candidates
    parts = [html.faint(f"{words.named(step.merge)}: "), _pair(step.merge.left, step.merge.right)]
    if len(chosen.places) > 1:
        parts.append(html.faint(f", the first of {len(chosen.places):,} places"))
    for number, other in enumerate(others[: words.OTHERS]):
        note = f"{'; not yet' if number == 0 else ','} rank {other.merge.rank:,} "
        parts += [html.faint(note), _pair(other.merge.left, other.merge.right)]
    if len(others) > words.OTHERS:
        parts.append(html.faint(f" and {several(len(others) - words.OTHERS, 'other')}"))
    return "".join(parts)


def tree_page(tree: Tree) -> str:
    """A merge tree: each token above its two parts."""
    out: list[str] = []
    levels = 0  # nodes that are open
    for lefts, node, note in islice(branches(tree), _NODES):
        out.append(_END_OF_NODE * (levels - len(lefts)))
        levels = len(lefts) + 1
        title = made(node, note)
        rank = "" if node.rank is None or note == "as above" else f"{node.rank:,}"
        token = html.token(node.token, len(lefts), title)
        out.append(_NODE.format(token, rank or "&nbsp;"))
    out.append(_END_OF_NODE * levels)
    note = f"{made(tree)}. Below each token its rank."
    return html.fragment(html.heading(note), *out)


def places(found: Places) -> str:
    """The occurrences of a token: its words, and lines of context."""
    note = f" id {found.id}, occurs {several(found.times, 'time')} {amount(found)}"
    parts = [f"<div>{html.token(found.token)}{html.faint(note)}</div>"]
    entries = [(f"{word.count:,}", html.token(word.word)) for word in found.words[:_WORDS]]
    if entries:
        parts.append(html.table([(html.faint("count"), html.faint("word")), *entries], numbers=[0]))
    if len(found.words) > _WORDS:
        parts.append(html.faint(f"and {several(len(found.words) - _WORDS, 'word')} more"))
    if found.missed:
        parts.append(html.faint(left_out(found)))
    samples = [
        (html.context(one.before, one.token, one.after), html.faint(_place(one)))
        for one in found.samples
    ]
    if samples:
        parts.append(html.table(samples))
    return html.fragment(*parts)


def replayed(found: Replay) -> str:
    """The first frames of a replay, one below the other."""
    frames = several(len(found.frames), "merge")
    parts = [
        html.heading(f"{frames} of {found.merges:,} apply to this text"),
        _played(found, -1),
    ]
    for frame in found.frames[: words.STEPS]:
        merge = frame.merge
        note = f"{words.named(merge)}, {several(frame.vocab_size, 'token')}: "
        after = merge.runners_up[:1]
        line = html.faint(note) + _pair(merge.left, merge.right)
        for one in after:
            line += html.faint("; next ") + _pair(one.left, one.right)
            line += html.faint(f" with {one.count:,}")
        parts += [_INDENTED.format(line), _played(found, frame.number)]
    if len(found.frames) > words.STEPS:
        rest = several(len(found.frames) - words.STEPS, "more merge")
        parts += [html.faint(f"... {rest}"), _played(found, len(found.frames) - 1)]
    return html.fragment(*parts)


def _played(found: Replay, number: int) -> str:
    tokens = found.tokens(number)
    return html.tokens(tokens, most=_STATE, positions=colors(found, number))


def _place(sample: Sample) -> str:
    return located(sample) if sample.path is None else f"{sample.path}, {located(sample)}"


def _state(tokens: Sequence[bytes], ids: Sequence[int] | None = None) -> str:
    below = None if ids is None else [str(id) for id in ids[:_STATE]]
    more = len(tokens) - _STATE
    rest = html.faint(f"and {more:,} more") if more > 0 else ""
    return html.tokens(tokens[:_STATE], below) + rest


def _pair(left: bytes, right: bytes) -> str:
    return html.pair(left, right)
