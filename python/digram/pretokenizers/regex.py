"""Custom patterns."""

from __future__ import annotations

from dataclasses import dataclass

from digram._util.validation import word

__all__ = ["Regex"]


@dataclass(frozen=True, slots=True)
class Regex:
    r"""A custom pattern, in the syntax of Rust's `regex` crate, and look-around of any kind.

    Matching is linear in the text. `(?=...)`, `(?!...)`, `(?<=...)` and `(?<!...)` may stand
    anywhere and contain any pattern of any length; they are read in a few passes over the text.
    A pattern with look-around or an anchor may match nothing, as `(?<=[a-z])(?=[A-Z])`; the text
    is then split there. Back-references and conditions raise `PatternError`. A possessive
    repetition such as `\p{L}++` is accepted if giving characters back could not help what follows,
    as in the patterns that `tiktoken` publishes.

    The pattern is compiled once, to an automaton. This usually takes milliseconds; if counted
    repetitions make the automaton too large, `PatternError` is raised within about a second. Only
    parsing has no such limit: `(?i)` before thousands of classes such as `\pL` takes some seconds.
    A pattern has at most 65,536 bytes.

    >>> import digram
    >>> digram.pretokenize("key=value; other", digram.Regex(r"\w+|\s+"))
    ['key', '=', 'value', ';', ' ', 'other']
    >>> digram.pretokenize("getHTTPHeader", digram.Regex(r"(?<=[a-z])(?=[A-Z])"))
    ['get', 'HTTPHeader']
    """

    pattern: str

    def __post_init__(self) -> None:
        word("pattern", self.pattern)
