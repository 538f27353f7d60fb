"""Tokens that differ only in normal form, case or punctuation.

>>> tokens = {0: "play", 1: " play", 2: "play:", 3: " Play", 4: "play?", 5: "ﬁn", 6: "fin", 7: ")"}
>>> punctuation_variants(tokens), case_variants(tokens), duplicates(tokens)
([[0, 1, 2, 4]], [[1, 3]], [[6, 5]])
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping

__all__ = ["case_variants", "duplicates", "is_bare", "punctuation_variants"]

_WORD = re.compile(" ?a+")
_DRESSED = re.compile(" ?p*(a+)p*")


class _Classes(dict[int, str]):
    """Maps each code point to a letter for its class: `a`, `0`, a space, or `p` for other symbols.

    Marks and the two joiners count as letters, since Hindi and Persian are written with them.
    """

    def __missing__(self, code_point: int) -> str:
        character = chr(code_point)
        category = unicodedata.category(character)[0]
        if category in "LM" or character in "\u200c\u200d":
            letter = "a"
        elif character.isspace():
            letter = " " if character == " " else "s"
        else:
            letter = "0" if category == "N" else "p"
        self[code_point] = letter
        return letter


_CLASSES = _Classes()


def is_bare(text: str) -> bool:
    """Whether a token consists of letters, with or without a space before them."""
    return _WORD.fullmatch(text.translate(_CLASSES)) is not None


def punctuation_variants(tokens: Mapping[int, str]) -> list[list[int]]:
    """Words of two letters or more that are several tokens, some with punctuation: `play:`.

    A leading space makes no difference; case does. Tokens without punctuation come first.
    """

    def word(text: str) -> str | None:
        match = _DRESSED.fullmatch(text.translate(_CLASSES))
        if match is None or len(match[1]) < 2:
            return None
        return text[slice(*match.span(1))]

    groups = _groups(tokens, word)
    kept = [group for group in groups if not all(is_bare(tokens[id]) for id in group)]
    return [sorted(group, key=lambda one: (not is_bare(tokens[one]), one)) for group in kept]


def case_variants(tokens: Mapping[int, str]) -> list[list[int]]:
    """Words of two letters or more that are several tokens in different case: `the`, `The`, `THE`.

    A word with a leading space differs from the word without it.
    """

    def small(text: str) -> str | None:
        return text.lower() if is_bare(text) and len(text.strip()) > 1 else None

    return _groups(tokens, small)


def duplicates(tokens: Mapping[int, str]) -> list[list[int]]:
    """Tokens with the same compatibility normal form (NFKC); that form comes first."""

    def normal(text: str) -> str | None:
        return unicodedata.normalize("NFKC", text)

    groups = _groups(tokens, normal)
    return [
        sorted(group, key=lambda one: (normal(tokens[one]) != tokens[one], one)) for group in groups
    ]


def _groups(tokens: Mapping[int, str], name: Callable[[str], Hashable | None]) -> list[list[int]]:
    """Groups of at least two ids whose texts share a name; the largest first."""
    groups: dict[Hashable, list[int]] = {}
    for id, text in tokens.items():
        key = name(text)
        if key is not None:
            groups.setdefault(key, []).append(id)
    several: Iterable[list[int]] = (sorted(ids) for ids in groups.values() if len(ids) > 1)
    return sorted(several, key=lambda ids: (-len(ids), ids))
