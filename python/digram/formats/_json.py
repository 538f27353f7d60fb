"""JSON as a file that may be damaged: every fault has a place, and none is passed over."""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import Any, NoReturn, TypeVar

from digram.errors import CorruptFileError, LimitExceededError, VocabError
from digram.formats._show import BOMS, show

__all__ = ["MAX_DEPTH", "decoded", "dump", "expect", "parse", "spelled"]

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_SHORTEST = 6
"""The bytes of a file for each list or object that it holds, on the average. A merge takes ten."""

MAX_DEPTH = 64
"""How deep lists and objects may nest. Tokenizer files need 7."""

T = TypeVar("T")

_COPY = "The file is truncated; copy it again."
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a whole number",
    bool: "true or false",
}


class _DuplicateKeyError(Exception):
    pass


def parse(data: bytes, path: str | None) -> Any:
    """The value of a JSON file, whose objects hold each key once.

    >>> parse(b'{"a": [1, 2]}', "a.json")
    {'a': [1, 2]}
    >>> parse(b'{"a": [1, 2', "a.json")
    Traceback (most recent call last):
    digram.errors.CorruptFileError: a.json, line 1: the file ends at byte 11, in the middle of ...
    >>> parse(b'{"a": 1, "a": 2}', "a.json")
    Traceback (most recent call last):
    digram.errors.CorruptFileError: a.json, line 1: the key 'a' is there twice. ...

    Raises `CorruptFileError` with line and offset for what is truncated, not UTF-8 (a byte order
    mark included), not JSON (NaN and infinity included), or holds a key twice or half a
    character; `LimitExceededError` for more than 64 levels, and for lists and objects that hold
    next to nothing. Linear in the file; memory: at most 32 bytes for each of it.
    """
    text = decoded(data, path)
    _check_number(data, path)
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        _fail_at(text, error.pos, error.msg, path)
    except _DuplicateKeyError as error:
        _fail_twice(text, error.args[0], path)
    except RecursionError:
        _fail_deep(path)
    except ValueError as error:  # a number with thousands of digits, or NaN
        raise CorruptFileError(f"{error}.", path=path) from None
    _check_depth(value, path)
    if _HALF_CHARACTER.search(text):
        _check_characters(value, path)
    return value


def dump(value: Any) -> bytes:
    r"""A value as JSON in UTF-8: on one line, so that it is written and read fast.

    >>> dump({"Ġa": [1, None]})
    b'{"\xc4\xa0a":[1,null]}\n'
    """
    return spelled(value, ensure_ascii=False, allow_nan=False) + b"\n"


def spelled(value: Any, **how: Any) -> bytes:
    """A value as JSON without spaces; `VocabError` for what JSON or UTF-8 cannot say.

    Of the tokenizers that training gives there is none such: a record that was made by hand may
    hold numbers and texts that no file can.
    """
    try:
        return json.dumps(value, separators=(",", ":"), **how).encode()
    except (ValueError, RecursionError) as error:
        raise VocabError(f"this tokenizer cannot be written as JSON: {error}.") from None


def expect(value: Any, kind: type[T], where: str, path: str | None) -> T:
    """`value`, which must be of exactly this JSON type (so true is not a number).

    >>> expect(True, int, "added_tokens[0].id", "t.json")
    Traceback (most recent call last):
    digram.errors.CorruptFileError: t.json: added_tokens[0].id should be a whole number, not True.
    """
    if type(value) is not kind:
        raise CorruptFileError(
            f"{where} should be {_KINDS[kind]}, not {show(value)}.", path=path, value=value
        )
    return value


def decoded(data: bytes, path: str | None) -> str:
    """The text of a file in UTF-8.

    Raises `CorruptFileError`, with line and offset, for anything else: an empty file, a byte order
    mark, half a character at the end.
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
    raise ValueError(f"{name} is not a number that JSON knows")


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_constant)
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
    # The same key may be valid elsewhere in the file; then the place is unknown.
    line = text.count("\n", 0, places[1]) + 1 if len(places) == 2 else None
    raise CorruptFileError(
        f"the key {show(key)} is there twice.",
        path=path,
        line=line,
        value=key,
        hint="Keep the one that is meant.",
    )


def _fail_deep(path: str | None) -> NoReturn:
    raise LimitExceededError(
        f"lists and objects nest deeper than {MAX_DEPTH} levels.",
        path=path,
        hint="No tokenizer needs that; is this the right file?",
    )


def _check_number(data: bytes, path: str | None) -> None:
    """Refuses a file that is mostly brackets: an empty list takes 24 times its memory in a file."""
    most = len(data) // _SHORTEST + 1000
    if data.count(b"[") + data.count(b"{") <= most:
        return
    structure = _STRING.sub(b"", data)  # tokens of a language may be brackets too
    number = structure.count(b"[") + structure.count(b"{")
    if number > most:
        raise LimitExceededError(
            f"the file holds {number:,} lists and objects in {len(data):,} bytes.",
            path=path,
            value=number,
            hint="No tokenizer does that; is this the right file?",
        )


def _check_depth(value: Any, path: str | None) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        inner = chain.from_iterable(
            one.values() if type(one) is dict else one for one in level if type(one) in (dict, list)
        )
        level = [one for one in inner if type(one) is dict or type(one) is list]
        if not level:
            return
    _fail_deep(path)


def _check_characters(value: Any, path: str | None) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise CorruptFileError(
            f"a string holds {half!r}, which is half a character.",
            path=path,
            value=half,
            hint="Copy the file again, or undo the last edit.",
        ) from None
