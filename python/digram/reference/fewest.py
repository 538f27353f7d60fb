"""The segmentation of a text into the fewest tokens of a vocabulary.

Merges are greedy, so BPE may give more tokens than a text needs; this is the fewest that a
vocabulary allows (`Tokenizer.with_segmentation`).

>>> segment("abcd", ["a", "b", "c", "d", "ab", "bcd"])
['a', 'bcd']
"""

from collections.abc import Collection
from typing import AnyStr


def segment(text: AnyStr, tokens: Collection[AnyStr]) -> list[AnyStr]:
    """The tokens of a text, a `str` or `bytes`; a symbol that is no token stands for itself.

    Of all segmentations those with the fewest unknown symbols are taken, of these those with the
    fewest tokens, of these the one whose first token is the longest, and so on. Each place gets
    the costs of the text after it, from right to left, and the length of its first token.

    >>> segment("aaa", ["a", "aa"])
    ['aa', 'a']
    >>> segment("xab", ["a", "ab", "b"])
    ['x', 'ab']
    """
    known = {*tokens}
    longest = max(map(len, known), default=1)
    best = [(0, 0, 0)]  # unknown symbols, tokens and minus the length of the first token
    for start in reversed(range(len(text))):
        choices = []
        for length in range(1, min(longest, len(text) - start) + 1):
            is_token = text[start : start + length] in known
            if is_token or length == 1:
                unknown, number, _ = best[-length]
                choices.append((unknown + (not is_token), number + is_token, -length))
        best.append(min(choices))
    found, at = [], 0
    while at < len(text):
        length = -best[len(text) - at][2]
        found.append(text[at : at + length])
        at += length
    return found
