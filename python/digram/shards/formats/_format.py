"""What a format of training files is: how a shard is written, and how one is read.

The rooms beside this one hold a format each. What drives them (`digram.shards`) knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from digram._util.storage import NewFile, map_file
from digram.errors import CorruptFileError, LimitExceededError

__all__ = [
    "About",
    "Bounds",
    "Documents",
    "Format",
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
]

Ids = NDArray[Any]
"""Ids of any of the types that formats have."""
Bounds = NDArray[np.int64]
"""Where documents begin and end in ids: document i is `ids[bounds[i]:bounds[i + 1]]`."""


class Run(NamedTuple):
    """Neighbouring documents of a corpus: `number` of them, from number `first` on."""

    source: str
    first: int
    documents: int


class Documents(NamedTuple):
    """Some documents of a shard: their ids back to back, where each ends, where they come from."""

    ids: Ids
    ends: NDArray[np.int64]
    runs: Sequence[Run]


class About(NamedTuple):
    """What is known of a shard before it is written."""

    dtype: np.dtype[Any]
    tokenizer: str
    first: int  # how many documents the shards before it hold


Open = Callable[..., NewFile]
"""Makes a file of a shard: `open(".idx")`, or `open(".bin", reserved=1024)`."""


class Writer(Protocol):
    """A shard that is being written."""

    def write(self, documents: Documents) -> None:
        """Append documents. How many come at once must change no byte of any file."""

    def finish(self) -> None:
        """Write what is known at the end only."""


class Stored(NamedTuple):
    """A shard that was found: what it says of itself, and how to get at its ids.

    `tokens` and `documents` are None where only the ids tell. `load` opens the files anew and gives
    the ids and their bounds, which are None where the format does not store them. Nothing stays
    open between the two: a run has more shards than a process may have files.
    """

    path: Path
    dtype: np.dtype[Any]
    tokens: int | None
    documents: int | None
    load: Callable[[], tuple[Ids, Bounds | None]]


@dataclass(frozen=True)
class Format:
    """A format: its name, the suffix of the file that names a shard, and what it can hold.

    `beside` are the suffixes of the other files that a shard has.
    `dtypes` are the types of ids that it can have, each with the largest vocabulary for which it
    is chosen; 0 for one that has to be asked for. `recognizes` says whether a file is certainly of
    this format. A file and a document have at most `max_tokens` tokens. `maps` says that ids are
    read where they lie on the disk; else all of a shard is in memory when it is loaded.
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
    needs: Callable[[], object] = lambda: None


def mapped(path: Path, dtype: str | np.dtype[Any], offset: int = 0) -> Ids:
    """What a file holds from `offset` on, as an array that lies on the disk; never a part of an id.

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


def bounds_of(ends: NDArray[Any]) -> Bounds:
    """The bounds of documents by their ends."""
    bounds = np.zeros(len(ends) + 1, np.int64)
    bounds[1:] = ends
    return bounds


def check_bounds(path: Path, bounds: Bounds, tokens: int) -> None:
    """Refuse ends that go backwards, or that do not match the number of tokens."""
    if bounds[0] != 0 or bounds[-1] != tokens or bool((np.diff(bounds) < 0).any()):
        raise corrupt(path, f"its documents are not those of {tokens:,} tokens.")


def check_lengths(documents: Documents, longest: int, format: str) -> Ids:
    """How many tokens each document has; refuses one with more than a format can say of it."""
    lengths = np.diff(documents.ends, prepend=0)
    if len(lengths) and int(lengths.max()) > longest:
        number = int(np.argmax(lengths > longest))
        tokens = int(lengths[number])
        for run in documents.runs:
            if number < run.documents:
                raise LimitExceededError(
                    f"document {run.first + number} has {tokens:,} tokens, and format={format!r} "
                    f"holds {longest:,} in each at most.",
                    path=run.source or None,
                    index=run.first + number,
                    hint="Cut it with separator=, or choose another format.",
                )
            number -= run.documents
    return lengths


def corrupt(path: Path, message: str, offset: int | None = None) -> CorruptFileError:
    """What is wrong with a file of a shard."""
    return CorruptFileError(
        message,
        path=path,
        offset=offset,
        hint="The file is damaged, or of another format; write or copy it again.",
    )
