r"""Find the patterns of rules that a tokenizer.json cannot express.

The later splits of a tokenizer.json see one piece at a time. They would mistake a piece that a
pattern matches as a whole for a match of the rule, even if the rule did not cut it out. This cannot
happen if two conditions hold. First, at each character a match can continue in at most one way and
every part is greedy, so that the first match is the longest. Second, a match ends where the piece
ends: it continues only between two letters or two numbers, where no piece ends, or with a character
with which no text that the rules cut out begins.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, NamedTuple

from digram.pretokenizers.rules import Rules

__all__ = ["not_carried"]

_MOST = 1_000  # positions of a pattern, or characters of a range
_ESCAPE = re.compile(r"\\(?:([ds])|p\{([LMN])[a-z]?\}|([^\w\s]))")
_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})(?![?+*{])")
_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class _Set(NamedTuple):
    """A set of characters: single characters, and kinds of characters."""

    characters: frozenset[str]
    kinds: frozenset[str] = frozenset()

    def meets(self, other: _Set) -> bool:
        return bool(
            self.characters & other.characters
            or self.kinds & other.kinds
            or {*map(_kind, self.characters)} & other.kinds
            or {*map(_kind, other.characters)} & self.kinds
        )

    def all_kinds(self) -> set[str]:
        return {*self.kinds, *map(_kind, self.characters)}


def not_carried(rules: Rules, digits: bool) -> str | None:
    r"""The first pattern that cannot be expressed; `digits` says whether a policy splits digits.

    >>> not_carried(Rules(patterns=[r"[A-Z]\d{2}(?:\.\d+)?"]), False)
    >>> not_carried(Rules(["."], patterns=[r"[A-Z]\d{2}(?:\.\d+)?"]), False)
    '[A-Z]\\d{2}(?:\\.\\d+)?'
    >>> not_carried(Rules(patterns=["a|b"]), False)
    'a|b'
    """
    terms, units, patterns, _, numbers = rules._compiled(digits)
    read: list[_Positions] = []
    for pattern in patterns:
        try:
            read.append(_Positions(pattern))
        except (ValueError, RecursionError):
            return pattern
    begins = [_Set(frozenset(text[0] for text in (*terms, *units)))]
    begins += [_Set(frozenset(" "))] * bool(terms) + [_Set(frozenset(), frozenset("N"))] * numbers
    begins += [one.sets[at] for one in read for at in one.first]
    for pattern, one in zip(patterns, read, strict=True):
        if not one.is_carried(begins) or (numbers and one.may_be_a_number()):
            return pattern
    return None


class _Positions:
    """The positions of characters in a pattern, and which position may follow which."""

    def __init__(self, pattern: str) -> None:
        self.sets: list[_Set] = []
        self.follow: list[set[int]] = []
        node, end = _sequence(pattern, 0)
        if end < len(pattern):
            raise ValueError(pattern)
        _, self.first, self.last = self._built(node)

    def _built(self, node: Any) -> tuple[bool, set[int], set[int]]:
        """Whether a part may be empty, where it begins, and where it ends."""
        if isinstance(node, _Set):
            if len(self.sets) == _MOST:
                raise ValueError("too long")
            self.sets.append(node)
            self.follow.append(set())
            return False, {len(self.sets) - 1}, {len(self.sets) - 1}
        if isinstance(node, list):
            empty, first, last = True, set[int](), set[int]()
            for part in node:
                part_empty, part_first, part_last = self._built(part)
                self._joined(last, part_first)
                first |= part_first if empty else set()
                last = part_last | (last if part_empty else set())
                empty &= part_empty
            return empty, first, last
        part, least, most = node
        if most is None:
            built = self._built(part)
            if built[0]:
                raise ValueError("a part that may be empty is repeated")
            self._joined(built[2], built[1])
            rest = True, built[1], built[2]
        else:
            rest = True, set[int](), set[int]()
            for _ in range(most - least):  # from the last on: x{0,2} is (?:x(?:x)?)?
                built = self._built(part)
                if built[0]:
                    raise ValueError("a part that may be empty is repeated")
                self._joined(built[2], rest[1])
                rest = True, built[1], built[2] | rest[2]
        for _ in range(least):
            built = self._built(part)
            if built[0]:
                raise ValueError("a part that may be empty is repeated")
            self._joined(built[2], rest[1])
            rest = False, built[1], rest[2] | (built[2] if rest[0] else set())
        return rest

    def _joined(self, ends: set[int], begins: set[int]) -> None:
        for at in ends:
            self.follow[at] |= begins

    def is_carried(self, begins: list[_Set]) -> bool:
        for after in (self.first, *self.follow):
            some = [self.sets[at] for at in after]
            if any(a.meets(b) for n, a in enumerate(some) for b in some[:n]):
                return False
        for at in self.last:
            for then in map(self.sets.__getitem__, self.follow[at]):
                kinds = then.all_kinds() | self.sets[at].all_kinds()
                if kinds not in ({"L"}, {"N"}) and any(map(then.meets, begins)):
                    return False
        return True

    def may_be_a_number(self) -> bool:
        """Whether numbers alone may match: these are cut once more before the last split."""
        open_, seen = [*self.first], set[int]()
        while open_:
            at = open_.pop()
            if at not in seen and "N" in self.sets[at].all_kinds():
                seen.add(at)
                open_ += self.follow[at]
        return bool(seen & self.last)


def _sequence(text: str, at: int) -> tuple[list[Any], int]:
    """What stands from a place to the end, or to the closing bracket of a group."""
    parts: list[Any] = []
    while at < len(text) and text[at] != ")":
        part: Any
        if text.startswith("(?:", at):
            part, at = _sequence(text, at + 3)
            if not text.startswith(")", at):
                raise ValueError(text)
            at += 1
        elif text[at] == "[":
            part, at = _class(text, at + 1)
        else:
            part, at = _one(text, at)
        if counted := _QUANTIFIER.match(text, at):
            sign, least, comma, most = counted.groups()
            low, high = _COUNTS[sign] if sign else (int(least), int(most) if most else None)
            part = (part, low, low if not sign and not comma else high)
            at = counted.end()
        parts.append(part)
    return parts, at


def _one(text: str, at: int) -> tuple[_Set, int]:
    if escape := _ESCAPE.match(text, at):
        short, category, itself = escape.groups()
        if itself:
            return _Set(frozenset(itself)), escape.end()
        kind = {"d": "N", "s": "S", "M": "L"}.get(short or category, category)
        return _Set(frozenset(), frozenset(kind)), escape.end()
    if text[at] in r"\.^$|()[]{}*+?":
        raise ValueError(text)
    return _Set(frozenset(text[at])), at + 1


def _class(text: str, at: int) -> tuple[_Set, int]:
    characters, kinds = set[str](), set[str]()
    if text.startswith("^", at):
        raise ValueError(text)
    while not text.startswith("]", at):
        if at >= len(text) or text[at] in "[&~-":
            raise ValueError(text)  # also what is read in several ways: [a&&b], [a-]
        one, at = (_Set(frozenset(text[at])), at + 1) if text[at] != "\\" else _one(text, at)
        if text.startswith("-", at):
            last, at = _one(text, at + 1)
            if not (len(one.characters) == len(last.characters) == 1):
                raise ValueError(text)
            low, high = ord(*one.characters), ord(*last.characters)
            if high - low >= _MOST:
                raise ValueError(text)
            one = _Set(frozenset(map(chr, range(low, high + 1))))
        characters |= one.characters
        kinds |= one.kinds
    return _Set(frozenset(characters), frozenset(kinds)), at + 1


def _kind(character: str) -> str:
    """`L` for letters and marks, `N` for numbers, `S` for white space, nothing for all else."""
    category = unicodedata.category(character)[0]
    return "S" if character.isspace() else {"L": "L", "M": "L", "N": "N"}.get(category, "")
