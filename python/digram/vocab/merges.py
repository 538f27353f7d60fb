"""The merges of BPE, and checks of them."""

from __future__ import annotations

from itertools import chain
from operator import add, lt

from digram.errors import show
from digram.vocab.model import Fault

__all__ = [
    "TOGETHER",
    "Merges",
    "are_plain",
    "wrong_first_merges",
    "wrong_merge",
    "wrong_order",
]

Merges = list[tuple[int, int, int]]
TOGETHER = "Do the vocabulary and the merges belong together? Special tokens cannot be in merges."


def wrong_first_merges(merges: Merges, tokens: list[bytes | None]) -> Fault | None:
    """Whether the first 256 merges join each byte with the space that ends a word."""
    first = [(tokens[left], tokens[right]) for left, right, _ in merges[:256]]
    missing = {(bytes([byte]), b" ") for byte in range(256)}.difference(first)
    if missing:
        byte, _ = min(missing)
        problem = f"the first 256 merges do not join {show(byte)} with the space that ends words."
        return Fault(problem, byte, "Put the merges of all bytes with the space first.")
    return None


def are_plain(merges: Merges, tokens: list[bytes | None], byte_ids: list[int] | None) -> bool:
    """Whether the merges are certainly valid, by fast checks of all at once.

    If the ids rise along the merges and are above those of the parts, no merge occurs twice and
    every part is made earlier.
    """
    lefts = [left for left, _, _ in merges]
    rights = [right for _, right, _ in merges]
    made = [result for _, _, result in merges]
    if byte_ids is not None or min([*lefts, *rights], default=0) < 0:
        return False
    if not (all(map(lt, lefts, made)) and all(map(lt, rights, made))):
        return False
    if not all(map(lt, made, made[1:])) or (made and made[-1] >= len(tokens)):
        return False
    token = tokens.__getitem__
    if b"" in map(token, chain(lefts, rights)):
        return False
    try:
        return list(map(add, map(token, lefts), map(token, rights))) == list(map(token, made))
    except TypeError:  # a part without a token
        return False


def wrong_merge(merges: Merges, tokens: list[bytes | None], fallback: set[int]) -> Fault | None:
    for rank, merge in enumerate(merges):
        for one in merge:
            if not 0 <= one < len(tokens) or tokens[one] is None or one in fallback:
                return Fault(f"id {show(one)} is not an ordinary token.", one, TOGETHER, rank)
        left, right, made = (tokens[one] or b"" for one in merge)
        if not (left and right):
            return Fault("one of its parts is empty.", merge[2], TOGETHER, rank)
        if left + right != made:
            problem = f"its parts are {show(left + right)}, but id {merge[2]} is {show(made)}."
            return Fault(problem, merge[2], TOGETHER, rank)
    return None


def wrong_order(merges: Merges, tokens: list[bytes | None]) -> Fault | None:
    first_made: dict[int, int] = {}
    for rank, (_, _, token_id) in enumerate(merges):
        first_made.setdefault(token_id, rank)
    made_at = first_made.get
    seen: set[tuple[int, int]] = set()
    for rank, (left, right, _) in enumerate(merges):
        if (left, right) in seen or made_at(left, -1) >= rank or made_at(right, -1) >= rank:
            pair = f"{show(tokens[left])} + {show(tokens[right])}"
            if (left, right) in seen:
                return Fault(f"{pair} occurs twice.", rank, "Remove one.", rank)
            problem = f"{pair} has a part that is made by a later merge."
            hint = "Sort the merges into the order in which they were learned."
            return Fault(problem, rank, hint, rank)
        seen.add((left, right))
    return None
