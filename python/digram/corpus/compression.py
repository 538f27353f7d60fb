"""Unpack compressed files block by block; their content may be larger than memory.

All members of a .gz, .bz2 or .xz file are read, and all frames of a .zst file. The sizes in a
header are never allocated: a block has at most the requested size, and the memory of a
decompressor is bounded (`WINDOW`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from digram.corpus.file_types import Packing
from digram.errors import CorruptFileError, DigramError, LimitExceededError

__all__ = ["PACKED", "unpacked"]

PACKED = 1 << 18  # bytes of a packed file to read at a time; with 64 KiB it takes 1.5 times as long
FIRST = 1 << 12
"""The input of a new member in bytes, which is doubled at each step. The unpacker copies what it
leaves over, which would take quadratic time for a block of many small members."""
WINDOW = 1 << 27
"""The maximum window of a decompressor in bytes: 128 MiB, as in `zstd` itself."""


class _Unpacker(Protocol):
    """Unpacks one member or frame."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes | memoryview, max_length: int = -1) -> bytes: ...


class _Gunzip:
    """zlib's decompressor, with the interface of the others."""

    def __init__(self, of_zlib: Any) -> None:
        self._zlib = of_zlib
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return bool(self._zlib.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._zlib.unused_data)

    def decompress(self, data: bytes | memoryview, max_length: int = -1) -> bytes:
        found: bytes = self._zlib.decompress(self._zlib.unconsumed_tail + data, max(0, max_length))
        # A full block may have left more behind, even if all input was consumed.
        self.needs_input = not self._zlib.unconsumed_tail and len(found) != max_length
        return found


_Make = Callable[[], _Unpacker]
_Damaged = tuple[type[Exception], ...]


def _gz() -> tuple[_Make, _Damaged]:
    import zlib

    return lambda: _Gunzip(zlib.decompressobj(wbits=31)), (zlib.error,)


def _zst() -> tuple[_Make, _Damaged]:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    windows = {int(zstd.DecompressionParameter.window_log_max): _ALLOWED["zst"].bit_length() - 1}
    return lambda: zstd.ZstdDecompressor(options=windows), (zstd.ZstdError,)


def _bz2() -> tuple[_Make, _Damaged]:
    import bz2

    return bz2.BZ2Decompressor, (OSError, EOFError, ValueError)


def _xz() -> tuple[_Make, _Damaged]:
    import lzma

    make = lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_ALLOWED["xz"])  # noqa: E731
    return make, (lzma.LZMAError, EOFError)


# The constructor of each unpacker, and the exceptions that it raises. Imported when needed.
_KINDS = {"gz": _gz, "zst": _zst, "bz2": _bz2, "xz": _xz}
# Their messages for a valid file that needs more memory than allowed.
_TOO_LARGE = {"zst": "too much memory", "xz": "Memory usage limit"}
_ALLOWED = {"zst": WINDOW, "xz": 2 * WINDOW}
_REPACK = {
    "zst": "Pack it again with a smaller window: zstd -dc --long=31 FILE | zstd --long=27 -o NEW.",
    "xz": "Pack it again with a smaller dictionary: xz -dc FILE | xz -9 > NEW.",
}
_PADDED = ("gz", "xz")  # may end in zeros


def unpacked(
    packed: Iterable[bytes], packing: Packing, path: str | os.PathLike[str], size: int
) -> Iterator[bytes]:
    """Unpack a stream, in blocks of at most `size` bytes.

    >>> import gzip
    >>> twice = gzip.compress(b"one ") + gzip.compress(b"two")
    >>> b"".join(unpacked([twice], "gz", "a.gz", 1 << 16))
    b'one two'

    Raises `CorruptFileError`, with the position, if the stream is damaged or ends early, and
    `LimitExceededError` if unpacking it takes more memory than the maximum window.
    """
    make, damaged = _KINDS[packing]()
    at = 0  # where the block begins in the stream
    member: _Unpacker | None = None
    begun = False
    for block in packed:
        view, used, step = memoryview(block), 0, FIRST
        while used < len(block) or (member is not None and not member.needs_input):
            if member is None:
                if begun and packing in _PADDED and not block[used]:
                    used = len(block) - len(block[used:].lstrip(b"\0"))
                    continue
                member, step = make(), FIRST
            data = view[used : used + step] if member.needs_input else view[:0]
            try:
                found = member.decompress(data, size)
            except damaged as error:
                raise _refused(packing, path, at + used, error) from None
            used += len(data)
            step = min(2 * step, PACKED)
            if found:
                yield found
            if member.eof:
                used -= len(member.unused_data)
                begun, member = True, None
        at += len(block)
    if member is not None or not begun:
        raise CorruptFileError(
            f"the {packing} data ends early, at byte {at:,}.",
            path=path,
            offset=at,
            hint="The copy is truncated; copy it again.",
        )


def _refused(packing: str, path: Any, offset: int, error: Exception) -> DigramError:
    """The digram error for an error of a decompressor."""
    if _TOO_LARGE.get(packing, "\0") in str(error):
        return LimitExceededError(
            f"the {packing} data at or after byte {offset:,} needs more memory to unpack than the "
            f"limit of {_ALLOWED[packing] >> 20} MiB.",
            path=path,
            offset=offset,
            hint=_REPACK[packing],
        )
    return CorruptFileError(
        f"the {packing} data is damaged, which was found at or after byte {offset:,}: {error}.",
        path=path,
        offset=offset,
        hint="Copy the file again.",
    )
