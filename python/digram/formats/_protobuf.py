r"""The wire format of Protocol Buffers: a message is a list of numbered fields.

A field is a key, a varint of its number and its type, and the value: a varint (type 0), 64 bits
(1), bytes with their length before them (2), or 32 bits (5). A varint has seven bits per byte, the
lowest first, and a bit that is set if more bytes follow. Source:
protobuf.dev/programming-guides/encoding.

>>> list(fields(b"\x08\x96\x01\x12\x02hi", "a message", None))
[(1, 150), (2, b'hi')]
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from digram.errors import CorruptFileError

__all__ = ["Value", "bytes_field", "fields", "float_field", "number_field"]

Value = int | float | bytes
"""A varint, 32 bits as a float, or bytes. Fields of 64 bits are bytes too."""

_FLOAT = struct.Struct("<f")
_MAX_NUMBER = 1 << 29


def fields(data: bytes, where: str, path: str | None) -> Iterator[tuple[int, Value]]:
    """The numbers and the values of the fields of a message, in order.

    Raises `CorruptFileError`, naming `where`, for anything that is not a message. Linear.
    """
    at, end = 0, len(data)
    while at < end:
        start = at
        key, at = (data[at], at + 1) if data[at] < 0x80 else _varint(data, at, where, path)
        number, kind = key >> 3, key & 7
        value: Value
        if kind == 2:
            if at < end and data[at] < 0x80:
                size, at = data[at], at + 1
            else:
                size, at = _varint(data, at, where, path)
            value, at = data[at : at + size], at + size
        elif kind == 0:
            value, at = _varint(data, at, where, path)
        elif kind == 5:
            value = _FLOAT.unpack_from(data, at)[0] if at + 4 <= end else 0.0
            at += 4
        elif kind == 1:
            value, at = data[at : at + 8], at + 8
        else:
            raise _damaged(f"{where} has a field of the type {kind}", start, path)
        if at > end or not 0 < number < _MAX_NUMBER:
            what = "ends inside a field" if at > end else f"has a field with the number {number}"
            raise _damaged(f"{where} {what}", start, path)
        yield number, value


def _varint(data: bytes, at: int, where: str, path: str | None) -> tuple[int, int]:
    """The varint at an offset, and its end."""
    number = 0
    for index, byte in enumerate(data[at : at + 10]):
        number |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return number & (1 << 64) - 1, at + index + 1
    raise _damaged(f"{where} has a number without an end", at, path)


def _damaged(what: str, at: int, path: str | None) -> CorruptFileError:
    return CorruptFileError(f"{what} (byte {at} of it).", path=path, hint="Copy the file again.")


def number_field(number: int, value: int) -> bytes:
    r"""A field with a varint; negative numbers have 64 bits.

    >>> number_field(1, 150)
    b'\x08\x96\x01'
    """
    return _as_varint(number << 3) + _as_varint(value & (1 << 64) - 1)


def bytes_field(number: int, value: bytes) -> bytes:
    r"""A field with bytes.

    >>> bytes_field(2, b"hi")
    b'\x12\x02hi'
    """
    return _as_varint(number << 3 | 2) + _as_varint(len(value)) + value


def float_field(number: int, value: float) -> bytes:
    r"""A field with a number of 32 bits.

    >>> float_field(2, 1.0)
    b'\x15\x00\x00\x80?'
    """
    return _as_varint(number << 3 | 5) + _FLOAT.pack(value)


def _as_varint(number: int) -> bytes:
    found = bytearray()
    while number >= 0x80:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)
