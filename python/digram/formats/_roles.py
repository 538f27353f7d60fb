r"""Patterns in which one character takes the role of another.

Where a tokenizer.json puts the symbol `▁` in place of each space, a later pattern of the file sees
the symbol, but the same pattern of digram sees a space.
"""

from __future__ import annotations

import re
from functools import lru_cache

from digram.errors import VocabError
from digram.formats._show import show
from digram.pretokenizers.pretokenizer import Pretokenizer, Regex

__all__ = ["with_role"]

_ESCAPE = r"\\(?:[pP]\{\w+\}|u[0-9A-Fa-f]{4}|x\{[0-9A-Fa-f]+\}|.)"
_INNER = rf"\[(?:{_ESCAPE}|[^\]\\\[])*\]"
_CLASS = rf"\[(?:{_ESCAPE}|{_INNER}|[^\]\\\[])*\]"
_PARTS = re.compile(rf"(?P<set>{_CLASS}|{_ESCAPE})|(?P<syntax>\(\?(?:<?[=!]|[>i]*:?))|.", re.DOTALL)
_ONE = rf"(?:{_ESCAPE}|[^\\\[\]])"
_ITEMS = re.compile(rf"{_INNER}|{_ONE}(?:-{_ONE})?|&&", re.DOTALL)
_NOTHING, _ALL = r"[^\s\S]", r"[\s\S]"
_OTHER_SPACES = (
    r"\t-\r\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}"
)
"""The items of `\\s` but for the space."""


def with_role(regex: str, old: str, new: str) -> str:
    r"""A regex that takes `new` where this one takes `old`, for texts without `old`.

    Raises `VocabError` for sets that have no such form here. Linear.

    >>> with_role(r"▁+|[^ ▁a]|\p{S}", "▁", " "), with_role("[ .]| +", " ", "▁")
    (' +|[^ ▁a]|[ \\p{S}]', '[▁ .]|▁+')
    """
    if any(one.isalnum() or (one.isascii() and one not in " _") for one in (old, new)):
        raise VocabError(f"with the symbol {show(old)}", value=old)
    return _PARTS.sub(lambda part: _part(part, old, new), regex)


def _part(part: re.Match[str], old: str, new: str) -> str:
    text = part[0]
    if part["syntax"]:
        return text
    if not part["set"]:
        return {old: new, new: _NOTHING}.get(text, text)
    takes_old, takes_new = (_takes(text, one) for one in (old, new))
    if takes_old == takes_new:
        return text
    if not text.startswith("["):
        return f"[{new}{text}]" if takes_old else f"[{_without(text, new, text)}]"
    if "&&" in text:
        raise _told_apart(text)
    negation, items = ("^", text[2:-1]) if text.startswith("[^") else ("", text[1:-1])
    if takes_old == (not negation):  # the items get it
        escape = "\\" if items.startswith("-") else ""
        return f"[{negation}{new}{escape}{items}]"
    left = "".join(_without(item, new, text) for item in _ITEMS.findall(items))
    if "--" in left:  # an operator of digram's patterns
        raise _told_apart(text)
    return f"[{negation}{left}]" if left else (_ALL if negation else _NOTHING)


def _without(item: str, char: str, inside: str) -> str:
    """An item of a class without a character."""
    if not _takes(f"[{item}]", char):
        return item
    if item in (char, f"\\{char}"):
        return ""
    if item == r"\s" and char == " ":
        return _OTHER_SPACES
    if len(item) == 3 and item[1] == "-":
        before, behind = chr(ord(char) - 1), chr(ord(char) + 1)
        lower = f"{item[0]}-{before}" if item[0] < char else ""
        return lower + (f"{behind}-{item[2]}" if item[2] > char else "")
    raise _told_apart(inside)


def _told_apart(inside: str) -> VocabError:
    return VocabError(
        f"with {show(inside)}, which tells the symbol of spaces from a space,", value=inside
    )


@lru_cache(maxsize=64)
def _takes(regex: str, char: str) -> bool:
    """Whether the regex of one character matches a character."""
    return len(Pretokenizer(Regex(regex)).splitter().split(char * 2)) == 2
