"""Reading JSON files strictly: every error has its place in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import chain
from typing import Any, NoReturn, TypeVar

from digram.errors import CorruptFileError, LimitExceededError, VocabError
from digram.formats._show import BOMS, show

__all__ = [
    "MAX_DEPTH",
    "decoded",
    "dump",
    "expect",
    "kind_of",
    "parse",
    "spelled",
    "unsupported",
]

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_SHORTEST = 6
"""The minimum average of bytes per list or object in a file. A merge takes ten."""

_HOLDERS = {dict, list}
MAX_DEPTH = 64
"""The maximum nesting of lists and objects. Tokenizer files need 7."""

T = TypeVar("T")

_COPY = "The file is truncated; copy it again."
_REMOVE = "If you can do without it, remove it from a copy of the file; the ids may then differ."
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a whole number",
    bool: "true or false",
}


class _DuplicateKeyError(Exception):
    pass


def parse(data: bytes, path: str | None, number: Callable[[str], float] | None = None) -> Any:
    """Parse a JSON file. No object may have a key twice.

    `number` gives the value of a number with a fraction or an exponent; by default `float`.

    >>> parse(b'{"a": [1, 2]}', "a.json")
    {'a': [1, 2]}
    >>> parse(b'{"a": [1, 2', "a.json")
    Traceback (most recent call last):
    digram.errors.CorruptFileError: a.json, line 1: the file ends at byte 11, in the middle of ...
    >>> parse(b'{"a": 1, "a": 2}', "a.json")
    Traceback (most recent call last):
    digram.errors.CorruptFileError: a.json, line 1: the key 'a' occurs twice. ...

    Raises `CorruptFileError` with line and offset for a file that is truncated, not UTF-8 (or has a
    byte order mark), not JSON (NaN and infinity are not), or has a duplicate key or a lone
    surrogate; `LimitExceededError` for more than 64 levels, and for too many nearly empty lists and
    objects. Linear in the file; takes at most 32 bytes of memory for each byte of it.
    """
    text = decoded(data, path)
    _check_number(data, path)
    try:
        value = (_decoder if number is None else _decoder_of(number)).decode(text)
    except json.JSONDecodeError as error:
        _fail_at(text, error.pos, error.msg, path)
    except _DuplicateKeyError as error:
        _fail_twice(text, error.args[0], path)
    except RecursionError:
        _fail_deep(path)
    except ValueError as error:  # a number with thousands of digits, or NaN
        raise CorruptFileError(f"{error}.", path=path) from None
    _check_depth(value, path)
    if ("\\ud" in text or "\\uD" in text) and _HALF_CHARACTER.search(text):
        _check_characters(value, path)
    return value


def dump(value: Any) -> bytes:
    r"""A value as one line of JSON in UTF-8.

    >>> dump({"Ġa": [1, None]})
    b'{"\xc4\xa0a":[1,null]}\n'
    """
    return spelled(value, ensure_ascii=False, allow_nan=False) + b"\n"


def spelled(value: Any, **how: Any) -> bytes:
    """A value as JSON without spaces; `VocabError` if JSON or UTF-8 cannot represent it.

    This can happen only to records that were made by hand, never to those of training.
    """
    try:
        return json.dumps(value, separators=(",", ":"), **how).encode()
    except (ValueError, RecursionError) as error:
        raise VocabError(f"this tokenizer cannot be written as JSON: {error}.") from None


def expect(value: Any, kind: type[T], where: str, path: str | None) -> T:
    """Return `value` if it has exactly this JSON type (true is not a number).

    >>> expect(True, int, "added_tokens[0].id", "t.json")
    Traceback (most recent call last):
    digram.errors.CorruptFileError: t.json: added_tokens[0].id should be a whole number, not True.
    """
    if type(value) is not kind:
        raise CorruptFileError(
            f"{where} should be {_KINDS[kind]}, not {show(value)}.", path=path, value=value
        )
    return value


def kind_of(value: Any) -> str:
    """The `type` of an object of the file; for anything else its `repr`."""
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else show(value)


def unsupported(what: str, path: str | None, *, hint: str = _REMOVE) -> VocabError:
    """An error about an unsupported part of a file."""
    return VocabError(f"{what} is not supported.", path=path, hint=hint)


def decoded(data: bytes, path: str | None) -> str:
    """Decode a UTF-8 file.

    Raises `CorruptFileError`, with line and offset, for an empty file, a byte order mark, invalid
    UTF-8 or an incomplete character at the end.
    """
    if data.startswith(BOMS):
        raise CorruptFileError(
            "the file starts with a byte order mark.",
            path=path,
            offset=0,
            hint="Save it as UTF-8 without one.",
        )
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        if error.end == len(data) and "unexpected end" in error.reason:
            reason, hint = f"the file ends at byte {len(data)}, inside a character.", _COPY
        else:
            reason, hint = f"byte {error.start} is not UTF-8.", "Copy the file again."
        raise CorruptFileError(
            reason, path=path, line=line, offset=error.start, hint=hint
        ) from None
    if not text or text.isspace():
        raise CorruptFileError("the file is empty.", path=path, hint="Copy it again.")
    return text


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateKeyError(key)
            seen.add(key)
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _decoder_of(number: Callable[[str], float] | None) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_pairs, parse_constant=_no_constant, parse_float=number
    )


_decoder = _decoder_of(None)
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
_CUT_VALUE = re.compile(r"(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|[0-9.eE+\-]*)\s*\Z")


def _fail_at(text: str, position: int, message: str, path: str | None) -> NoReturn:
    cut = message.startswith("Unterminated string") or _CUT_VALUE.match(text, position)
    line = text.count("\n", 0, position) + 1
    if cut or (message.startswith("Invalid \\") and len(text) - position < 6):
        raise CorruptFileError(
            f"the file ends at byte {len(text.encode())}, in the middle of its JSON.",
            path=path,
            line=line,
            offset=len(text.encode()),
            hint=_COPY,
        )
    offset = len(text[:position].encode())
    raise CorruptFileError(
        f"not JSON at byte {offset}: {message[0].lower()}{message[1:]}.",
        path=path,
        line=line,
        offset=offset,
        hint="Copy the file again, or undo the last edit.",
    )


def _fail_twice(text: str, key: str, path: str | None) -> NoReturn:
    written = re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:"
    places = [match.start() for match in re.finditer(written, text)]
    # Other objects may have the same key; then the place of the duplicate is not known.
    line = text.count("\n", 0, places[1]) + 1 if len(places) == 2 else None
    raise CorruptFileError(
        f"the key {show(key)} occurs twice.",
        path=path,
        line=line,
        value=key,
        hint="Remove one of them.",
    )


def _fail_deep(path: str | None) -> NoReturn:
    raise LimitExceededError(
        f"lists and objects nest deeper than {MAX_DEPTH} levels.",
        path=path,
        hint="No tokenizer needs that; is this the right file?",
    )


def _check_number(data: bytes, path: str | None) -> None:
    """Raises if a file is mostly brackets: an empty list takes 24 times its size in memory."""
    maximum = len(data) // _SHORTEST + 1000
    if data.count(b"[") + data.count(b"{") <= maximum:
        return
    structure = _STRING.sub(b"", data)  # strings may contain brackets too
    number = structure.count(b"[") + structure.count(b"{")
    if number > maximum:
        raise LimitExceededError(
            f"the file holds {number:,} lists and objects in {len(data):,} bytes.",
            path=path,
            value=number,
            hint="No tokenizer does that; is this the right file?",
        )


def _check_depth(value: Any, path: str | None) -> None:
    # The merges of a file are hundreds of thousands of lists of names, so what is in one list or
    # object is examined together.
    level: list[list[Any]] = [[[value]]]
    for _ in range(MAX_DEPTH + 1):
        inner: list[list[Any]] = []
        for one in level:
            held = one if set(map(type, one)) == {list} else map(_values, one)
            if not _HOLDERS.isdisjoint(map(type, chain.from_iterable(held))):
                nested = (it for it in map(_values, one) if not _HOLDERS.isdisjoint(map(type, it)))
                inner += ([item for item in it if type(item) in _HOLDERS] for it in nested)
        if not inner:
            return
        level = inner
    _fail_deep(path)


def _values(one: Any) -> Any:
    return one.values() if type(one) is dict else one


def _check_characters(value: Any, path: str | None) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise CorruptFileError(
            f"a string contains the lone surrogate {half!r}.",
            path=path,
            value=half,
            hint="Copy the file again, or undo the last edit.",
        ) from None
