r"""Which part of a pretokenizer's pattern cut out a pretoken.

>>> alternatives(r"'(?:s|t)| ?\p{L}+|[^|]")
["'(?:s|t)", ' ?\\p{L}+', '[^|]']
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from digram import _core
from digram.errors import PatternError
from digram.pretokenizers.pretokenizer import Pretokenizer

__all__ = ["BYTES", "RULES", "WORDS", "Cut", "alternatives", "cuts"]

RULES = "rules"
"""The pattern of a cut that rules made."""
BYTES = "byte_patterns"
"""The pattern of a cut that the patterns of bytes made."""
WORDS = "words"
"""The pattern of a cut in a text that is cut into words first; what splits words is not told."""

_AHEAD = 8  # bytes after a pretoken that a pattern may inspect; it inspects one character
_MARK = "\U0010fffd"  # a private use character; precedes the text to match


@dataclass(frozen=True, slots=True)
class Cut:
    """Why a pretoken was cut out.

    `split` is the index of the pattern that cut it out, and `alternative` the index of the part of
    that pattern that matched, between `|` and `|`; `pattern` is the text of this part. All three
    are None for a whole text that nothing splits. For rules and for the policy of `digits`, `split`
    is None, and `pattern` is "rules" or the name of the policy; for words it is "words", and for
    patterns of bytes "byte_patterns". `alternative` is None if the pattern cannot be taken apart,
    and if the pretoken lies between two matches, in which case `between` is true.
    """

    split: int | None = None
    alternative: int | None = None
    pattern: str | None = None
    between: bool = False

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON."""
        names = ("split", "alternative", "pattern", "between")
        return {name: getattr(self, name) for name in names}


def cuts(text: bytes, spans: Sequence[tuple[int, int]], pretokenizer: Pretokenizer) -> list[Cut]:
    r"""Why each pretoken was cut out; `spans` are the byte ranges of the pretokens in the text.

    >>> [cut.pattern for cut in cuts(b"it's", [(0, 2), (2, 4)], Pretokenizer("gpt2"))]
    [' ?\\p{L}+', "'s"]
    """
    if pretokenizer.words is not None:
        return [Cut(pattern=WORDS)] * len(spans)
    stages = list(_stages(text, pretokenizer))
    rules = None if pretokenizer.rules is None else pretokenizer.splitter().found(text)
    found = {(start, end) for start, end, _ in rules or ()}
    return [
        Cut(pattern=RULES) if span in found else _cut(text, span, stages, rules is not None)
        for span in spans
    ]


@lru_cache(maxsize=64)
def alternatives(pattern: str) -> list[str] | None:
    r"""The parts of a pattern between `|` and `|`; None if they mean something else by themselves.

    >>> alternatives("(?i)a|b") is None
    True
    >>> alternatives("(?<=a)b|c") is None
    True
    """
    if _core.pattern_facts(pattern)[1]:
        return None  # what is around a pretoken, however far, decides about it
    parts, start, depth, index = [], 0, 0, 0
    classes = 0
    while index < len(pattern):
        character = pattern[index]
        if character == "\\":
            index += 1
        elif character == "[":
            classes += 1
            rest = pattern[index + 1 :].removeprefix("^")
            index += 1 if pattern.startswith("[^", index) else 0
            index += 1 if rest.startswith("]") else 0  # a leading bracket is a literal
        elif character == "]" and classes:
            classes -= 1
        elif not classes:
            if pattern.startswith("(?", index) and depth == 0 and _sets_flags(pattern[index:]):
                return None  # they also apply to the parts that follow
            depth += (character == "(") - (character == ")")
            if character == "|" and depth == 0:
                parts.append(pattern[start:index])
                start = index + 1
        index += 1
    return [*parts, pattern[start:]]


def _sets_flags(group: str) -> bool:
    """Whether a group only sets flags, such as `(?i)`."""
    return group[2 : (group + ")").index(")")].replace("-", "").isalpha()


class _Stage:
    """The pieces after one split, and the pieces that it cut out."""

    def __init__(self, split: int | None, name: str, pieces: list[bytes]) -> None:
        self.split = split
        self.name = name
        self.ends: dict[int, int] = {}
        self.starts: list[int] = []
        index = 0
        for piece in pieces:
            self.starts.append(index)
            self.ends[index] = index + len(piece)
            index += len(piece)

    def end_of(self, index: int) -> int:
        """The end of the piece that contains an offset."""
        return self.ends[self.starts[bisect_right(self.starts, index) - 1]]


def _stages(text: bytes, pretokenizer: Pretokenizer) -> Iterator[_Stage]:
    """The whole text, and then the pieces after each split."""
    patterns, digits, rules = pretokenizer.patterns, pretokenizer.digits, pretokenizer.rules
    ruled = None if rules is None else rules._compiled(digits is not None)

    def stage(split: int | None, name: str, patterns: Sequence[str], digits: str | None) -> _Stage:
        return _Stage(split, name, _core.Splitter(patterns, digits, ruled).split(text))

    yield _Stage(None, "", [text] if text else []) if ruled is None else stage(None, "", [], None)
    if digits is not None:
        yield stage(None, digits, [], digits)
    for number in range(len(patterns)):
        yield stage(number, patterns[number], patterns[: number + 1], digits)
    if pretokenizer.byte_patterns:
        of_bytes = _core.Splitter(patterns, digits, ruled, [], pretokenizer.byte_patterns)
        yield _Stage(None, BYTES, of_bytes.split(text))


def _cut(text: bytes, span: tuple[int, int], stages: Sequence[_Stage], ruled: bool) -> Cut:
    start, end = span
    is_whole = stages[0].ends.get(start) == end
    for number, stage in enumerate(stages[1:]):
        if stage.ends.get(start) != end or (is_whole and stage.split is None):
            continue
        if stage.split is None:
            return Cut(pattern=stage.name)
        piece = text[start : min(end + _AHEAD, stages[number].end_of(start))]
        known = alternatives(stage.name)
        for place, pattern in enumerate(known or ()):
            if _matched(pattern, piece) == end - start:
                return Cut(stage.split, place, pattern)
        if not is_whole:
            return Cut(stage.split, between=known is not None)
    return Cut(pattern=RULES, between=True) if ruled and is_whole else Cut()


def _matched(pattern: str, text: bytes) -> int:
    """The number of bytes that a pattern matches at the beginning of a text; 0 for none.

    A piece may be a match, or the text between two matches. So the pattern is made to match a mark
    before the text; if it does not, any single character matches.
    """
    splitter = _tried(pattern)
    if splitter is None:
        return 0
    first = splitter.split(_MARK.encode() + text)[0]
    return len(first) - len(_MARK.encode())


@lru_cache(maxsize=256)
def _tried(pattern: str) -> _core.Splitter | None:
    try:
        return _core.Splitter([f"{_MARK}(?:{pattern})|(?s:.)"])
    except PatternError:  # a look-around that is only supported in some positions
        return None
