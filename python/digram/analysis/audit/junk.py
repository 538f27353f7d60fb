r"""Tokens that a vocabulary hardly ever needs, by kind. docs/audit.md defines each.

>>> [junk_kind(t) for t in (" http://", "</td>", "--------", " deadbeef01", "ÃÂÃÂ", " the", "    ")]
['urls', 'markup', 'rules', 'encoded', 'mojibake', None, None]
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

__all__ = ["JUNK", "junk_kind"]

_LEAST = 8  # minimum number of characters of a rule, a repeat and a string of hexadecimal digits
_SEEN = "\t\n\r\u200c\u200d"  # controls in ordinary text: the last two join letters and emoji
_URL = re.compile(r"://|^www\.|^\.?[\w.-]*\.(com|org|net|edu|gov|io|html?|php)\b", re.ASCII)
_MARKUP = re.compile(r"</|/>|<[!?]?[A-Za-z][\w-]*[ >=]?$|<[A-Za-z][\w-]*[ >]|&(#\w+|[A-Za-z]+);")
_RULE = re.compile(r"[-=_*#~+|.:/\\<>\u2010-\u2015\u2500-\u259f\s]+")
_REPEAT = re.compile(r"(.{1,4}?)\1{3,}", re.DOTALL)
_HEX = re.compile(r"(0x)?([0-9a-f]{8,}|[0-9A-F]{8,})")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{12,}={0,2}")
_NAME = re.compile(r"@\w{3,}|[A-Za-z]{3,}_?[0-9]{2,}", re.ASCII)


def junk_kind(text: str) -> str | None:
    """The first kind that matches a token; None if none does."""
    word = text.removeprefix(" ")
    return next((kind for kind, matches in JUNK.items() if matches(word)), None)


def _has_controls(text: str) -> bool:
    return any(unicodedata.category(c) in ("Cc", "Cf") and c not in _SEEN for c in text)


def _is_private(text: str) -> bool:
    return any(unicodedata.category(c) == "Co" or _is_noncharacter(ord(c)) for c in text)


def _is_noncharacter(number: int) -> bool:
    return 0xFDD0 <= number <= 0xFDEF or number & 0xFFFE == 0xFFFE


def _is_mojibake(text: str) -> bool:
    """UTF-8 that was decoded as Latin-1 or Windows-1252, or replacement characters."""
    if "\ufffd" in text or re.search("[ÃÂ]{2}", text):
        return True
    for charset in ("cp1252", "latin-1"):
        try:
            if text.encode(charset).decode() != text:
                return True
        except UnicodeError:
            continue
    return False


def _is_rule(text: str) -> bool:
    is_long = len(text.strip()) >= _LEAST
    return is_long and _RULE.fullmatch(text) is not None


def _repeats(text: str) -> bool:
    is_long = len(text.strip()) >= _LEAST
    return is_long and _REPEAT.fullmatch(text.strip()) is not None


def _is_encoded(text: str) -> bool:
    if _HEX.fullmatch(text):
        digits = text.removeprefix("0x")
        return any(c.isdigit() for c in digits) and any(c.isalpha() for c in digits)
    predicates = (str.isdigit, str.islower, str.isupper)
    return _BASE64.fullmatch(text) is not None and all(
        any(map(predicate, text)) for predicate in predicates
    )


JUNK: dict[str, Callable[[str], bool]] = {
    "controls": _has_controls,
    "private": _is_private,
    "mojibake": _is_mojibake,
    "markup": lambda text: _MARKUP.search(text) is not None,
    "urls": lambda text: _URL.search(text) is not None,
    "rules": _is_rule,
    "repeats": _repeats,
    "encoded": _is_encoded,
    "names": lambda text: _NAME.fullmatch(text) is not None,
}
"""For each kind, whether it matches a token without its leading space."""
