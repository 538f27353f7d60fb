r"""The pieces that rules cut out of a text: a readable specification of the fast core.

Like `digram.reference` this needs only Python. A rule names a text that is always a separate piece:
**terms**, **units** after a number, matches of **patterns**, and **whole numbers**. The text
between these pieces is split as it would be without rules.

>>> rules = Cut(terms=["insulin glargine", "mmol/L"], units=["mg", "mmol/L"])
>>> cut_out("5 mg insulin glargine, 5mg, 5.2-mmol/L", rules)
[('5 ', False), ('mg', True), (' insulin glargine', True), (', 5', False), ('mg', True),
 (', 5.2-', False), ('mmol/L', True)]

The text is read from the left. At each place the first of the following that matches is cut out,
and reading continues after it:

1. the longest term, with one space before it if there is a space at this place;
2. the longest unit, if a number ends here, or one of `SEPARATORS` after a number;
3. a match of a pattern, the first pattern first;
4. a number with its decimals, if numbers are cut out whole.

A piece never begins or ends **inside a word**: between two letters, marks or numbers. If numbers
are separate pieces, there is a word boundary between a number and a letter: `metformin500`. There
always is one between a number and its unit: `500mg`.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

SEPARATORS = " \u00a0\u2009\u202f-\u2010\u2011"
"""The characters allowed between a number and its unit: spaces and hyphens of several kinds."""

BLANKS = " \u00a0\u2009\u202f"
MOST_BLANKS = 8


class Cut(NamedTuple):
    """The rules. `numbers`: whether numbers are separate pieces, by the rules or the next split.

    `blanks`: whether up to `MOST_BLANKS` of `BLANKS` may stand between a number and its unit.
    """

    terms: Sequence[str] = ()
    units: Sequence[str] = ()
    patterns: Sequence[str] = ()
    whole_numbers: bool = False
    numbers: bool = False
    blanks: bool = False


def kind(character: str) -> str:
    """`L` for letters and marks, `N` for numbers, an empty string for others and for no character.

    >>> [kind(character) for character in ("é", "٣", "²", " ", "")]
    ['L', 'N', 'N', '', '']
    """
    category = unicodedata.category(character)[0] if character else ""
    return {"L": "L", "M": "L", "N": "N"}.get(category, "")


def may_meet(inner: str, outer: str, rules: Cut) -> bool:
    """Whether a piece may begin or end with one character next to another one outside of it.

    >>> may_meet("g", "x", Cut()), may_meet("g", ".", Cut()), may_meet("g", "5", Cut())
    (False, True, False)
    >>> may_meet("g", "5", Cut(numbers=True)), may_meet("5", "6", Cut(numbers=True))
    (True, False)
    """
    if rules.numbers and kind(inner) != kind(outer):
        return True
    return not (kind(inner) and kind(outer))


def found(text: str, at: int, rules: Cut) -> int:
    """The end of the piece that is cut out at a place; the place itself if there is none.

    >>> [found("5 mg of iron", at, Cut(["iron"], ["mg", "m"])) for at in (0, 1, 2, 7, 8)]
    [0, 1, 4, 12, 12]
    """
    before, here = text[at - 1 : at] if at else "", text[at]

    def may_end(end: int) -> bool:
        return may_meet(text[end - 1], text[end : end + 1], rules)

    def longest(texts: Sequence[str], start: int, may_end: Callable[[int], bool]) -> int:
        ends = [start + len(one) for one in texts if text.startswith(one, start)]
        return max((end for end in ends if may_end(end)), default=start)

    def may_end_before_unit(end: int) -> bool:
        before_unit = kind(text[end - 1]) == "N" and kind(text[end : end + 1]) != "N"
        return may_end(end) or (before_unit and longest(rules.units, end, may_end) > end)

    may_begin = may_meet(here, before, rules)
    in_blanks = bool(rules.blanks and rules.units and blanks_before(text, at))
    # After a number a space is, as before a unit, a separate piece.
    spaced = here == " " and not (rules.units and kind(before) == "N") and not in_blanks
    if spaced or (here != " " and may_begin):
        end = longest(rules.terms, at + spaced, may_end_before_unit)
        if end > at + spaced:
            return end
    separated = at > 1 and before in SEPARATORS and kind(text[at - 2]) == "N"
    if separated or in_blanks or (kind(before) == "N" and kind(here) != "N"):
        end = longest(rules.units, at, may_end)
        if end > at:
            return end
    for pattern in rules.patterns:
        match = re.compile(pattern).match(text, at)
        if match and match.end() > at and may_begin and may_end_before_unit(match.end()):
            return match.end()
    if rules.whole_numbers and kind(here) == "N":
        return at + _number(text[at:])
    return at


def blanks_before(text: str, at: int) -> int:
    """The number of blanks between a number and a place; 0 if there is no number, or too many.

    >>> blanks_before("5  mg", 3), blanks_before("5mg", 1), blanks_before("a  mg", 3)
    (2, 0, 0)
    """
    count = len(text[:at]) - len(text[:at].rstrip(BLANKS))
    number = text[at - count - 1 : at - count] if count < at else ""
    return count if count <= MOST_BLANKS and kind(number) == "N" else 0


def _number(text: str) -> int:
    """The length of the number at the start of a text: digits, and more after a point or comma."""
    end = at = 0
    while at < len(text) and (kind(text[at]) == "N" or (at == end and text[at] in ".,")):
        at += 1
        end = at if kind(text[at - 1]) == "N" else end
    return end


def cut_out(text: str, rules: Cut) -> list[tuple[str, bool]]:
    r"""The pieces of a text in order, each with whether it was cut out.

    >>> cut_out("12,345.6 (2.5)", Cut(whole_numbers=True, numbers=True))
    [('12,345.6', True), (' (', False), ('2.5', True), (')', False)]
    >>> cut_out("ICD I10.9, XI10.9", Cut(patterns=[r"[A-Z]\d\d(\.\d)?"]))
    [('ICD ', False), ('I10.9', True), (', XI10.9', False)]
    """
    pieces: list[tuple[str, bool]] = []
    start = at = 0
    while at < len(text):
        end = found(text, at, rules)
        if end == at:
            at += 1
            continue
        if start < at:
            pieces.append((text[start:at], False))
        pieces.append((text[at:end], True))
        start = at = end
    return [*pieces, (text[start:], False)] if start < len(text) else pieces


def one_spelling(text: str, rules: Cut, spelled: Mapping[str, str]) -> str:
    """The text with its units written in one way, and one space between a number and its unit.

    `spelled` has all ways to write a unit, and the one way of each; they are the units and terms of
    `rules`, whose `blanks` is true. This comes before the text is cut, by other rules.

    >>> spelled = {"ml": "mL", "mL": "mL"}
    >>> one_spelling("5  ml, 5ml, html", Cut(["ml", "mL"], [*spelled], blanks=True), spelled)
    '5 mL, 5mL, html'
    """
    new, at = "", 0
    for piece, is_cut_out in cut_out(text, rules):
        unit = piece.removeprefix(" ")
        before = at + len(piece) - len(unit)
        # What a pattern matches, or a number, is no unit.
        if is_cut_out and unit in spelled and _is_text(text, at, rules):
            blanks = blanks_before(text, before)
            new = (new + piece[: before - at]) if not blanks else new[: len(new) - blanks] + " "
            new += spelled[unit]
        else:
            new += piece
        at += len(piece)
    return new


def _is_text(text: str, at: int, rules: Cut) -> bool:
    """Whether what is cut out at a place is a term or a unit."""
    return found(text, at, rules._replace(patterns=(), whole_numbers=False)) > at
