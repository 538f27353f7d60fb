"""BPE with a suffix and a prefix of tokens as a readable specification.

A token is named by its place in a word: `w</w>` ends one, and `##w` does not begin one, if the
suffix is `</w>` and the prefix is `##`.

>>> ids = {"l": 0, "##o": 1, "##w": 2, "##w</w>": 3, "lo": 4, "low</w>": 5, "?": 6}
>>> merges = [("l", "##o"), ("lo", "##w</w>")]
>>> encode("low", ids, merges, prefix="##", suffix="</w>")
[5]
>>> encode("lowo", ids, merges, prefix="##", suffix="</w>", unknown=6)
[4, 2, 6]
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

__all__ = ["decode", "encode", "symbols"]


def symbols(word: str, prefix: str = "", suffix: str = "") -> list[str]:
    """The names of the characters of a word.

    >>> symbols("low", "##", "</w>"), symbols("a", "##", "</w>"), symbols("")
    (['l', '##o', '##w</w>'], ['a</w>'], [])
    """
    last = len(word) - 1
    return [
        prefix * (at > 0) + character + suffix * (at == last) for at, character in enumerate(word)
    ]


def encode(
    word: str,
    ids: Mapping[str, int],
    merges: Sequence[tuple[str, str]],
    *,
    prefix: str = "",
    suffix: str = "",
    unknown: int | None = None,
    fuse_unknown: bool = False,
    ignore_merges: bool = False,
) -> list[int]:
    """The ids of a word: the pair with the lowest rank is merged first, the leftmost of those.

    A pair becomes its left part and its right part without the prefix. All names in merges have
    ids. A character whose name has none is `unknown`; a KeyError if that is None. With
    `fuse_unknown`, consecutive characters of this kind are one `unknown`.

    The unknown token may be one that merges make, too; that is not fused.

    >>> encode("?!ab!!", {"?": 9, "a": 1, "b": 2}, [], unknown=9, fuse_unknown=True)
    [9, 9, 1, 2, 9]

    With `ignore_merges`, a word that is a name is that token.

    >>> encode("ab", {"a": 0, "b": 1, "ab": 2}, [("a", "b")])
    [2]
    >>> encode("ab", {"ab": 0}, [], suffix="</w>", ignore_merges=True)
    [0]
    """
    if ignore_merges and word in ids:
        return [ids[word]]
    names = symbols(word, prefix, suffix)
    rank = {pair: rank for rank, pair in enumerate(merges)}.get
    never = len(merges)
    while True:
        best, at = min(
            ((rank(pair, never), at) for at, pair in enumerate(pairwise(names))),
            default=(never, 0),
        )
        if best == never:
            found = [ids[name] if unknown is None else ids.get(name, unknown) for name in names]
            known = [name in ids for name in names]
            return [
                id
                for at, id in enumerate(found)
                if not (fuse_unknown and at and not known[at] and not known[at - 1])
            ]
        left, right = merges[best]
        names[at : at + 2] = [left + right.removeprefix(prefix)]


def decode(names: Sequence[str], suffix: str) -> str:
    """The text of tokens: a space in place of the suffix, but nothing at the end of the last one.

    >>> decode(["lo", "w</w>", "b", "e</w>"], "</w>"), decode(["lo"], "</w>")
    ('low be', 'lo')
    """
    last = len(names) - 1
    return "".join(name.replace(suffix, " " * (at < last)) for at, name in enumerate(names))
