"""A pattern of one's own."""

from __future__ import annotations

from dataclasses import dataclass

from digram._util.validation import word

__all__ = ["Regex"]


@dataclass(frozen=True, slots=True)
class Regex:
    r"""A pattern of one's own, in the syntax of Rust's `regex` crate.

    Matching is linear in the text. One character of look-ahead is understood, `(?!\S)` and
    `(?=\s)`, as the published patterns use it; look-behind, longer look-ahead and
    back-references are not, and raise `PatternError`.

    The pattern is compiled once, to an automaton. That takes milliseconds as a rule; where counted
    repetitions make it too large, `PatternError` says so within about a second. Only the parser
    counts no steps: `(?i)` before thousands of classes such as `\pL` takes it some seconds. A
    pattern has 65,536 bytes at most.

    >>> import digram
    >>> digram.pretokenize("key=value; other", digram.Regex(r"\w+|\s+"))
    ['key', '=', 'value', ';', ' ', 'other']
    """

    pattern: str

    def __post_init__(self) -> None:
        word("pattern", self.pattern)
