r"""Check that digram and Hugging Face's `tokenizers` interpret a pattern in the same way.

digram's patterns have the syntax of Rust's `regex`; `tokenizers` passes them to Oniguruma, with
Ruby's syntax. Some constructs are valid in both but differ in meaning: `\w` and `\b` (other
characters), `^` and `$` (lines or the text), `(?i)` in the middle, `{1,3}+` and nested classes. A
pattern is accepted only if it consists of constructs that were compared on every code point; any
other construct is an error that names it, since other programs would produce other ids. Look-around
means the same to both, but a look-behind must have no repetition of varying length and no other
look-around in it.

A pattern in a file of `tokenizers` is read as Oniguruma reads it: constructs that have the same
meaning in other words, such as `\w`, `$` and nested classes, are replaced by those words.
"""

from __future__ import annotations

import re
import sys
from typing import NoReturn

from digram.errors import PatternError
from digram.formats._references import without_references
from digram.pretokenizers.pretokenizer import NAMED

__all__ = ["PROPERTIES", "check_portable", "from_oniguruma"]

PROPERTIES = frozenset(
    [
        *("L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No"),
        *("P", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So"),
        *("Z", "Zs", "Zl", "Zp", "C", "Cc", "Cf", "Cn", "Co"),
        *("Arabic", "Armenian", "Bengali", "Cyrillic", "Devanagari", "Ethiopic", "Georgian"),
        *("Greek", "Han", "Hangul", "Hebrew", "Hiragana", "Katakana", "Khmer", "Lao", "Latin"),
        *("Myanmar", "Tamil", "Thai", "Tibetan"),
    ]
)
"""The names accepted in `\\p{...}`: Unicode's general categories, and scripts."""

_ESCAPE = re.compile(
    r"""\\(?:[sSdDtnrfv]|[pP]\{(\w+)\}|u([0-9A-Fa-f]{4})|x\{([0-9A-Fa-f]{1,6})\}"""
    r"""|[-!"#$%&()*+,./:;=?@\[\\\]^_{|}~])"""
)
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+,\d*\})\??|\{\d+\}(?!\?)")
_POSSESSIVE = re.compile(r"[*+?]\+(?![*+?{])")
_MANY = re.compile(r"\{1,\d*\}\+(?![*+?{])")
_TO_END = r"\s++$"
_STACKED = re.compile(r"[*+?{]")
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}
_LOOKS, _REPEATS, _VARIES, _CAPTURES = 1, 2, 4, 8
_REFUSED_BEHIND = {
    _LOOKS: "a look-around",
    _VARIES: "a repetition of varying length",
    _CAPTURES: "a group other than (?:...)",
}
_LOOK_AROUND = re.compile(r"\(\?<?[=!]")
_ITEMS = {
    "w": r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}Ⓐ-ⓩ🄰-🅉🅐-🅩🅰-🆉",
    "h": "0-9A-Fa-f",
    "[:punct:]": r"\p{P}\p{S}",
}
"""What Oniguruma's shorthands contain, written as the items of a class."""
_WORD_OUTSIDE = "²³¹¼-¾"
"""Characters that Oniguruma's `\\w` matches only outside a class."""
_MAX_DEPTH = 50
# Unicode folds these to one character (ß, ﬀ, ﬁ, ﬂ, ﬆ); Oniguruma matches the two letters.
_LIGATURES = re.compile("ss|ff|fi|fl|st", re.IGNORECASE)
_NAMED_PATTERNS = frozenset(pattern for named in NAMED.values() for pattern in named.patterns)


def check_portable(pattern: str, path: str | None = None) -> None:
    r"""Raises `PatternError` unless both engines interpret the pattern in the same way.

    >>> check_portable(r"(?i:'s|'t)|\p{L}+|\p{N}{1,3}|\s+(?!\S)|\s+")
    >>> check_portable(r"\w+|\s+")
    Traceback (most recent call last):
    digram.errors.PatternError: pattern '\\w+|\\s+', at character 0: '\\w' means something else ...
    """
    if pattern not in _NAMED_PATTERNS:
        _Reader(pattern, path).pattern(folding=False, depth=0)


def from_oniguruma(pattern: str, path: str | None = None) -> str:
    r"""A pattern of Oniguruma as one that both engines interpret in this way.

    Raises `PatternError` for a construct that has no such form. Linear.

    >>> from_oniguruma(r" ?[^(\s|[.,])]+|\d{1,3}+|\s+$")
    ' ?[^(\\s|.,)]+|\\d+|\\s+(?![^\\n])'
    """
    if pattern in _NAMED_PATTERNS:
        return pattern
    reader = _Reader(without_references(pattern), path, foreign=True)
    reader.pattern(folding=False, depth=0)
    found = reader.finished()
    # Flattened classes might make a range or an operator where they meet.
    check_portable(found, path)
    return found


class _Reader:
    """Reads a pattern once; every method reads one construct from `at` on.

    The result says whether the construct contains a look-around (`_LOOKS`), a repetition that may
    be slow if it is repeated (`_REPEATS`), any of varying length (`_VARIES`) or a group that is
    stored (`_CAPTURES`). With `foreign`, constructs that only Oniguruma reads in this way
    are replaced.
    """

    def __init__(self, pattern: str, path: str | None, foreign: bool = False) -> None:
        self.text = pattern
        self.path = path
        self.foreign = foreign
        self.at = 0
        self.done = 0
        """The end of what is in `written`."""
        self.written: list[str] = []

    def replace(self, end: int, by: str) -> None:
        """Write other words for the text from `at` to `end`."""
        self.written += [self.text[self.done : self.at], by]
        self.at = self.done = end

    def finished(self) -> str:
        """The whole pattern with its replacements."""
        return "".join([*self.written, self.text[self.done :]])

    def pattern(self, *, folding: bool, depth: int) -> int:
        """Alternatives, up to the end or the closing bracket of a group."""
        holds = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == ")" and depth:
                break
            if char == "|":
                self.at += 1
                continue
            inside = self.group(folding, depth) if char == "(" else self.atom(char, folding)
            holds |= inside | self.quantifier(inside)
        return holds

    def atom(self, char: str, folding: bool) -> int:
        """A character, an escape or a class."""
        if char == "[":
            self.char_class(folding)
        elif self.foreign and self.text.startswith(_TO_END, self.at):
            # The run takes all line feeds, so that what `$` allows after it is the end of the text.
            self.replace(self.at + len(_TO_END), r"\s+(?![\s\S])")
            return _LOOKS | _REPEATS | _VARIES
        elif char == "\\":
            if not self.shorthand(folding):
                self.escape(folding)
        elif char == ".":  # any character but a line feed
            self.at += 1
        elif char == "$" and self.foreign:  # before every line feed
            self.replace(self.at + 1, r"(?![^\n])")
            return _LOOKS
        elif char in "^$*+?{}])":
            self.refuse(self.at, char)
        else:
            if folding and _LIGATURES.match(self.text, self.at):
                two = self.text[self.at : self.at + 2]
                self.refuse(self.at, two, "is also a ligature, under (?i:,")
            self.literal(folding)
        return 0

    def literal(self, folding: bool) -> str:
        char = self.text[self.at]
        if folding and not char.isascii():
            self.refuse(self.at, char, "is not ASCII, under (?i:,")
        self.at += 1
        return char

    def shorthand(self, folding: bool, in_class: bool = False) -> bool:
        """Replace a shorthand for a class, if one is next that only Oniguruma has."""
        name = self.text[self.at + 1 : self.at + 2]
        items = _ITEMS.get(name.lower()) if self.foreign and not folding else None
        if items is None or len(name) != 1 or (in_class and name.isupper()):
            return False
        if not in_class:
            items += _WORD_OUTSIDE if name in "wW" else ""
            items = f"[{'^' if name.isupper() else ''}{items}]"
        self.replace(self.at + 2, items)
        return True

    def escape(self, folding: bool) -> None:
        match = _ESCAPE.match(self.text, self.at)
        if match is None or (match[1] is not None and match[1] not in PROPERTIES):
            self.refuse(self.at, match[0] if match else self.text[self.at : self.at + 2])
        if folding and match[1] is not None:  # one engine folds \p{Lu}, the other does not
            self.refuse(self.at, match[0], "means something else, under (?i:,")
        if folding and (match[2] or match[3]) and int(match[2] or match[3], 16) > 0x7F:
            self.refuse(self.at, match[0], "is not ASCII, under (?i:,")
        self.at = match.end()

    def char_class(self, folding: bool) -> None:
        start = self.at
        self.at += 2 if self.text.startswith("[^", self.at) else 1
        first = self.at
        while not self.text.startswith("]", self.at) or self.at == first:
            if self.foreign and self.inner_class(start, folding):
                continue
            if self.text.startswith("&&[^", self.at) and first == start + 1 < self.at:
                self.left_out(start, folding)
                break
            self.class_range(start, folding)
        self.at += 1

    def left_out(self, start: int, folding: bool) -> None:
        """What is left out of a class, as in `[a-z&&[^aeiou]]`, up to the end of the class."""
        sign = self.at
        self.at += len("&&[^")
        first = self.at
        while not self.text.startswith("]", self.at) or self.at == first:
            self.class_range(start, folding)
        if not self.text.startswith("]]", self.at):
            self.refuse(sign, "&&", "inside a class means something else")
        self.at += 1

    def class_range(self, start: int, folding: bool) -> None:
        """One item of a class, or two with a dash between them."""
        low = self.class_item(start, folding)
        if self.text.startswith("-", self.at) and not self.text.startswith("-]", self.at):
            dash = self.at
            if self.text.startswith("--", dash):
                self.refuse(dash, "--", "inside a class means something else")
            self.at += 1
            high = self.class_item(start, folding)
            if low is None or high is None or high < low:
                self.refuse(dash, "-", "is not between two characters in order, which differs")

    def inner_class(self, start: int, folding: bool) -> bool:
        """Flatten a class inside a class, if one is next; both mean the union."""
        posix = "[:punct:]"
        if self.text.startswith(posix, self.at) and not folding:
            self.replace(self.at + len(posix), _ITEMS[posix])
            return True
        if self.text.startswith("\\", self.at):
            return self.shorthand(folding, in_class=True)
        if not self.text.startswith("[", self.at) or self.text.startswith(("[^", "[:"), self.at):
            return False
        self.replace(self.at + 1, "")
        first = self.at
        while not self.text.startswith("]", self.at) or self.at == first:
            if self.text.startswith(("-", "[", "\\w", "\\h"), self.at):
                self.refuse(self.at, self.text[self.at], "in a class inside a class may mean more")
            self.class_range(start, folding)
        self.replace(self.at + 1, "")
        return True

    def class_item(self, start: int, folding: bool) -> str | None:
        """One character of a class, or None for an escape that stands for several."""
        if self.at >= len(self.text):
            self.refuse(start, "[", "is not closed, which is invalid")
        for bad in ("[", "]", "&&", "--", "~~", "||"):
            if self.text.startswith(bad, self.at):
                self.refuse(self.at, bad, "inside a class means something else")
        if self.text[self.at] != "\\":
            return self.literal(folding)
        start_of_item, escaped = self.at, self.text[self.at + 1 : self.at + 2]
        self.escape(folding)
        if escaped in "ux":
            number = int(self.text[start_of_item + 2 : self.at].strip("{}"), 16)
            return chr(number) if number <= sys.maxunicode else None
        return None if escaped in "sSdDpP" else _CONTROLS.get(escaped, escaped)

    def group(self, folding: bool, depth: int) -> int:
        if depth >= _MAX_DEPTH:
            self.refuse(self.at, "(", "nests too deep")
        if look := _LOOK_AROUND.match(self.text, self.at):
            return self.look_around(look[0], folding, depth)
        opening = next(one for one in ("(?i:", "(?:", "(") if self.text.startswith(one, self.at))
        if opening == "(" and self.text.startswith("(?", self.at):
            self.refuse(self.at, self.text[self.at : self.at + 3])
        start = self.at
        self.at += len(opening)
        holds = self.pattern(folding=folding or opening == "(?i:", depth=depth + 1)
        if self.at == len(self.text):
            self.refuse(start, opening, "is not closed, which is invalid")
        self.at += 1
        return holds | (_CAPTURES if opening == "(" else 0)

    def look_around(self, opening: str, folding: bool, depth: int) -> int:
        """A look-ahead, or a look-behind of which each alternative has one length.

        Their engine knows others, but has no others in it, and fails for some of varying length.
        """
        start = self.at
        self.at += len(opening)
        holds = self.pattern(folding=folding, depth=depth + 1)
        if self.at == len(self.text):
            self.refuse(start, opening, "is not closed, which is invalid")
        self.at += 1
        if not opening.startswith("(?<"):
            return _LOOKS
        for part, what in _REFUSED_BEHIND.items():
            if holds & part:
                self.refuse(start, opening, f"around {what} may be invalid")
        return _LOOKS

    def quantifier(self, inside: int) -> int:
        """The quantifier after a construct; `inside` is what the construct contains."""
        start = self.at
        if _STACKED.match(self.text, start) is None:
            return 0
        match = _QUANTIFIER.match(self.text, start)
        if match is None:
            self.refuse(start, self.text[start : start + 4])
        if inside & _LOOKS:
            self.refuse(start, match[0], "repeats a look-around, which is meaningless")
        endless = match[0][0] in "*+" or ",}" in match[0]
        if endless and inside & _REPEATS:
            self.refuse(start, match[0], "repeats a repetition, which may take exponential time")
        if self.foreign and _MANY.match(self.text, start):
            # Oniguruma repeats the repetition: so any number, as many as possible.
            self.replace(match.end() + 1, "+")
            return _REPEATS | _VARIES
        self.at = match.end()
        if _POSSESSIVE.match(self.text, start):
            self.at += 1
        if _STACKED.match(self.text, self.at):
            self.refuse(self.at, self.text[self.at], "after a repetition means something else")
        repeats = _REPEATS if endless or "," in match[0] else 0
        return repeats | (_VARIES if repeats or match[0][0] == "?" else 0)

    def refuse(self, at: int, construct: str, problem: str = "means something else") -> NoReturn:
        shown = self.text if len(self.text) <= 80 else self.text[:79] + "…"
        raise PatternError(
            f"pattern {shown!r}, at character {at}: {construct!r} {problem} to the engine of "
            "Hugging Face's tokenizers.",
            path=self.path,
            value=construct,
            index=at,
            hint=r"Use \p{...}, \s, \d, classes, groups and repetitions, which both engines "
            "interpret in the same way.",
        )
