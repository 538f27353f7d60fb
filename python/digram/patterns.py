"""A pattern of one's own."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Regex"]


@dataclass(frozen=True, slots=True)
class Regex:
    r"""A pattern of one's own, in the syntax of Rust's `regex` crate.

    Matching is linear in the text. One character of look-ahead is understood, `(?!\S)` and
    `(?=\s)`, as the published patterns use it; look-behind, longer look-ahead and
    back-references are not, and raise `PatternError`.

    >>> import digram
    >>> digram.pretokenize("key=value; other", digram.Regex(r"\w+|\s+"))
    ['key', '=', 'value', ';', ' ', 'other']
    """

    pattern: str
