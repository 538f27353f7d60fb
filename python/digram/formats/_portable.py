r"""Which patterns the engines of digram and of Hugging Face's `tokenizers` read alike.

digram's patterns have the syntax of Rust's `regex`; `tokenizers` hands them to Oniguruma with
Ruby's. What both accept they may read differently: `\w` and `\b` (other characters), `^` and `$`
(lines or the text), `(?i)` in the middle, `{1,3}+` and nested classes. A pattern crosses over only
if it consists of constructs that were compared on every code point; anything else is refused by
name, since a file that gives other ids elsewhere is worse than none.
"""

from __future__ import annotations

import re
from typing import NoReturn

from digram.errors import PatternError
from digram.pretokenizers import NAMED

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
"""Names that may stand in `\\p{...}`: Unicode's general categories, and scripts."""

_ESCAPE = re.compile(r"""\\(?:[sSdDtnrfv]|[pP]\{(\w+)\}|[-!"#$%&()*+,./:;=?@\[\\\]^_{|}~])""")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+,\d*\})\??|\{\d+\}(?!\?)")
_STACKED = re.compile(r"[*+?{]")
# What Unicode folds to one character (ß, ﬀ, ﬁ, ﬂ, ﬆ): Oniguruma takes it for the two letters.
_LIGATURES = re.compile("ss|ff|fi|fl|st", re.IGNORECASE)
_NAMED_PATTERNS = frozenset(pattern for named in NAMED.values() for pattern in named.patterns)


def check_portable(pattern: str, path: str | None = None) -> None:
    r"""Raises `PatternError` unless both engines read the pattern alike.

    >>> check_portable(r"(?i:'s|'t)|\p{L}+|\p{N}{1,3}|\s+(?!\S)|\s+")
    >>> check_portable(r"\w+|\s+")
    Traceback (most recent call last):
    digram.errors.PatternError: pattern '\\w+|\\s+', at character 0: '\\w' means something else ...
    """
    if pattern not in _NAMED_PATTERNS:
        _Reader(pattern, path).pattern(folding=False, depth=0)


class _Reader:
    """Walks over a pattern once; every method reads one construct from `at` on."""

    def __init__(self, pattern: str, path: str | None) -> None:
        self.text = pattern
        self.path = path
        self.at = 0

    def pattern(self, *, folding: bool, depth: int) -> None:
        """Alternatives, up to the end or the closing bracket of a group."""
        start = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == ")" and depth:
                break
            if char == "|":
                self.at += 1
                continue
            if char == "(":
                looks = self.group(folding, depth)
            else:
                looks = False
                self.atom(char, folding)
            self.quantifier(allowed=not looks)
        if depth and self.at == len(self.text):
            self.refuse(start, "(", "is not closed")

    def atom(self, char: str, folding: bool) -> None:
        """A character, an escape or a class."""
        if char == "[":
            self.char_class(folding)
        elif char == "\\":
            self.escape(folding)
        elif char in ".^$*+?{})" or char == "]":
            self.refuse(self.at, char)
        else:
            self.literal(char, folding)

    def literal(self, char: str, folding: bool) -> None:
        if folding:
            if not char.isascii():
                self.refuse(self.at, char, "has a case that is not ASCII's, under (?i:")
            if _LIGATURES.match(self.text, self.at):
                two = self.text[self.at : self.at + 2]
                self.refuse(self.at, two, "also means a ligature there, under (?i:")
        self.at += 1

    def escape(self, folding: bool) -> None:
        match = _ESCAPE.match(self.text, self.at)
        if match is None:
            self.refuse(self.at, self.text[self.at : self.at + 2])
        name = match[1]
        if name is not None and name not in PROPERTIES:
            self.refuse(self.at, match[0])
        # Under (?i: a category as \p{Lu} is folded by one engine and not by the other.
        if folding and name is not None:
            self.refuse(self.at, match[0], "is read differently under (?i:")
        self.at = match.end()

    def char_class(self, folding: bool) -> None:
        start = self.at
        self.at += 2 if self.text.startswith("[^", self.at) else 1
        first = self.at
        while not self.text.startswith("]", self.at) or self.at == first:
            if self.at >= len(self.text):
                self.refuse(start, "[", "is not closed")
            for bad in ("[", "]", "&&", "--", "~~", "||"):
                if self.text.startswith(bad, self.at):
                    self.refuse(self.at, bad, "is read differently inside a class")
            low = self.class_item(folding)
            if self.text.startswith("-", self.at) and not self.text.startswith("-]", self.at):
                dash = self.at
                self.at += 1
                high = (
                    None if self.text.startswith(("[", "]"), self.at) else self.class_item(folding)
                )
                if low is None or high is None or high < low:
                    self.refuse(dash, "-", "does not stand between two characters in order")
        self.at += 1

    def class_item(self, folding: bool) -> str | None:
        """One character of a class, or None for an escape that stands for several."""
        start = self.at
        if self.at >= len(self.text):
            self.refuse(start, "[", "is not closed")
        if self.text[self.at] == "\\":
            self.escape(folding)
            escaped = self.text[start + 1]
            return (
                None
                if escaped in "sSdDpP"
                else {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}.get(escaped, escaped)
            )
        char = self.text[self.at]
        if folding and not char.isascii():
            self.refuse(self.at, char, "has a case that is not ASCII's, under (?i:")
        self.at += 1
        return char

    def group(self, folding: bool, depth: int) -> bool:
        """A group; True if it only looks ahead."""
        for look in (r"(?!\S)", r"(?=\s)"):
            if self.text.startswith(look, self.at):
                self.at += len(look)
                return True
        if depth >= 50:
            self.refuse(self.at, "(", "nests too deep")
        for opening in ("(?i:", "(?:", "("):
            if self.text.startswith(opening, self.at):
                break
        if opening == "(" and self.text.startswith("(?", self.at):
            self.refuse(self.at, self.text[self.at : self.at + 3])
        self.at += len(opening)
        self.pattern(folding=folding or opening == "(?i:", depth=depth + 1)
        self.at += 1
        return False

    def quantifier(self, *, allowed: bool) -> None:
        start = self.at
        if _STACKED.match(self.text, start) is None:
            return
        match = _QUANTIFIER.match(self.text, start)
        if match is None or not allowed:
            self.refuse(start, self.text[start : start + 4])
        self.at = match.end()
        if _STACKED.match(self.text, self.at):
            self.refuse(self.at, self.text[self.at], "is read differently after a repetition")

    def refuse(self, at: int, construct: str, problem: str = "means something else") -> NoReturn:
        shown = self.text if len(self.text) <= 80 else self.text[:79] + "…"
        raise PatternError(
            f"pattern {shown!r}, at character {at}: {construct!r} {problem} to the engine that "
            "reads tokenizer.json elsewhere.",
            path=self.path,
            value=construct,
            index=at,
            hint=r"Write it with \p{...}, \s, \d, classes, groups and repetitions, which all "
            "engines read alike.",
        )
