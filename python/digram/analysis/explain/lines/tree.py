"""Merge trees as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from digram.display.terminal import chip
from digram.errors import several

if TYPE_CHECKING:
    from digram.analysis.explain.tree import Tree

__all__ = ["branches", "made", "tree_lines"]

_NODES = 500  # lines
_DEEPEST = 20  # levels to draw
_KINDS = {"special": "a special token", "whole": "no merge makes it"}


def tree_lines(tree: Tree, *, color: bool = False) -> Iterator[str]:
    r"""A tree with its branches.

    >>> import digram
    >>> tok = digram.train("aaaaaaaa", max_merges=3, pretokenizer=None)
    >>> print("\n".join(tree_lines(digram.merge_tree(tok, "aaaaaaaa"))))
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
    """The nodes of a tree in the order of drawing: the side of each from the top, and a note.

    Subtrees that were drawn before are not repeated, and very deep ones are cut off.
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
    """The id, rank and count of a node."""
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
