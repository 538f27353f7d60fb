r"""Tokens of bytes as texts with escapes: in RWKV's word list, and in GGUF.

>>> spelled(b"\n\xff'"), literal("\n日".encode()), literal(b"\xff")
("\\n\\xff'", "'\\n日'", "b'\\xff'")
>>> unspelled(spelled(b"\n\xff'"), "a token", None)
b"\n\xff'"
"""

from __future__ import annotations

import re

from digram.errors import CorruptFileError
from digram.formats._show import show

__all__ = ["literal", "of_literal", "spelled", "unspelled"]

_IN_LITERAL = re.compile(
    r"""\\(?:([\\'"abfnrtv])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"""
)
_LITERAL = re.compile(r"""(b?)(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")""")
_LETTERS = dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True))
_IN_NAME = re.compile(rb"\\(?:x([0-9a-f]{2})|([^x]))", re.DOTALL)
_OF_NAME = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}


def literal(token: bytes) -> str:
    """A token as Python writes it: as text if it is UTF-8, as bytes otherwise."""
    try:
        return repr(token.decode())
    except UnicodeDecodeError:
        return repr(token)


def of_literal(text: str, where: str, path: str | None) -> bytes:
    r"""The token that Python writes so. Raises `CorruptFileError` for other texts.

    >>> of_literal("b'\\xff'", "a token", None), of_literal('"\'\\u65e5"', "a token", None)
    (b'\xff', b"'\xe6\x97\xa5")
    """
    found = _LITERAL.fullmatch(text)
    if found is None:
        raise _damaged(text, where, path)
    is_bytes, inner = found[1] == "b", found[2] if found[3] is None else found[3]
    if "\\" in _IN_LITERAL.sub("", inner):
        raise _damaged(text, where, path)

    def character(escape: re.Match[str]) -> str:
        if escape[1]:
            return _LETTERS[escape[1]]
        code = int(escape[2] or escape[3] or escape[4], 16)
        if code > 0x10FFFF or (is_bytes and not escape[2]):
            raise _damaged(text, where, path)
        return chr(code)

    plain = _IN_LITERAL.sub(character, inner)
    try:
        return plain.encode("latin-1" if is_bytes else "utf-8")
    except UnicodeEncodeError:
        raise _damaged(text, where, path) from None


def spelled(token: bytes) -> str:
    """The name of a token in a GGUF file."""
    return repr(token)[2:-1]


def unspelled(name: str, where: str, path: str | None) -> bytes:
    r"""The token of a name in a GGUF file: `\n`, `\r`, `\t` and `\x` with two digits are bytes.

    Any other character behind a backslash is itself. Raises `CorruptFileError` for `\x` without two
    small digits.
    """
    data = name.encode()

    def byte(escape: re.Match[bytes]) -> bytes:
        if escape[1]:
            return bytes([int(escape[1], 16)])
        return _OF_NAME.get(escape[2], escape[2])

    rest = _IN_NAME.sub(b"", data)
    if b"\\" in rest:
        raise _damaged(name, where, path)
    return _IN_NAME.sub(byte, data)


def _damaged(text: str, where: str, path: str | None) -> CorruptFileError:
    return CorruptFileError(
        f"{where}: {show(text)} is not a token with escapes.", path=path, value=text
    )
