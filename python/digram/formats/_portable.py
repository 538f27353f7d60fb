r"""Check that digram and Hugging Face's `tokenizers` interpret a pattern in the same way.

digram's patterns have the syntax of Rust's `regex`; `tokenizers` passes them to Oniguruma, with
Ruby's syntax. Some constructs are valid in both but differ in meaning: `\w` and `\b` (other
characters), `^` and `$` (lines or the text), `(?i)` in the middle, `{1,3}+` and nested classes. A
pattern is accepted only if it consists of constructs that were compared on every code point; any
other construct is an error that names it, since other programs would produce other ids. Look-around
means the same to both, but a look-behind must have no repetition of varying length and no other
look-around in it.

A pattern in a file of `tokenizers` is read as Oniguruma reads it: constructs that have the same
meaning in other words, such as `\w`, `$`, `\b` and `[[:alpha:]]`, are replaced by those words.
"""

from __future__ import annotations

import re
import sys
from typing import NoReturn

from digram.errors import PatternError
from digram.formats._properties import (
    ANCHORS,
    CLASSES,
    CONTROLS,
    ITEMS,
    NAMES,
    POSIX,
    REASONS,
)
from digram.formats._references import without_references
from digram.pretokenizers.pretokenizer import NAMED

__all__ = ["check_portable", "from_oniguruma", "takes_nothing"]

_ESCAPE = re.compile(
    r"""\\(?:[sSdDtnrfva]|[pP]\{(\w+)\}|u([0-9A-Fa-f]{4})|x\{([0-9A-Fa-f]{1,6})\}"""
    r"""|[-!"#$%&()*+,./:;=?@\[\\\]^_{|}~])"""
)
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+,\d*\})\??|\{\d+\}(?!\?)")
_POSSESSIVE = re.compile(r"[*+?]\+(?![*+?{])")
_MANY = re.compile(r"\{1,\d*\}\+(?![*+?{])")
_TO_END = r"\s++$"
_STACKED = re.compile(r"[*+?{]")
# What a construct holds or may do; the last says that a repetition of a repetition is at its end.
_LOOKS, _REPEATS, _VARIES, _CAPTURES, _TAKES, _CONSUMES, _FAILS, _SLOW = (1 << n for n in range(8))
_ONE = _TAKES | _CONSUMES | _FAILS
"""What one character does: it is taken always, or the match fails."""
_REFUSED_BEHIND = {
    _LOOKS: "a look-around",
    _VARIES: "a repetition of varying length",
    _CAPTURES: "a group other than (?:...)",
}
_LOOK_AROUND = re.compile(r"\(\?<?[=!]")
_NAMED_GROUP = re.compile(r"\(\?(?:<[^\W\d]\w*>|'[^\W\d]\w*')")
_OPTIONS = re.compile(r"\(\?([im]+)([:)])")
_BRACKETS = re.compile(r"\[:(\^?)(\w+):\]")
_PROPERTY = re.compile(r"\\([pP])\{(\^?)([\w -]+)\}")
_NUMBER = re.compile(r"\\(?:x(?P<hex>[0-9A-Fa-f]{1,2})|(?P<octal>0[0-7]{0,2})|(?P<escape>e))")
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
        _Reader(pattern, path).whole()


def from_oniguruma(pattern: str, path: str | None = None, anchors: bool = False) -> str:
    r"""A pattern of Oniguruma as one that both engines interpret in this way.

    Raises `PatternError` for a construct that has no such form. A pattern that may take exponential
    time to Oniguruma is read, since digram takes linear time. With `anchors`, those that have no
    form without a look-behind are read too: for splits, which may have any look-around. Linear.

    >>> from_oniguruma(r" ?[^(\s|[.,])]+|\d{1,3}+|\s+$")
    ' ?[^(\\s|.,)]+|\\d+|\\s+(?![^\\n])'
    """
    if pattern in _NAMED_PATTERNS:
        return pattern
    reader = _Reader(without_references(pattern), path, foreign=True, is_theirs=True)
    reader.anchors = ANCHORS if anchors else {"$": ANCHORS["$"]}
    reader.whole()
    found = reader.finished()
    # Flattened classes might make a range or an operator where they meet.
    _Reader(found, path, is_theirs=True).whole()
    return found


def takes_nothing(pattern: str) -> bool:
    r"""Whether a pattern that both engines interpret in one way only matches between characters.

    >>> takes_nothing(r"(?<=a)(?=b)|(?!\d)"), takes_nothing(r"a?(?=b)")
    (True, False)
    """
    return not _Reader(pattern, None, is_theirs=True).whole() & _TAKES


class _Reader:
    """Reads a pattern once; every method reads one construct from `at` on.

    The result says whether the construct contains a look-around (`_LOOKS`), a repetition that may
    be slow if it is repeated (`_REPEATS`), any of varying length (`_VARIES`) or a group that is
    stored (`_CAPTURES`), whether it may take characters (`_TAKES`), always does so (`_CONSUMES`)
    and may not match (`_FAILS`), and whether what follows makes it slow if that fails (`_SLOW`).
    With `foreign`, constructs that only Oniguruma reads in this way are replaced. With `is_theirs`,
    the pattern comes from a file that Oniguruma reads, whatever time it may take.
    """

    def __init__(
        self, pattern: str, path: str | None, foreign: bool = False, is_theirs: bool = False
    ) -> None:
        self.text = pattern
        self.path = path
        self.foreign = foreign
        self.is_theirs = is_theirs
        self.anchors: dict[str, str] = {}
        """What is written in place of an anchor."""
        self.takes_all = False
        """Whether `.` is any character, which Ruby's syntax calls `m`."""
        self.slow = 0, ""
        """The last repetition of a repetition, with its place."""
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

    def whole(self) -> int:
        """The whole pattern."""
        options = _OPTIONS.match(self.text) if self.foreign else None
        if options is None or options[2] == ":":
            return self.pattern(folding=False, depth=0)
        self.takes_all = "m" in options[1]
        self.replace(options.end(), "(?i:" if "i" in options[1] else "(?:")
        found = self.pattern(folding="i" in options[1], depth=0)
        self.replace(self.at, ")")
        return found

    def pattern(self, *, folding: bool, depth: int) -> int:
        """Alternatives, up to the end or the closing bracket of a group."""
        holds, always, branch = 0, _CONSUMES | _FAILS, 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == ")" and depth:
                break
            if char == "|":
                self.at += 1
                holds, always, branch = holds | branch, always & branch, 0
                continue
            inside = self.group(folding, depth) if char == "(" else self.atom(char, folding)
            part = self.quantifier(inside)
            if branch & _SLOW and part & _FAILS:
                self.refuse_slow()
            branch |= part
        return (holds | branch) & ~(_CONSUMES | _FAILS) | (always & branch)

    def atom(self, char: str, folding: bool) -> int:
        """A character, an escape or a class."""
        if char == "[":
            self.char_class(folding)
        elif self.foreign and self.text.startswith(_TO_END, self.at):
            # The run takes all line feeds, so that what `$` allows after it is the end of the text.
            self.replace(self.at + len(_TO_END), r"\s+(?![\s\S])")
            return _LOOKS | _REPEATS | _VARIES | _ONE
        elif self.foreign and not folding and self.anchor():
            return _LOOKS | _FAILS
        elif char == "\\":
            return _ONE | self.shorthand(folding)
        elif char == "." and self.takes_all:
            self.replace(self.at + 1, r"[\s\S]")
        elif char == ".":  # any character but a line feed
            self.at += 1
        elif char in "^$*+?{}])":
            self.refuse(self.at, char)
        else:
            if folding and _LIGATURES.match(self.text, self.at):
                two = self.text[self.at : self.at + 2]
                self.refuse(self.at, two, "is also a ligature, under (?i:,")
            self.literal(folding)
        return _ONE

    def anchor(self) -> bool:
        """Replace an anchor, if one is next."""
        length = 2 if self.text.startswith("\\", self.at) else 1
        look = self.anchors.get(self.text[self.at : self.at + length])
        if look is not None:
            self.replace(self.at + length, look)
        return look is not None

    def literal(self, folding: bool) -> str:
        char = self.text[self.at]
        if folding and not char.isascii():
            self.refuse(self.at, char, "is not ASCII, under (?i:,")
        self.at += 1
        return char

    def shorthand(self, folding: bool) -> int:
        """An escape outside a class."""
        name = self.text[self.at + 1 : self.at + 2]
        written = CLASSES.get(name) if self.foreign and not folding else None
        found = self.property() if self.foreign and not folding else None
        if found is not None:
            self.replace(found[0], f"[{found[1]}{found[2]}]")
        elif written is not None:
            self.replace(self.at + 2, written)
            return _VARIES if name == "R" else 0
        else:
            self.escape(folding)
        return 0

    def property(self) -> tuple[int, str, str] | None:
        """Where a property ends that digram has no name for, its negation and items."""
        match = _PROPERTY.match(self.text, self.at)
        name = match[3].lower() if match else ""
        if match is None or name == "word" or (name not in POSIX) or name in NAMES:
            return None
        return match.end(), "^" * ((match[1] == "P") != bool(match[2])), POSIX[name]

    def escape(self, folding: bool) -> None:
        """An escape that both engines have, or that is spelled in other words."""
        spelled = _PROPERTY.match(self.text, self.at) if self.foreign else None
        if spelled and (spelled[2] or not re.fullmatch(r"\w+", spelled[3])) and not folding:
            sign = "P" if (spelled[1] == "P") != bool(spelled[2]) else "p"
            name = re.sub("[ _-]", "", spelled[3]).lower()
            if name in NAMES:
                self.replace(spelled.end(), f"\\{sign}{{{name}}}")
                return
        if self.number() is not None:
            return
        match = _ESCAPE.match(self.text, self.at)
        named = match[1].replace("_", "").lower() if match and match[1] else None
        if match is None or (named is not None and named not in NAMES):
            self.refuse(self.at, match[0] if match else self.text[self.at : self.at + 2])
        if folding and named is not None:  # one engine folds \p{Lu}, the other does not
            self.refuse(self.at, match[0], "means something else, under (?i:,")
        if folding and (match[2] or match[3]) and int(match[2] or match[3], 16) > 0x7F:
            self.refuse(self.at, match[0], "is not ASCII, under (?i:,")
        self.at = match.end()

    def number(self) -> str | None:
        """Replace the number of a character as only Oniguruma has it, if one is next."""
        match = _NUMBER.match(self.text, self.at) if self.foreign else None
        if match is None:
            return None
        code = int(match["hex"], 16) if match["hex"] else int(match["octal"] or "33", 8)
        if code > 0x7F:
            self.refuse(self.at, match[0], "is a byte, not a character,")
        self.replace(match.end(), f"\\x{{{code:02X}}}")
        return chr(code)

    def char_class(self, folding: bool) -> None:
        start = self.at
        self.at += 2 if self.text.startswith("[^", self.at) else 1
        first = self.at
        while not self.text.startswith("]", self.at) or self.at == first:
            if self.foreign and self.inner_class(start, folding):
                continue
            if self.text.startswith("[^", self.at) and not folding:
                self.inner_negation(start)
                continue
            if self.text.startswith("&&[^", self.at) and first == start + 1 < self.at:
                self.left_out(start, folding)
                break
            self.class_range(start, folding)
        self.at += 1

    def inner_negation(self, start: int) -> None:
        """A negated class inside a class, which has no further class in it."""
        self.at += len("[^")
        first = self.at
        while not self.text.startswith("]", self.at) or self.at == first:
            self.class_range(start, False)
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
        if not folding and self.items():
            return True
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

    def items(self) -> bool:
        """Replace a name for several characters in a class by items, if one is next."""
        brackets = _BRACKETS.match(self.text, self.at)
        name = self.text[self.at + 1 : self.at + 2] if self.text.startswith("\\", self.at) else ""
        if brackets and brackets[2] in POSIX:
            found: tuple[int, str, str] | None = brackets.end(), brackets[1], POSIX[brackets[2]]
        elif name and name.lower() in ITEMS:
            found = self.at + 2, "^" * name.isupper(), ITEMS[name.lower()]
        else:
            found = self.property()
        if found is None:
            return False
        end, negation, items = found
        self.replace(end, f"[^{items}]" if negation else items)
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
        if (char := self.number()) is not None:
            return char
        start_of_item, escaped = self.at, self.text[self.at + 1 : self.at + 2]
        self.escape(folding)
        if escaped in "ux":
            number = int(self.text[start_of_item + 2 : self.at].strip("{}"), 16)
            return chr(number) if number <= sys.maxunicode else None
        return None if escaped in "sSdDpP" else CONTROLS.get(escaped, escaped)

    def group(self, folding: bool, depth: int) -> int:
        if depth >= _MAX_DEPTH:
            self.refuse(self.at, "(", "nests too deep")
        if look := _LOOK_AROUND.match(self.text, self.at):
            return self.look_around(look[0], folding, depth)
        openings = ("(?i:", "(?:", "(?>", "(")
        opening = next(one for one in openings if self.text.startswith(one, self.at))
        start = self.at
        named = _NAMED_GROUP.match(self.text, start) if self.foreign else None
        options = _OPTIONS.match(self.text, start) if self.foreign else None
        outside = self.takes_all
        if named:
            self.replace(named.end(), opening)
        elif options and options[2] == ":":
            opening = "(?i:" if "i" in options[1] else "(?:"
            self.takes_all |= "m" in options[1]
            self.replace(options.end(), opening)
        elif opening == "(" and self.text.startswith("(?", start):
            self.refuse(start, self.text[start : start + 3])
        else:
            self.at += len(opening)
        holds = self.pattern(folding=folding or opening == "(?i:", depth=depth + 1)
        if self.at == len(self.text):
            self.refuse(start, opening, "is not closed, which is invalid")
        self.at += 1
        self.takes_all = outside
        if opening == "(?>":  # nothing in it is tried again
            return holds & ~(_REPEATS | _SLOW)
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
            return _LOOKS | _FAILS
        for part, what in _REFUSED_BEHIND.items():
            if holds & part and not self.is_theirs:  # a file has only what their engine reads
                self.refuse(start, opening, f"around {what} may be invalid")
        return _LOOKS | _FAILS

    def quantifier(self, inside: int) -> int:
        """A construct with the quantifier after it; `inside` is the construct."""
        start = self.at
        if _STACKED.match(self.text, start) is None:
            return inside
        match = _QUANTIFIER.match(self.text, start)
        if match is None:
            self.refuse(start, self.text[start : start + 4])
        if inside & _LOOKS and not inside & _CONSUMES:
            self.refuse(start, match[0], "repeats a look-around, which is meaningless")
        endless = match[0][0] in "*+" or ",}" in match[0]
        least = {"*": 0, "?": 0, "+": 1}.get(match[0][0])
        least = int(re.sub(r"\D.*", "", match[0][1:])) if least is None else least
        if self.foreign and _MANY.match(self.text, start):
            # Oniguruma repeats the repetition: so any number, as many as possible.
            self.replace(match.end() + 1, "+")
            endless = True
        else:
            self.at = match.end()
            self.at += _POSSESSIVE.match(self.text, start) is not None
        if _STACKED.match(self.text, self.at):
            self.refuse(self.at, self.text[self.at], "after a repetition means something else")
        if inside & _SLOW and least > 1:
            self.refuse_slow()
        found = inside if least else inside & ~(_CONSUMES | _FAILS)
        if endless and inside & _REPEATS and not self.is_theirs:
            self.slow = start, match[0]
            found |= _SLOW
            if least > 1:
                self.refuse_slow()
        repeats = endless or "," in match[0]
        found |= _REPEATS if repeats else 0
        return found | (_VARIES if repeats or match[0][0] == "?" else 0)

    def refuse_slow(self) -> NoReturn:
        """Refuse a repetition of a repetition before what may not match."""
        self.refuse(*self.slow, "repeats a repetition, which may take exponential time")

    def refuse(self, at: int, construct: str, problem: str | None = None) -> NoReturn:
        shown = self.text if len(self.text) <= 80 else self.text[:79] + "…"
        place = f"pattern {shown!r}, at character {at}: {construct!r}"
        if self.foreign and problem is None:
            means = REASONS.get(construct[:2])
            meaning = f" ({means})" if means else ""
            message = (
                f"{place}{meaning} is not supported in a pattern of Hugging Face's tokenizers."
            )
            hint = r"Write it with \p{...}, classes, groups, repetitions and look-around."
        else:
            problem = problem or "means something else"
            message = f"{place} {problem} to the engine of Hugging Face's tokenizers."
            hint = (
                r"Use \p{...}, \s, \d, classes, groups and repetitions, which both engines "
                "interpret in the same way."
            )
        raise PatternError(message, path=self.path, value=construct, index=at, hint=hint)
