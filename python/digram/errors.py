"""Every error that digram raises on purpose.

    DigramError
    ├── InvalidTextError      text that cannot be encoded (a lone surrogate, an unknown character)
    ├── SpecialTokenError     a special token that is unknown, not allowed here, or in conflict
    ├── TokenIdError          an id that is not in the vocabulary
    ├── VocabError            a vocabulary that is inconsistent, or that a format cannot store
    ├── CorruptFileError      a file that is damaged
    ├── PatternError          a pattern that is unknown or not supported
    ├── OptionError           an argument with an invalid value
    ├── LimitExceededError    a documented limit was exceeded
    ├── ConfigMismatchError   values that were made with different settings
    ├── CheckpointError       a checkpoint of another run, or one in use
    └── InternalError         a bug in digram (also a RuntimeError)

All except `CheckpointError` and `InternalError` are also `ValueError`s. `OSError`, `MemoryError`,
`TypeError` and `KeyboardInterrupt` are the built-in ones. Warnings are `DigramWarning`s, a class of
`UserWarning`s.
"""

from __future__ import annotations

from os import PathLike, fspath
from reprlib import Repr
from typing import Any

__all__ = [
    "CheckpointError",
    "ConfigMismatchError",
    "CorruptFileError",
    "DigramError",
    "DigramWarning",
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
    """The base class of the errors of digram: what happened, where, and what to do.

    >>> error = VocabError("token 7 occurs twice.", path="vocab.json", line=3, hint="Remove one.")
    >>> str(error)
    'vocab.json, line 3: token 7 occurs twice. Remove one.'
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
    """Shorten a message that quotes long values."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - _END - 1]}…{text[-_END:]}"


def _rebuild(kind: type[DigramError], message: str, state: dict[str, Any]) -> DigramError:
    return kind(message, **state)


def placed(error: BaseException, place: str) -> None:
    """Prefix the message of an error with the part of the argument that it is about.

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


class _Brief(Repr):
    """`repr` without the items of long containers, which could take seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = 200
        self.maxlong = 1 << 14  # `repr` refuses longer ones
        for kind in ("list", "tuple", "set", "frozenset", "deque", "array"):
            setattr(self, f"max{kind}", _FEW)

    def repr1(self, x: Any, level: int) -> str:
        if isinstance(x, list | dict | tuple | set | frozenset) and len(x) > _FEW:
            return f"a {type(x).__name__} of {len(x)}"
        return super().repr1(x, level)

    def repr_instance(self, x: Any, level: int) -> str:
        return repr(x[:_SHOWN] if isinstance(x, bytes) else x)

    def repr_dict(self, x: dict[Any, Any], level: int) -> str:  # in its own order
        if level <= 0:
            return "{...}"
        items = (f"{self.repr1(k, level - 1)}: {self.repr1(v, level - 1)}" for k, v in x.items())
        return f"{{{', '.join(items)}}}"


_FEW, _SHOWN = 20, 80
_brief = _Brief().repr


def show(value: object) -> str:
    """`repr`, shortened to 80 characters.

    >>> show("a" * 1000) == "'" + "a" * 78 + "…", show(10**1000)
    (True, 'a number of 3322 bits')
    >>> show({"type": None, "vocab": {}.fromkeys(range(10**6))})
    "{'type': None, 'vocab': a dict of 1000000}"
    """
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a number of {value.bit_length()} bits"  # Python limits the length of its repr
    try:
        text = _brief(value[:_SHOWN] if isinstance(value, str | bytes) else value)
    except Exception:  # e.g. a fraction of such numbers
        return f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def several(number: int, noun: str) -> str:
    """A number with its noun, for messages.

    >>> several(1, "merge"), several(0, "merge"), several(2_000, "merge")
    ('1 merge', '0 merges', '2,000 merges')
    """
    shown = f"{number:,}" if number.bit_length() <= 256 else show(number)
    return f"{shown} {noun}{'' if number == 1 else 's'}"


class InvalidTextError(DigramError, ValueError):
    """Text that cannot be encoded; `.index` is the place, in characters."""


class SpecialTokenError(DigramError, ValueError):
    """A special token that is unknown, not allowed in this text, or in conflict with another."""


class TokenIdError(DigramError, ValueError):
    """An id that is not in the vocabulary; `.index` is its index in the argument."""


class VocabError(DigramError, ValueError):
    """A vocabulary that is inconsistent, or that a format cannot store."""


class CorruptFileError(DigramError, ValueError):
    """A file that is truncated or damaged."""


class PatternError(DigramError, ValueError):
    """A pretokenizer pattern that is unknown, malformed, or outside the supported syntax."""


class OptionError(DigramError, ValueError):
    """An argument with an invalid value; the message names it and the valid values."""


class LimitExceededError(DigramError, ValueError):
    """A documented limit was exceeded."""


class ConfigMismatchError(DigramError, ValueError):
    """Values that must match were made with different settings."""


class CheckpointError(DigramError):
    """A checkpoint that is damaged, in use, or of another run."""


class InternalError(DigramError, RuntimeError):
    """A bug in digram; please report the message."""


class DigramWarning(UserWarning):
    """A call did what was asked, but perhaps not what was meant; shown at the line of the call."""
