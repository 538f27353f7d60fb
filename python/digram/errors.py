"""Every error that digram raises on purpose.

    DigramError
    ├── InvalidTextError      text that cannot be encoded (a lone surrogate, an unknown character)
    ├── SpecialTokenError     a special token that is unknown, not allowed here, or in conflict
    ├── TokenIdError          an id that the vocabulary does not hold
    ├── VocabError            a vocabulary that contradicts itself, or that a format cannot carry
    ├── CorruptFileError      a file that is damaged
    ├── PatternError          a pattern that is unknown or not supported
    ├── OptionError           an argument with a value that makes no sense
    ├── LimitExceededError    a stated limit was passed
    ├── ConfigMismatchError   two things that were made with different settings
    ├── CheckpointError       a checkpoint that is not of this run, or in use
    └── InternalError         a broken promise of digram's own (also a RuntimeError)

All but `CheckpointError` and `InternalError` are `ValueError`s too. `OSError`, `MemoryError`,
`TypeError` and `KeyboardInterrupt` stay the built-in ones.
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

__all__ = [
    "CheckpointError",
    "ConfigMismatchError",
    "CorruptFileError",
    "DigramError",
    "InternalError",
    "InvalidTextError",
    "LimitExceededError",
    "OptionError",
    "PatternError",
    "SpecialTokenError",
    "TokenIdError",
    "VocabError",
    "placed",
    "several",
    "show",
]

_PLACES = ("path", "line", "record", "offset", "index", "value", "hint")


class DigramError(Exception):
    """The base of all errors of digram: what happened, where, and what to do.

    >>> error = VocabError("token 7 is there twice.", path="vocab.json", line=3, hint="Remove one.")
    >>> str(error)
    'vocab.json, line 3: token 7 is there twice. Remove one.'
    >>> error.line
    3
    >>> print(CorruptFileError("invalid JSON.", path="a.jsonl", record=2, offset=18))
    a.jsonl, record 2 (byte 18): invalid JSON.

    Attributes that do not apply are None: `path`, `line` and `record` (from 1), `offset` (bytes
    from 0), `index` (into the argument), `value` (the offending one), `hint` (the remedy).
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
        record: int | None = None,
        offset: int | None = None,
        index: int | None = None,
        value: Any = None,
        hint: str | None = None,
    ) -> None:
        if not isinstance(message, str) or not isinstance(hint, str | None):
            raise TypeError("the message and the hint of an error are str")
        message = _shortened(message)
        super().__init__(message)
        self.message = message
        self.path = None if path is None else fspath(path)
        self.line = line
        self.record = record
        self.offset = offset
        self.index = index
        self.value = value
        self.hint = None if hint is None else _shortened(hint)

    def __str__(self) -> str:
        place = "" if self.path is None else self.path
        if self.line is not None:
            place += f", line {self.line}" if place else f"line {self.line}"
        if self.record is not None:
            place += f", record {self.record}" if place else f"record {self.record}"
            place += "" if self.offset is None else f" (byte {self.offset})"
        text = f"{place}: {self.message}" if place else self.message
        return text if self.hint is None else f"{text} {self.hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: getattr(self, name) for name in _PLACES}
        return _rebuild, (type(self), self.message, state)


_LONGEST, _END = 2_000, 300


def _shortened(text: str) -> str:
    """A message without most of what it quotes, where that is long: nobody reads 70 kB."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - _END - 1]}…{text[-_END:]}"


def _rebuild(kind: type[DigramError], message: str, state: dict[str, Any]) -> DigramError:
    return kind(message, **state)


def placed(error: BaseException, place: str) -> None:
    """Say first in the message of an error which part of an argument it is about.

    >>> error = TypeError("text is str or bytes, not int")
    >>> placed(error, "text[1]")
    >>> str(error)
    'text[1]: text is str or bytes, not int'
    """
    if isinstance(error, DigramError):
        error.message = f"{place}: {error.message}"
        error.args = (error.message,)
    elif isinstance(error, TypeError) and len(error.args) == 1:
        error.args = (f"{place}: {error.args[0]}",)
    else:
        error.add_note(f"in {place}")


def show(value: object) -> str:
    """`repr`, at most 80 characters of it.

    >>> show("a" * 1000) == "'" + "a" * 78 + "…", show(10**1000)
    (True, 'a number of 3322 bits')
    """
    if isinstance(value, list | dict) and len(value) > 20:
        return f"a {type(value).__name__} of {len(value)}"  # its repr might take seconds
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a number of {value.bit_length()} bits"  # Python refuses to write out some
    try:
        text = repr(value[:80] if isinstance(value, str | bytes) else value)
    except Exception:  # of a fraction, with numbers that are as long
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:79] + "…"


def several(number: int, noun: str) -> str:
    """A number with its noun, for messages and for people.

    >>> several(1, "merge"), several(0, "merge"), several(2_000, "merge")
    ('1 merge', '0 merges', '2,000 merges')
    """
    shown = f"{number:,}" if number.bit_length() <= 256 else show(number)
    return f"{shown} {noun}{'' if number == 1 else 's'}"


class InvalidTextError(DigramError, ValueError):
    """Text that cannot be encoded as it is; `.index` is its place, in characters."""


class SpecialTokenError(DigramError, ValueError):
    """A special token that is unknown, not allowed in this text, or in conflict with another."""


class TokenIdError(DigramError, ValueError):
    """An id that is not in the vocabulary; `.index` is its place in the argument."""


class VocabError(DigramError, ValueError):
    """A vocabulary that contradicts itself, or that the asked format cannot carry."""


class CorruptFileError(DigramError, ValueError):
    """A file that is truncated or damaged."""


class PatternError(DigramError, ValueError):
    """A pretokenizer pattern that is unknown, malformed, or outside the supported syntax."""


class OptionError(DigramError, ValueError):
    """An argument whose value makes no sense; the message names it and what is allowed."""


class LimitExceededError(DigramError, ValueError):
    """A stated limit was passed."""


class ConfigMismatchError(DigramError, ValueError):
    """Two things that must agree were made with different settings."""


class CheckpointError(DigramError):
    """A checkpoint that is damaged, in use, or of another run."""


class InternalError(DigramError, RuntimeError):
    """digram broke a promise of its own; please report the message."""
