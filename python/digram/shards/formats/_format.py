"""The interface of formats of training files: writing and reading a shard.

Each other module of this package is a format. `digram.shards` uses them only through this
interface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from digram._util.storage import NewFile, map_file
from digram.corpus.file_types import files_with
from digram.errors import CorruptFileError, LimitExceededError

__all__ = [
    "About",
    "Bounds",
    "Documents",
    "Format",
    "HeadedWriter",
    "Ids",
    "Open",
    "Run",
    "Stored",
    "Writer",
    "bounds_of",
    "check_bounds",
    "check_lengths",
    "corrupt",
    "mapped",
    "starts_with",
]

Ids = NDArray[Any]
"""Ids of any supported type."""
Bounds = NDArray[np.int64]
"""The bounds of documents: document i is `ids[bounds[i]:bounds[i + 1]]`."""


class Run(NamedTuple):
    """Consecutive documents of a source, starting with number `first`."""

    source: str
    first: int
    documents: int


class Documents(NamedTuple):
    """Documents of a shard: their joined ids, the end of each, and their sources.

    `mask` has what the assistant says, for documents that are chats.
    """

    ids: Ids
    ends: NDArray[np.int64]
    runs: Sequence[Run]
    mask: NDArray[np.uint8] | None = None


class About(NamedTuple):
    """The facts about a shard that are known before it is written."""

    dtype: np.dtype[Any]
    tokenizer: str
    first: int  # the number of documents in previous shards
    has_mask: bool = False  # whether documents have one


Open = Callable[..., NewFile]
"""Opens a file of a shard: `open(".idx")`, or `open(".bin", reserved=1024)`."""


class Writer(Protocol):
    """A shard that is being written."""

    def write(self, documents: Documents) -> None:
        """Append documents. The files must not depend on how documents are grouped into calls."""

    def finish(self) -> None:
        """Write data that is known only at the end."""


class HeadedWriter:
    """Writes joined ids after a header.

    The header has their number, so `header` makes it at the end, from their type and number, for
    the space that is reserved at the start of the file.
    """

    def __init__(
        self,
        file: NewFile,
        dtype: np.dtype[Any],
        header: Callable[[np.dtype[Any], int], bytes],
    ) -> None:
        self._file = file
        self._dtype = dtype
        self._header = header
        self._tokens = 0

    def write(self, documents: Documents) -> None:
        """Append the ids of documents."""
        self._file.write(documents.ids.data)
        self._tokens += len(documents.ids)

    def finish(self) -> None:
        """Write the header."""
        self._file.write_start(self._header(self._dtype, self._tokens))


class Stored(NamedTuple):
    """A shard on disk: its stored facts, and a function to load its ids.

    `tokens` and `documents` are None if they are known only after loading. `load` opens the files
    and returns the ids and their bounds, or None if the format does not store these. Files are not
    kept open until then, since there may be more shards than a process can have open files.
    """

    path: Path
    dtype: np.dtype[Any]
    tokens: int | None
    documents: int | None
    load: Callable[[], tuple[Ids, Bounds | None]]


@dataclass(frozen=True)
class Format:
    """A format: its name, the suffix of its main file, and its limits.

    `beside` are the suffixes of the other files of a shard. `dtypes` are the supported types of
    ids, each with the largest vocabulary for which it is chosen by default; 0 for types that must
    be requested. `recognizes` says whether a file certainly has this format. A file and a document
    have at most `max_tokens` tokens. `maps` says that ids are memory-mapped; otherwise a shard is
    loaded into memory. `has_mask` says that documents can have a mask.
    """

    name: str
    suffix: str
    dtypes: Mapping[str, int]
    begin: Callable[[Open, About], Writer]
    read: Callable[[Path], Stored]
    recognizes: Callable[[Path], bool]
    max_tokens: int = (1 << 63) - 1
    beside: tuple[str, ...] = ()
    maps: bool = True
    has_mask: bool = False
    needs: Callable[[], object] = lambda: None


def mapped(path: Path, dtype: str | np.dtype[Any], offset: int = 0) -> Ids:
    """Map the content of a file from `offset` on; raises if its size is not a multiple of an id.

    >>> path = getfixture("tmp_path") / "a.bin"
    >>> _ = path.write_bytes(bytes([1, 0, 2, 0]))
    >>> mapped(path, "<u2").tolist()
    [1, 2]
    """
    data, kind = map_file(path), np.dtype(dtype)
    if len(data) < offset or (len(data) - offset) % kind.itemsize:
        raise corrupt(
            path,
            f"it has {len(data):,} bytes, which is not a number of {kind.name} ids.",
            len(data),
        )
    return np.frombuffer(data[offset:], kind)


def starts_with(path: Path, magic: bytes) -> bool:
    """Whether there is a file that starts with these bytes.

    >>> path = getfixture("tmp_path") / "a.arrow"
    >>> _ = path.write_bytes(b"ARROW1 and more")
    >>> starts_with(path, b"ARROW1"), starts_with(path.with_suffix(".npy"), b"ARROW1")
    (True, False)
    """
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


def bounds_of(ends: NDArray[Any]) -> Bounds:
    """Compute the bounds of documents from their ends."""
    bounds = np.zeros(len(ends) + 1, np.int64)
    bounds[1:] = ends
    return bounds


def check_bounds(path: Path, bounds: Bounds, tokens: int) -> None:
    """Raise for ends that decrease, or do not match the number of tokens."""
    if bounds[0] != 0 or bounds[-1] != tokens or bool((np.diff(bounds) < 0).any()):
        raise corrupt(path, f"its documents are not those of {tokens:,} tokens.")


def check_lengths(documents: Documents, longest: int, format: str) -> Ids:
    """The number of tokens of each document; raises if one exceeds the limit of the format."""
    lengths = np.diff(documents.ends, prepend=0)
    if len(lengths) and int(lengths.max()) > longest:
        number = int(np.argmax(lengths > longest))
        tokens = int(lengths[number])
        for run in documents.runs:
            if number < run.documents:
                raise LimitExceededError(
                    f"document {run.first + number} has {tokens:,} tokens, and format={format!r} "
                    f"supports at most {longest:,} in each.",
                    path=run.source or None,
                    index=run.first + number,
                    hint=f"Split it with {files_with('separator=...')}, or choose another format.",
                )
            number -= run.documents
    return lengths


def corrupt(path: Path, message: str, offset: int | None = None) -> CorruptFileError:
    """An error about a file of a shard."""
    return CorruptFileError(
        message,
        path=path,
        offset=offset,
        hint="The file is damaged, or has another format; write or copy it again.",
    )
