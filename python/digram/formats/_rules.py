r"""Express rules as regexes, for programs that split only by regexes.

One regex, with look-around at its edges, matches the text that rules cut out. Later splits would
split that text again, so each begins with an alternative that matches such a piece as a whole.
docs/rules.md explains why the result is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from digram.errors import OptionError, PatternError
from digram.formats._greedy import not_carried
from digram.formats._portable import check_portable
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.pretokenizers.rules import SEPARATORS, Rules

__all__ = ["check_carried", "regex_of", "whole_regex_of"]

_WORD, _LETTER, _NUMBER = r"[\p{L}\p{M}\p{N}]", r"[\p{L}\p{M}]", r"\p{N}"
_EDGE = rf"(?<!{_WORD})|(?!{_WORD})"
_EDGE_WITH_NUMBERS = rf"(?:(?<!{_LETTER})|(?!{_LETTER}))(?:(?<!{_NUMBER})|(?!{_NUMBER}))"
_DECIMAL = rf"{_NUMBER}+(?:[.,]{_NUMBER}+)*"
_SPECIAL = re.compile(r"([\\.\[\]{}()*+?^$|])")


def regex_of(rules: Rules, digits: bool) -> str:
    r"""The regex that matches the text cut out by rules; `digits`: whether a policy splits digits.

    >>> print(regex_of(Rules(["iron"]), False))
    (?: |(?<![\p{L}\p{M}\p{N}])|(?![\p{L}\p{M}\p{N}]))iron(?:(?<![\p{L}\p{M}\p{N}])|(?!...
    """
    terms, units, patterns, whole, numbers = rules._compiled(digits)
    edge = _EDGE_WITH_NUMBERS if numbers else _EDGE
    unit = f"{_any_of(units)}(?:{edge})"
    end = rf"(?:{edge}|(?<={_NUMBER})(?!{_NUMBER})(?={unit}))" if units else f"(?:{edge})"
    space = rf"(?<!{_NUMBER}) " if units else " "
    separators = SEPARATORS.replace("-", r"\-")
    behind = rf"(?:(?<={_NUMBER})(?!{_NUMBER})|(?<={_NUMBER}[{separators}]))"
    found = [
        *([f"(?:{space}|{edge}){_any_of(terms)}{end}"] if terms else []),
        *([f"{behind}{unit}"] if units else []),
        *(f"(?:{edge})(?>{pattern}){end}" for pattern in patterns),
        *([_DECIMAL] if whole else []),
    ]
    return "|".join(found)


def whole_regex_of(rules: Rules, digits: bool) -> str:
    r"""The start of each later split: an alternative that matches a piece cut out by rules.

    >>> whole_regex_of(Rules(["a.b"]), False)
    '\\A(?: ?a\\.b)\\z|'
    """
    terms, _, patterns, whole, _ = rules._compiled(digits)
    found = [
        *([f" ?{_any_of(terms)}"] if terms else []),
        *(f"(?:{pattern})" for pattern in patterns),
        *([_DECIMAL] if whole else []),
    ]
    return rf"\A(?:{'|'.join(found)})\z|" if found else ""


def check_carried(pretokenizer: Pretokenizer) -> None:
    """Raises `PatternError` if regexes would not split as the rules do, and `OptionError` for
    rules that change the text.

    >>> check_carried(Pretokenizer("deepseek-v3", rules=Rules(["iron"])))
    Traceback (most recent call last):
    digram.errors.PatternError: a tokenizer.json cannot store rules before several patterns. ...
    """
    rules = pretokenizer.rules
    if rules is None:
        return
    if rules.normalize is not None:
        raise OptionError(
            f"a tokenizer.json cannot store the rule normalize={rules.normalize!r}.",
            value=rules.normalize,
            hint='Save it with format="digram", or use rules without normalize.',
        )
    if len(pretokenizer.patterns) > 1:
        raise PatternError(
            "a tokenizer.json cannot store rules before several patterns.",
            hint="Choose a pretokenizer with one pattern, such as o200k, or save it with "
            'format="digram".',
        )
    pattern: str | None
    for pattern in rules.patterns:
        check_portable(pattern)
        if "(?!" in pattern or "(?=" in pattern:
            raise PatternError(
                f"a tokenizer.json cannot store the rule {pattern!r}, which has a look-ahead.",
                value=pattern,
                hint="Write it without, since matches never end inside a word, or save it with "
                'format="digram".',
            )
    pattern = not_carried(rules, pretokenizer.digits is not None)
    if pattern is not None:
        raise PatternError(
            f"a tokenizer.json cannot store the rule {pattern!r}: its matches may be longer or "
            "shorter depending on the text that follows.",
            value=pattern,
            hint="Write it without alternatives, lazy parts and an optional end, or "
            'save it with format="digram".',
        )


def _any_of(texts: Iterable[str]) -> str:
    """A regex for any of several texts that prefers the longest match."""
    tree: dict[str, Any] = {}
    for text in texts:
        node = tree
        for character in text:
            node = node.setdefault(character, {})
        node[""] = {}
    nodes = [tree]
    for node in nodes:  # children are appended after their parents
        nodes += [rest for first, rest in node.items() if first]
    written: dict[int, str] = {}
    for node in reversed(nodes):
        longer = [_escaped(first) + written.pop(id(rest)) for first, rest in node.items() if first]
        whole = longer[0] if len(longer) == 1 and "" not in node else f"(?:{'|'.join(longer)})"
        written[id(node)] = (whole + "?" * ("" in node)) if longer else ""
    return written[id(tree)]


def _escaped(character: str) -> str:
    return _SPECIAL.sub(r"\\\1", character)
