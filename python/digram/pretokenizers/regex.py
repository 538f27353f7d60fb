"""Custom patterns."""

from __future__ import annotations

from dataclasses import dataclass

from digram._util.validation import word

__all__ = ["Regex"]


@dataclass(frozen=True, slots=True)
class Regex:
    r"""A custom pattern, in the syntax of Rust's `regex` crate.

    Matching is linear in the text. Look-ahead of one character is supported, `(?!\S)` and
    `(?=\s)`, as in the published patterns; look-behind, longer look-ahead and back-references
    raise `PatternError`. A possessive repetition such as `\p{L}++` is accepted if giving characters
    back could not help what follows, as in the patterns that `tiktoken` publishes.

    The pattern is compiled once, to an automaton. This usually takes milliseconds; if counted
    repetitions make the automaton too large, `PatternError` is raised within about a second. Only
    parsing has no such limit: `(?i)` before thousands of classes such as `\pL` takes some seconds.
    A pattern has at most 65,536 bytes.

    >>> import digram
    >>> digram.pretokenize("key=value; other", digram.Regex(r"\w+|\s+"))
    ['key', '=', 'value', ';', ' ', 'other']
    """

    pattern: str

    def __post_init__(self) -> None:
        word("pattern", self.pattern)
