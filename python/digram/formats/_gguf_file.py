"""The container of GGUF: a header, and metadata as keys with typed values. Tensors are not read.

GGUF 2 and 3 of both byte orders are read, and GGUF 3 is written, little-endian. Every length and
every number of elements in a file is compared with what remains of the file before anything is
reserved, and values that are not wanted are skipped, so that memory is proportional to the values
that are returned.
(github.com/ggml-org/ggml, docs/gguf.md)
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Callable, Mapping
from typing import BinaryIO, NoReturn, TypeAlias

from digram._util.storage import LARGEST
from digram.errors import CorruptFileError, LimitExceededError, VocabError
from digram.formats._show import show

__all__ = ["Metadata", "Value", "read_metadata", "write_metadata"]

Value: TypeAlias = "int | float | bool | bytes | list[bytes] | array[int] | array[float]"
"""A value of the metadata; texts are bytes, which need not be UTF-8."""
Metadata: TypeAlias = dict[str, Value]

_MAGIC = b"GGUF"
_VERSION = 3
_KNOWN = (2, 3)
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 10: "Q", 11: "q", 12: "d"}
"""The types of numbers, as `struct` names them."""
_BOOL, _STRING, _ARRAY = 7, 8, 9
_SHORTEST_ENTRY = 13
"""The length of the shortest entry of metadata: an empty key, a type, one byte."""
_DEEPEST = 8
"""The maximum nesting of arrays that are skipped. Files for llama.cpp have no nested arrays."""
_CHUNK = 1 << 20

_TRUNCATED = "The file is truncated or damaged; copy it again."


def read_metadata(file: BinaryIO, path: str | None, wanted: Callable[[str], bool]) -> Metadata:
    """The metadata of a file whose keys are wanted; the file is read from its start.

    Raises `CorruptFileError` with the position for a damaged file, `VocabError` for a version that
    is not known, and `LimitExceededError` for metadata of more than 256 MiB. Linear in the
    metadata.
    """
    reader = _Reader(file, path)
    if reader.take(4, "the magic number") != _MAGIC:
        raise CorruptFileError(
            "the file does not start with GGUF.", path=path, offset=0, hint=_TRUNCATED
        )
    reader.read_version()
    reader.number("Q", "the number of tensors")
    count = reader.counted("the number of keys", _SHORTEST_ENTRY)
    found: Metadata = {}
    seen: set[bytes] = set()
    for index in range(count):
        key = reader.string(f"key {index}")
        if key in seen:
            reader.fail(f"the key {show(key)} occurs twice.")
        seen.add(key)
        name = key.decode("utf-8", "replace")
        kind = reader.number("I", f"the type of {show(name)}")
        if wanted(name):
            found[name] = reader.value(kind, name)
        else:
            reader.skip_value(kind, name)
    return found


class _Reader:
    """A file that is read once, in chunks, from its start."""

    def __init__(self, file: BinaryIO, path: str | None) -> None:
        self._file, self._path = file, path
        self._size = file.seek(0, 2)
        file.seek(0)
        self._chunk = b""
        self._at = 0  # in the chunk
        self._start = 0  # of the chunk in the file
        self._order = "<"

    def read_version(self) -> None:
        data = self.take(4, "the version")
        if struct.unpack(">I", data)[0] in _KNOWN:
            self._order = ">"
        version = struct.unpack(f"{self._order}I", data)[0]
        if version not in _KNOWN:
            raise VocabError(
                f"the file has version {version} of GGUF, and digram reads 2 and 3.",
                path=self._path,
                value=version,
                hint="Convert it with a current version of llama.cpp.",
            )

    def fail(self, problem: str) -> NoReturn:
        offset = self._start + self._at
        raise CorruptFileError(problem, path=self._path, offset=offset, hint=_TRUNCATED)

    def _require(self, length: int, what: str) -> None:
        """Raises unless as many bytes are left, within the limit of metadata."""
        offset = self._start + self._at
        if length > self._size - offset:
            self.fail(
                f"{what} should have {length:,} bytes, but {self._size - offset:,} follow byte "
                f"{offset:,}."
            )
        if offset + length > LARGEST:
            raise LimitExceededError(
                f"{what} ends at byte {offset + length:,}; the limit for the metadata of a file is "
                f"{LARGEST:,} bytes.",
                path=self._path,
                value=offset + length,
            )

    def take(self, length: int, what: str) -> bytes:
        end = self._at + length
        if end > len(self._chunk):
            self._require(length, what)
            rest = self._chunk[self._at :]
            self._start += self._at
            self._chunk = rest + self._file.read(max(length - len(rest), _CHUNK))
            self._at, end = 0, length
            if len(self._chunk) < length:
                self.fail(f"{what} is incomplete: the file became shorter while it was read.")
        taken = self._chunk[self._at : end]
        self._at = end
        return taken

    def _skip(self, length: int, what: str) -> None:
        if self._at + length <= len(self._chunk):
            self._at += length
            return
        self._require(length, what)
        self._start += self._at + length
        self._chunk, self._at = b"", 0
        self._file.seek(self._start)

    def number(self, format: str, what: str) -> int:
        """A whole number of the given type."""
        found: int = struct.unpack(self._order + format, self.take(struct.calcsize(format), what))[
            0
        ]
        return found

    def counted(self, what: str, shortest: int) -> int:
        """Read the number of elements of at least this size; the file must be long enough."""
        count = self.number("Q", what)
        left = self._size - self._start - self._at
        if count * shortest > left:
            self.fail(f"{what} is {count:,}, but only {left:,} bytes follow.")
        return count

    def string(self, what: str) -> bytes:
        return self.take(self.number("Q", what), what)

    def value(self, kind: int, name: str) -> Value:
        what = show(name)
        if kind in _NUMBERS:
            format = _NUMBERS[kind]
            data = self.take(struct.calcsize(format), what)
            found: int | float = struct.unpack(self._order + format, data)[0]
            return found
        if kind == _BOOL:
            return self._bool(what)
        if kind == _STRING:
            return self.string(what)
        if kind != _ARRAY:
            self.fail(f"{what} has the type {kind}, which GGUF does not define.")
        return self._array(what)

    def _bool(self, what: str) -> bool:
        byte = self.take(1, what)
        if byte not in (b"\0", b"\1"):
            self.fail(f"{what} should be true or false, not {byte[0]}.")
        return byte == b"\1"

    def _array(self, what: str) -> Value:
        kind = self.number("I", what)
        if kind == _STRING:
            count = self.counted(f"the number of elements of {what}", 8)
            return self._strings(count, what)
        if kind not in _NUMBERS:
            self.fail(f"{what} should be an array of texts or numbers, not of the type {kind}.")
        numbers = array(_array_type(_NUMBERS[kind]))
        count = self.counted(f"the number of elements of {what}", numbers.itemsize)
        numbers.frombytes(self.take(count * numbers.itemsize, what))
        if (self._order == ">") != (sys.byteorder == "big"):
            numbers.byteswap()
        return numbers

    def _strings(self, count: int, what: str) -> list[bytes]:
        length = struct.Struct(f"{self._order}Q").unpack_from
        found: list[bytes] = []
        while len(found) < count:
            chunk, at = self._chunk, self._at
            last = len(chunk) - 8
            while at <= last and len(found) < count:  # those that the chunk has as a whole
                end = at + 8 + length(chunk, at)[0]
                if end > len(chunk):
                    break
                found.append(chunk[at + 8 : end])
                at = end
            self._at = at
            if len(found) < count:
                found.append(self.string(what))
        return found

    def skip_value(self, kind: int, name: str) -> None:
        what = show(name)
        if kind in _NUMBERS:
            self._skip(struct.calcsize(_NUMBERS[kind]), what)
        elif kind == _BOOL:
            self._skip(1, what)
        elif kind == _STRING:
            self._skip(self.number("Q", what), what)
        elif kind == _ARRAY:
            self._skip_array(what, _DEEPEST)
        else:
            self.fail(f"{what} has the type {kind}, which GGUF does not define.")

    def _skip_array(self, what: str, deepest: int) -> None:
        kind = self.number("I", what)
        elements = f"the number of elements of {what}"
        if kind in _NUMBERS or kind == _BOOL:
            size = struct.calcsize(_NUMBERS.get(kind, "?"))
            self._skip(self.counted(elements, size) * size, what)
        elif kind == _STRING:
            for _ in range(self.counted(elements, 8)):
                self._skip(self.number("Q", what), what)
        elif kind == _ARRAY:
            if deepest == 0:
                self.fail(f"{what} has arrays nested more than {_DEEPEST} deep.")
            for _ in range(self.counted(elements, 12)):
                self._skip_array(what, deepest - 1)
        else:
            self.fail(f"{what} has elements of the type {kind}, which GGUF does not define.")


def _array_type(format: str) -> str:
    """The type code of `array` for a type of `struct`; their sizes differ on some systems.

    >>> array(_array_type("I")).itemsize, array(_array_type("q")).itemsize
    (4, 8)
    """
    size = struct.calcsize(f"<{format}")
    same = "fd" if format in "fd" else "bhilq" if format.islower() else "BHILQ"
    return next(code for code in same if array(code).itemsize == size)


def write_metadata(fields: Mapping[str, Value]) -> bytes:
    """The bytes of a file with this metadata and no tensors.

    Whole numbers are written as 32 bits without a sign, arrays of them with one; the elements of an
    `array` keep their type.
    """
    parts = [struct.pack("<4sIQQ", _MAGIC, _VERSION, 0, len(fields))]
    for key, value in fields.items():
        kind, data = _written(value)
        parts += [_text(key.encode()), struct.pack("<I", kind), data]
    return b"".join(parts)


def _text(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def _written(value: Value) -> tuple[int, bytes]:
    """The type of a value, and its bytes."""
    if isinstance(value, bool):
        return _BOOL, b"\1" if value else b"\0"
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    if isinstance(value, float):
        return 6, struct.pack("<f", value)
    if isinstance(value, bytes):
        return _STRING, _text(value)
    if isinstance(value, list):
        head = struct.pack("<IQ", _STRING, len(value))
        return _ARRAY, head + b"".join(map(_text, value))
    code = next(kind for kind, of in _NUMBERS.items() if _array_type(of) == value.typecode)
    numbers = value[:]
    if sys.byteorder == "big":
        numbers.byteswap()
    return _ARRAY, struct.pack("<IQ", code, len(value)) + numbers.tobytes()
