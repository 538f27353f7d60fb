r"""Patterns of programs that keep the matches of a regex and drop the text between them.

A `Pretokenizer` never drops text: what stands between two matches is a piece. So the two are equal
only for patterns that match all text, as the published ones do.
"""

from __future__ import annotations

import re
from functools import lru_cache

from digram import _core
from digram.errors import PatternError, VocabError
from digram.formats._show import show
from digram.pretokenizers.pretokenizer import NAMED, Pretokenizer, Regex

__all__ = ["from_pattern", "to_pattern"]

_SINGLE = frozenset(named.patterns[0] for named in NAMED.values() if len(named.patterns) == 1)
_AFTER = ("a", "A", "1", "!", "\n", "\u4e00")
_RUST = re.compile(
    r"\(\?<[=!]|--|&&|~~|\[[^\]]*\[(?!:)|\\[xuU]\{|\(\?[a-zA-Z]*[xuRU]|\\[zAbB]\{|\\p\{\^"
)
"""What the engines of other programs read differently, or not at all."""


def from_pattern(pattern: str, path: str | None) -> Pretokenizer:
    """The pretokenizer of a pattern that is read from a file.

    Raises `PatternError` for one that is not supported, and `VocabError` for one that does not
    match all text.
    """
    try:
        cut = Pretokenizer(Regex(pattern))
    except PatternError as error:
        raise PatternError(error.message, path=path, value=pattern, hint=error.hint) from None
    if _may_be_empty(pattern):
        raise VocabError(
            f"the pattern {show(pattern)} can match nothing, and then would lose text.",
            path=path,
            value=pattern,
            hint="digram loses no text, so the ids would differ.",
        )
    dropped = _dropped(pattern)
    if dropped is not None:
        raise VocabError(
            f"the pattern {show(pattern)} does not match all text: {show(dropped)} would be lost.",
            path=path,
            value=pattern,
            hint="digram loses no text, so the ids would differ.",
        )
    return cut


def to_pattern(pretokenizer: Pretokenizer, what: str, hint: str) -> str | None:
    """The one pattern of a pretokenizer that a file can store; None if it splits nothing.

    Raises `VocabError` for several patterns, a policy for digits, rules, a normalizer, a pattern
    that other engines interpret differently, and one that does not match all text.
    """
    patterns = pretokenizer.patterns
    others = (pretokenizer.digits, pretokenizer.rules)
    changes = pretokenizer.normalizer or pretokenizer.byte_patterns
    problem = None
    if len(patterns) > 1 or changes or others != (None, None):
        problem = "which is more than one pattern"
    elif patterns and _RUST.search(patterns[0]) and patterns[0] not in _SINGLE:
        problem = "whose syntax other programs interpret differently"
    elif patterns and _may_be_empty(patterns[0]):
        problem = "which can match nothing: other programs would lose text"
    elif patterns and (dropped := _dropped(patterns[0])) is not None:
        problem = f"which does not match all text: other programs would lose {show(dropped)}"
    if problem is not None:
        raise VocabError(
            f"{what} cannot store {pretokenizer!r}, {problem}.", value=pretokenizer, hint=hint
        )
    return patterns[0] if patterns else None


@lru_cache(maxsize=16)
def _may_be_empty(pattern: str) -> bool:
    """Whether a pattern, as look-around alone can, matches without a character."""
    return pattern not in _SINGLE and _core.pattern_facts(pattern)[0]


@lru_cache(maxsize=16)
def _dropped(pattern: str) -> str | None:
    """A text of which the pattern leaves something out; None if there seems to be none.

    With an alternative for any two characters after all others, splits are the same if the pattern
    matches everywhere. Each character is tried twice, and before others.
    """
    if pattern in _SINGLE:
        return None
    ours = Pretokenizer(Regex(pattern)).splitter().split
    all_text = Pretokenizer(Regex(rf"(?:{pattern})|[\s\S]{{1,2}}")).splitter().split
    for text in _texts():
        found, complete = ours(text), all_text(text)
        if found != complete:
            pairs = zip(found, complete, strict=False)
            return next(one for one, other in pairs if one != other)
    return None


@lru_cache(maxsize=1)
def _texts() -> tuple[str, ...]:
    """Every character of the first planes twice, and before some others."""
    characters = [chr(code) for code in range(0x30000) if not 0xD800 <= code < 0xE000]
    few = [chr(code) for code in range(0x3100)]
    return (
        "".join(one * 2 for one in characters),
        *("".join(one + after for one in few) for after in _AFTER),
    )
