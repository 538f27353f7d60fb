r"""Check that digram and Hugging Face's `tokenizers` interpret a pattern in the same way.

digram's patterns have the syntax of Rust's `regex`; `tokenizers` passes them to Oniguruma, with
Ruby's syntax. Some constructs are valid in both but differ in meaning: `\w` and `\b` (other
characters), `^` and `$` (lines or the text), `(?i)` in the middle, `{1,3}+` and nested classes. A
pattern is accepted only if it consists of constructs that were compared on every code point; any
other construct is an error that names it, since other programs would produce other ids.
"""

from __future__ import annotations

import re
from typing import NoReturn

from digram.errors import PatternError
from digram.pretokenizers.pretokenizer import NAMED

__all__ = ["PROPERTIES", "check_portable"]

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

_ESCAPE = re.compile(r"""\\(?:[sSdDtnrfv]|[pP]\{(\w+)\}|[-!"#$%&()*+,./:;=?@\[\\\]^_{|}~])""")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+,\d*\})\??|\{\d+\}(?!\?)")
_STACKED = re.compile(r"[*+?{]")
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}
_LOOKS, _REPEATS = 1, 2
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


class _Reader:
    """Reads a pattern once; every method reads one construct from `at` on.

    The result says whether the construct contains a look-ahead (`_LOOKS`) or a repetition of
    varying length (`_REPEATS`).
    """

    def __init__(self, pattern: str, path: str | None) -> None:
        self.text = pattern
        self.path = path
        self.at = 0

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
        elif char == "\\":
            self.escape(folding)
        elif char in ".^$*+?{}])":
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

    def escape(self, folding: bool) -> None:
        match = _ESCAPE.match(self.text, self.at)
        if match is None or (match[1] is not None and match[1] not in PROPERTIES):
            self.refuse(self.at, match[0] if match else self.text[self.at : self.at + 2])
        if folding and match[1] is not None:  # one engine folds \p{Lu}, the other does not
            self.refuse(self.at, match[0], "means something else, under (?i:,")
        self.at = match.end()

    def char_class(self, folding: bool) -> None:
        start = self.at
        self.at += 2 if self.text.startswith("[^", self.at) else 1
        first = self.at
        while not self.text.startswith("]", self.at) or self.at == first:
            low = self.class_item(start, folding)
            if self.text.startswith("-", self.at) and not self.text.startswith("-]", self.at):
                dash = self.at
                if self.text.startswith("--", dash):
                    self.refuse(dash, "--", "inside a class means something else")
                self.at += 1
                high = self.class_item(start, folding)
                if low is None or high is None or high < low:
                    self.refuse(dash, "-", "is not between two characters in order, which differs")
        self.at += 1

    def class_item(self, start: int, folding: bool) -> str | None:
        """One character of a class, or None for an escape that stands for several."""
        if self.at >= len(self.text):
            self.refuse(start, "[", "is not closed, which is invalid")
        for bad in ("[", "]", "&&", "--", "~~", "||"):
            if self.text.startswith(bad, self.at):
                self.refuse(self.at, bad, "inside a class means something else")
        if self.text[self.at] != "\\":
            return self.literal(folding)
        escaped = self.text[self.at + 1 : self.at + 2]
        self.escape(folding)
        return None if escaped in "sSdDpP" else _CONTROLS.get(escaped, escaped)

    def group(self, folding: bool, depth: int) -> int:
        for look in (r"(?!\S)", r"(?=\s)"):
            if self.text.startswith(look, self.at):
                self.at += len(look)
                return _LOOKS
        if depth >= _MAX_DEPTH:
            self.refuse(self.at, "(", "nests too deep")
        opening = next(one for one in ("(?i:", "(?:", "(") if self.text.startswith(one, self.at))
        if opening == "(" and self.text.startswith("(?", self.at):
            self.refuse(self.at, self.text[self.at : self.at + 3])
        start = self.at
        self.at += len(opening)
        holds = self.pattern(folding=folding or opening == "(?i:", depth=depth + 1)
        if self.at == len(self.text):
            self.refuse(start, opening, "is not closed, which is invalid")
        self.at += 1
        return holds

    def quantifier(self, inside: int) -> int:
        """The quantifier after a construct; `inside` is what the construct contains."""
        start = self.at
        if _STACKED.match(self.text, start) is None:
            return 0
        match = _QUANTIFIER.match(self.text, start)
        if match is None:
            self.refuse(start, self.text[start : start + 4])
        if inside & _LOOKS:
            self.refuse(start, match[0], "repeats a look-ahead, which is meaningless")
        endless = match[0][0] in "*+" or ",}" in match[0]
        if endless and inside & _REPEATS:
            self.refuse(start, match[0], "repeats a repetition, which may take exponential time")
        self.at = match.end()
        if _STACKED.match(self.text, self.at):
            self.refuse(self.at, self.text[self.at], "after a repetition means something else")
        return _REPEATS if endless or "," in match[0] else 0

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
