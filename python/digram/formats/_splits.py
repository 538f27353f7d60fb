r"""Hugging Face's pre_tokenizers that split text without changing it, as regexes.

They are `Split` with all its behaviors but the one that removes text, `Digits`, `Punctuation` and
`FixedLength`. The matches of the regex, and the text between them, are the pieces. `Digits` and
`Punctuation` follow versions of Unicode that are not that of the regexes.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import Any

from digram.errors import CorruptFileError
from digram.formats._json import expect, unsupported
from digram.formats._portable import from_oniguruma
from digram.formats._show import show

__all__ = ["READERS", "only"]

_NUMBERS = "\\p{N}\U00011de0-\U00011de9\U00016ff4-\U00016ff6"
"""The items of the class of `Digits`: those of Unicode 17."""

_PUNCTUATION = """
    21-2F 3A-40 5B-60 7B-7E A1 A7 AB B6-B7 BB BF 37E 387 55A-55F 589-58A 5BE 5C0 5C3 5C6 5F3-5F4
    609-60A 60C-60D 61B 61E-61F 66A-66D 6D4 700-70D 7F7-7F9 830-83E 85E 964-965 970 AF0 DF4 E4F
    E5A-E5B F04-F12 F14 F3A-F3D F85 FD0-FD4 FD9-FDA 104A-104F 10FB 1360-1368 1400 166D-166E
    169B-169C 16EB-16ED 1735-1736 17D4-17D6 17D8-17DA 1800-180A 1944-1945 1A1E-1A1F 1AA0-1AA6
    1AA8-1AAD 1B5A-1B60 1BFC-1BFF 1C3B-1C3F 1C7E-1C7F 1CC0-1CC7 1CD3 2010-2027 2030-2043
    2045-2051 2053-205E 207D-207E 208D-208E 2308-230B 2329-232A 2768-2775 27C5-27C6 27E6-27EF
    2983-2998 29D8-29DB 29FC-29FD 2CF9-2CFC 2CFE-2CFF 2D70 2E00-2E2E 2E30-2E42 3001-3003
    3008-3011 3014-301F 3030 303D 30A0 30FB A4FE-A4FF A60D-A60F A673 A67E A6F2-A6F7 A874-A877
    A8CE-A8CF A8F8-A8FA A8FC A92E-A92F A95F A9C1-A9CD A9DE-A9DF AA5C-AA5F AADE-AADF AAF0-AAF1
    ABEB FD3E-FD3F FE10-FE19 FE30-FE52 FE54-FE61 FE63 FE68 FE6A-FE6B FF01-FF03 FF05-FF0A
    FF0C-FF0F FF1A-FF1B FF1F-FF20 FF3B-FF3D FF3F FF5B FF5D FF5F-FF65 10100-10102 1039F 103D0
    1056F 10857 1091F 1093F 10A50-10A58 10A7F 10AF0-10AF6 10B39-10B3F 10B99-10B9C 11047-1104D
    110BB-110BC 110BE-110C1 11140-11143 11174-11175 111C5-111C9 111CD 111DB 111DD-111DF
    11238-1123D 112A9 114C6 115C1-115D7 11641-11643 1173C-1173E 12470-12474 16A6E-16A6F 16AF5
    16B37-16B3B 16B44 1BC9F 1DA87-1DA8B
"""
"""The code points of `Punctuation`, in hexadecimal: Unicode 9 and the symbols of ASCII."""

_CLASS = re.compile(
    r"(?:\[(?P<negated>\^?)(?P<items>(?:[^\[\]\\]|\\.(?:\{\w+\})?)+)\]"
    r"|(?P<single>\\[pP]\{\w+\}|\\[^pP]|[^\\\[\](){}.*+?|^$]))"
    r"(?P<many>(?:\+|\{1,\d*\})?)"
)
"""A class or a character, once or many times."""
_MERGED = ("MergedWithPrevious", "MergedWithNext")

_unsupported = partial(
    unsupported,
    hint="digram cuts text without changing it; anything else would result in other ids.",
)


def _split(stage: dict[str, Any], where: str, path: str | None) -> str:
    only(stage, {"type", "pattern", "behavior", "invert"}, where, path)
    pattern = expect(stage.get("pattern"), dict, f"{where}.pattern", path)
    if len(pattern) != 1 or not pattern.keys() <= {"Regex", "String"}:
        raise _unsupported(f"{where}.pattern other than a Regex or a String", path)
    ((kind, text),) = pattern.items()
    regex = expect(text, str, f"{where}.pattern.{kind}", path)
    if kind == "String":
        regex = re.sub(r"[\\.\[\]{}()*+?^$|]", r"\\\g<0>", regex)
    inverted = expect(stage.get("invert"), bool, f"{where}.invert", path)
    return _behaved(regex, stage.get("behavior"), inverted, where, path)


def _digits(stage: dict[str, Any], where: str, path: str | None) -> str:
    only(stage, {"type", "individual_digits"}, where, path)
    single = expect(stage.get("individual_digits"), bool, f"{where}.individual_digits", path)
    return f"[{_NUMBERS}]{'' if single else '+'}"


def _punctuation(stage: dict[str, Any], where: str, path: str | None) -> str:
    only(stage, {"type", "behavior"}, where, path)
    return _behaved(_punctuation_class(), stage.get("behavior", "Isolated"), False, where, path)


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
    if behavior == "Contiguous":
        one = _CLASS.fullmatch(regex)
        return f"(?:{regex})+" if one is None else f"{regex.removesuffix(one['many'])}+"
    if behavior not in _MERGED:
        removes = " (it removes text)" if behavior == "Removed" else ""
        raise _unsupported(f"{where}.behavior {show(behavior)}{removes}", path)
    one = _CLASS.fullmatch(from_oniguruma(regex, path))
    if one is None:
        what = f"{where}.behavior {show(behavior)} with a Regex other than one class"
        raise _unsupported(what, path)
    items = one["items"] or one["single"]
    inside, outside = f"[{items}]", f"[^{items}]"
    if one["negated"]:
        inside, outside = outside, inside
    # Inverted, what is merged is the text between two matches, so pieces begin where they ended.
    if (behavior == "MergedWithPrevious") != inverted:
        return f"{outside}*{inside}{one['many']}"
    return f"{inside}{one['many']}{outside}*"


@cache
def _punctuation_class() -> str:
    ranges = (part.partition("-") for part in _PUNCTUATION.split())
    items = (_item(first) + (f"-{_item(last)}" if last else "") for first, _, last in ranges)
    return f"[{''.join(items)}]"


def _item(code: str) -> str:
    char = chr(int(code, 16))
    return f"\\{char}" if char in r"\^-[]&~|" else char


def only(stage: dict[str, Any], known: set[str], where: str, path: str | None) -> None:
    """Raises `VocabError` for a key of a stage that is not one of `known`."""
    for key in stage:
        if key not in known:
            raise _unsupported(f"the key {show(key)} of {where}", path)
