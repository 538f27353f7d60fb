r"""Models whose tokens have scores: Unigram, and BPE as SentencePiece stores it.

A text is a `str` and tokens are texts. Both functions return the pieces of a text; a character
that is no token is a piece of its own, and the caller puts the token for unknown characters in
place of a run of them (`fused`).

>>> segment("abb", {"a": -1.0, "b": -1.5, "ab": -2.0}, unknown=-12.0)
['ab', 'b']
>>> merged("abb", {"a": 0.0, "b": 0.0, "ab": -2.0, "bb": -1.0})
['a', 'bb']
"""

import struct
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby, pairwise

LARGEST_SUM = 100_000.0
"""Sums in single precision beyond this are set to zero."""


def double(number: float) -> float:
    """A score or a sum as Hugging Face's libraries keep it, which is as Python does."""
    return number


def single(number: float) -> float:
    """A score or a sum as SentencePiece keeps it: rounded to 32 bits.

    >>> single(0.1)
    0.10000000149011612
    """
    rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    return rounded


def segment(
    text: str,
    scores: Mapping[str, float],
    unknown: float,
    rounded: Callable[[float], float] = double,
) -> list[str]:
    """The pieces of a text whose scores have the highest sum.

    From left to right, each place gets the best sum up to it and the length of its last piece. A
    later sum replaces an earlier one only if it is greater, so of equal sums the longest last piece
    remains. A character that is no token has the score `unknown`.

    >>> segment("aaa", {"a": -1.0, "aa": -1.0}, unknown=-11.0)
    ['a', 'aa']
    >>> segment("axa", {"a": -1.0}, unknown=-11.0)
    ['a', 'x', 'a']
    """
    longest = max(map(len, scores), default=1)
    sums: list[float | None] = [0.0] + [None] * len(text)
    lengths = [0] * (len(text) + 1)
    for start in range(len(text)):
        here = sums[start]
        assert here is not None  # every character is a piece
        if rounded is single and not -LARGEST_SUM <= here <= LARGEST_SUM:
            sums[start:] = [None if one is None else single(one - here) for one in sums[start:]]
            here = 0.0
        for length in range(1, min(longest, len(text) - start) + 1):
            piece = text[start : start + length]
            if piece in scores or length == 1:
                new = rounded(here + rounded(scores.get(piece, unknown)))
                old = sums[start + length]
                if old is None or new > old:
                    sums[start + length], lengths[start + length] = new, length
    pieces = []
    end = len(text)
    while end:
        pieces.append(text[end - lengths[end] : end])
        end -= lengths[end]
    return pieces[::-1]


def merged(text: str, scores: Mapping[str, float], unused: Collection[str] = ()) -> list[str]:
    """The pieces of a text after all merges, by the scores of the tokens that they make.

    Of all neighbours whose text is a token, those that make the one with the highest score are
    merged, and of equal scores the leftmost. Tokens of `unused` are made too; at the end they are
    split again, into the parts that two neighbours had where such a token was seen last.

    >>> merged("abc", {"ab": 0.0, "bc": 0.0})
    ['ab', 'c']
    >>> merged("abc", {"ab": 0.0, "abc": -1.0}, unused=["ab"])
    ['abc']
    """
    pieces, seen = list(text), dict[str, tuple[str, str]]()

    def see(pairs: Iterable[tuple[str, str]]) -> None:
        seen.update({left + right: (left, right) for left, right in pairs})

    see(pairwise(pieces))
    while True:
        joined = [left + right for left, right in pairwise(pieces)]
        places = [at for at, token in enumerate(joined) if token in scores]
        if not places:
            break
        at = max(places, key=lambda at: (scores[joined[at]], -at))
        pieces[at : at + 2] = [joined[at]]
        see(pairwise(pieces[max(at - 1, 0) : at + 2]))
    found: list[str] = []
    while pieces:
        piece = pieces.pop(0)
        if piece in unused and piece in seen:
            pieces[:0] = seen[piece]
        else:
            found.append(piece)
    return found


def fused(pieces: Sequence[str], known: Collection[str], unknown: str) -> list[str]:
    """The pieces with one unknown token in place of each run of pieces that are no tokens.

    >>> fused(["x", "y", "a", "z"], {"a"}, "<unk>")
    ['<unk>', 'a', '<unk>']
    """
    found: list[str] = []
    for is_known, run in groupby(pieces, known.__contains__):
        found += run if is_known else [unknown]
    return found
