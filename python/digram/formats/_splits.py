r"""Hugging Face's pre_tokenizers that split text without changing it, as regexes.

They are `Split` with all its behaviors but the one that removes text, `Digits`, `Punctuation` and
`FixedLength`. The matches of the regex, and the text between them, are the pieces. `Digits` and
`Punctuation` follow versions of Unicode that are not that of the regexes.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from digram import _core
from digram.errors import CorruptFileError, PatternError
from digram.formats._json import expect, unsupported
from digram.formats._portable import from_oniguruma, takes_nothing
from digram.formats._show import show
from digram.pretokenizers.words import PUNCTUATION

__all__ = ["CLASS", "EACH_CHARACTER", "NUMBER", "READERS", "escaped", "only", "regex_of_split"]

_NUMBERS = "\\p{N}\U00011de0-\U00011de9\U00016ff4-\U00016ff6"
"""The items of the class of `Digits`: those of Unicode 17."""
NUMBER = f"[{_NUMBERS}]"
"""A character that `Digits` takes for a digit."""

CLASS = re.compile(
    r"(?:\[(?P<negated>\^?)(?P<items>(?:[^\[\]\\]|\\.(?:\{\w+\})?)+)\]"
    r"|(?P<single>\\[pP]\{\w+\}|\\[^pP]|[^\\\[\](){}.*+?|^$]))"
    r"(?P<many>(?:\+|\{1,\d*\})?)"
)
"""A class or a character, once or many times."""
_MERGED = ("MergedWithPrevious", "MergedWithNext")
EACH_CHARACTER = r"[\s\S]"
"""What an empty regex cuts text into, whatever the behavior."""

_unsupported = partial(
    unsupported,
    hint="digram cuts text without changing it; anything else would result in other ids.",
)


def regex_of_split(stage: dict[str, Any], where: str, path: str | None) -> tuple[str, bool]:
    """The regex of a `Split`, and whether it is inverted."""
    only(stage, {"type", "pattern", "behavior", "invert"}, where, path)
    pattern = expect(stage.get("pattern"), dict, f"{where}.pattern", path)
    if len(pattern) != 1 or not pattern.keys() <= {"Regex", "String"}:
        raise _unsupported(f"{where}.pattern other than a Regex or a String", path)
    ((kind, text),) = pattern.items()
    regex = expect(text, str, f"{where}.pattern.{kind}", path)
    if kind == "String":
        regex = escaped(regex)
    return regex, expect(stage.get("invert"), bool, f"{where}.invert", path)


def escaped(text: str) -> str:
    r"""A regex that matches this text, in every engine.

    >>> escaped("a. b")
    'a\\. b'
    """
    return re.sub(r"[\\.\[\]{}()*+?^$|]", r"\\\g<0>", text)


def _split(stage: dict[str, Any], where: str, path: str | None) -> str:
    regex, inverted = regex_of_split(stage, where, path)
    if not regex and stage.get("behavior") in (*_MERGED, "Isolated", "Contiguous", "Removed"):
        return EACH_CHARACTER  # the matches are empty, so that nothing is merged or left out
    return _behaved(regex, stage.get("behavior"), inverted, where, path)


def _digits(stage: dict[str, Any], where: str, path: str | None) -> str:
    only(stage, {"type", "individual_digits"}, where, path)
    single = expect(stage.get("individual_digits"), bool, f"{where}.individual_digits", path)
    return f"[{_NUMBERS}]{'' if single else '+'}"


def _punctuation(stage: dict[str, Any], where: str, path: str | None) -> str:
    only(stage, {"type", "behavior"}, where, path)
    return _behaved(PUNCTUATION, stage.get("behavior", "Isolated"), False, where, path)


def _fixed_length(stage: dict[str, Any], where: str, path: str | None) -> str:
    only(stage, {"type", "length"}, where, path)
    length = expect(stage.get("length"), int, f"{where}.length", path)
    if length < 1:
        raise CorruptFileError(f"{where}.length {length} should be at least 1.", path=path)
    return rf"[\s\S]{{1,{length}}}"


READERS = {
    "Split": _split,
    "Digits": _digits,
    "Punctuation": _punctuation,
    "FixedLength": _fixed_length,
}
"""For each type, the function that gives the regex whose matches, and the text between, are pieces.

Each takes the stage, its place in the file for messages, and the path. They raise `VocabError` for
what changes the text, and `CorruptFileError` for a damaged stage.
"""


def _behaved(regex: str, behavior: Any, inverted: bool, where: str, path: str | None) -> str:
    """The regex for a behavior: its matches are the pieces that the behavior makes of `regex`."""
    if behavior == "Isolated":
        return regex
    if behavior not in (*_MERGED, "Contiguous"):
        raise _unsupported(f"{where}.behavior {show(behavior)}", path)
    regex = from_oniguruma(regex, path, anchors=True)
    # A match is merged with the text beside it, not with another match. So text is cut at the end
    # of each match, or at the start. Inverted, the text between is merged with the match beside it.
    at_ends = (behavior == "MergedWithPrevious") != inverted
    one = CLASS.fullmatch(regex)
    if one is not None:
        return _behaved_class(one, behavior, at_ends)
    if takes_nothing(regex):  # a cut between two texts
        return regex
    if _may_be_empty(regex, path):
        what = f"{where}.behavior {show(behavior)} with a Regex that may match nothing"
        raise _unsupported(what, path)
    if behavior == "Contiguous":
        return f"(?:{regex})+"
    if at_ends:
        return rf"[\s\S]*?(?:{regex})|[\s\S]+"
    return rf"(?:{regex})[\s\S]*?(?=(?:{regex})|(?![\s\S]))"


def _behaved_class(one: re.Match[str], behavior: str, at_ends: bool) -> str:
    """The regex for a behavior of a class, which needs no look-around."""
    items = one["items"] or one["single"]
    inside, outside = f"[{items}]", f"[^{items}]"
    if one["negated"]:
        inside, outside = outside, inside
    if behavior == "Contiguous":
        return f"{one[0].removesuffix(one['many'])}+"
    if at_ends:
        return f"{outside}*{inside}{one['many']}"
    return f"{inside}{one['many']}{outside}*"


def _may_be_empty(regex: str, path: str | None) -> bool:
    """Whether a regex may match without a character."""
    try:
        return _core.pattern_facts(regex)[0]
    except PatternError as error:
        raise PatternError(error.message, path=path, value=error.value, hint=error.hint) from None


def only(stage: dict[str, Any], known: set[str], where: str, path: str | None) -> None:
    """Raises `VocabError` for a key of a stage that is not one of `known`."""
    for key in stage:
        if key not in known:
            raise _unsupported(f"the key {show(key)} of {where}", path)
