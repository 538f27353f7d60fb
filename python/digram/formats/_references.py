r"""References to a group of a regex, as in `([.,])\1*`, as alternatives without them.

A run of one of some characters is the only use of references that published files make.
"""

from __future__ import annotations

import re

__all__ = ["without_references"]

_ITEM = r"(?:[^\\\[\]]|\\.)"
_RUN = re.compile(rf"\(\[(?P<items>(?!\^){_ITEM}+)\]\)\\1(?P<many>[*+]?)(?![*+?{{\d])")
_CLASS_OR_ESCAPE = re.compile(rf"\\.|\[{_ITEM}*\]", re.DOTALL)
_ONE = re.compile(r"\\?(.)", re.DOTALL)
_SPECIAL = frozenset(r"\.[]{}()*+?^$|")


def without_references(pattern: str) -> str:
    r"""A regex of Oniguruma without a reference to its first group, if that is a class of ASCII.

    Any other regex is returned as it is.

    >>> without_references(r"\d|([!,.a-c])\1*")
    '\\d|(?:!+|,+|\\.+|a+|b+|c+)'
    >>> without_references(r"([ab])\1"), without_references(r"(a)\1")
    ('(?:aa|bb)', '(a)\\1')
    """
    found = _RUN.search(pattern)
    if found is None or "(" in _CLASS_OR_ESCAPE.sub("", pattern[: found.start()]):
        return pattern
    characters = _characters(found["items"])
    if characters is None:
        return pattern
    spelled = [("\\" * (one in _SPECIAL) + one) for one in dict.fromkeys(characters)]
    runs = {"": [one + one for one in spelled], "*": [one + "+" for one in spelled]}
    runs["+"] = [one + one + "+" for one in spelled]
    either = "|".join(runs[found["many"]])
    return f"{pattern[: found.start()]}(?:{either}){pattern[found.end() :]}"


def _characters(items: str) -> str | None:
    """The characters of a class; None if they are not all written out, in ASCII."""
    if "&&" in items or not items.isascii() or re.search(r"\\[0-9A-Za-z]", items):
        return None
    found = ""
    at = 0
    while at < len(items):
        first = _ONE.match(items, at)
        assert first is not None
        at = first.end()
        if not items.startswith("-", at) or at + 1 == len(items):
            found += first[1]
            continue
        last = _ONE.match(items, at + 1)
        assert last is not None
        if last[1] < first[1] or first[0] == "-":
            return None
        found += "".join(map(chr, range(ord(first[1]), ord(last[1]) + 1)))
        at = last.end()
    return found
