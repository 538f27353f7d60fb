"""`manifest.json` beside the shards: what was made, of what, and how far the run is.

It is replaced in one step after each shard, so it never speaks of a file that is not whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from digram.errors import CheckpointError, CorruptFileError
from digram.storage import atomic_write, read_file

__all__ = ["NAME", "Input", "Manifest", "Place", "Shard", "ShardFile"]

NAME = "manifest.json"
VERSION = 1


@dataclass(slots=True)
class Place:
    """A place in the source: so many documents of the input `file`, whose bytes have this sum."""

    file: int = 0
    documents: int = 0
    crc32: int = 0


@dataclass(slots=True)
class Input:
    """A file of the source; what was read of it once all of it was, and when it was changed.

    The last of these helps a run that goes on, and is gone from the manifest of one that ended.
    """

    path: str
    bytes: int
    documents: int | None = None
    crc32: int | None = None
    changed: int | None = None


@dataclass(slots=True)
class ShardFile:
    """A file of a shard."""

    name: str
    bytes: int
    sha256: str


@dataclass(slots=True)
class Shard:
    """A shard that is done, and the place in the source where it ends."""

    files: list[ShardFile]
    documents: int
    tokens: int
    end: Place


@dataclass(slots=True)
class Manifest:
    """All that a folder of shards says of itself. `inputs` is None where they are no files."""

    digram: str
    tokenizer: str
    options: dict[str, Any]
    inputs: list[Input] | None
    shards: list[Shard] = field(default_factory=list)
    documents: int = 0
    tokens: int = 0
    done: bool = False

    def save(self, folder: Path) -> None:
        """Replace the manifest of a folder."""
        said = {"digram_tokens": VERSION, **asdict(self)}
        for one in said["inputs"] or ():
            for name in ("documents", "crc32", "changed"):
                if one[name] is None:
                    del one[name]
        atomic_write(folder / NAME, (json.dumps(said, indent=1) + "\n").encode())

    @classmethod
    def load(cls, folder: Path) -> Manifest | None:
        """The manifest of a folder; None where there is none, or one of something else.

        Raises `CheckpointError` for one of a later version, `CorruptFileError` for a damaged one.
        """
        path = folder / NAME
        try:
            said = json.loads(read_file(path))
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError):
            raise _damaged(path) from None
        if not isinstance(said, dict) or "digram_tokens" not in said:
            raise _damaged(path)
        if said["digram_tokens"] != VERSION:
            raise CheckpointError(
                f"the manifest has version {said['digram_tokens']!r}, and this version of digram "
                f"reads {VERSION}.",
                path=path,
                hint="Use the version that wrote it.",
            )
        try:
            return _parsed(said)
        except (TypeError, ValueError, KeyError):
            raise _damaged(path) from None

    @property
    def end(self) -> Place:
        """Where in the source the last shard ends."""
        return self.shards[-1].end if self.shards else Place()

    def check_files(self, folder: Path, *, digests: bool) -> None:
        """`CorruptFileError` for the first file that is not what the manifest says.

        With `digests` all of them are read; else only their sizes are looked at.
        """
        for file in (one for shard in self.shards for one in shard.files):
            path = folder / file.name
            if not path.is_file():
                raise _other(path, "it is missing")
            if path.stat().st_size != file.bytes:
                raise _other(path, f"it has {path.stat().st_size:,} bytes, not {file.bytes:,}")
            if digests and _sha256(path) != file.sha256:
                raise _other(path, "its content has another SHA-256")


def _parsed(said: dict[str, Any]) -> Manifest:
    inputs = said["inputs"]
    found = Manifest(
        digram=_is(said["digram"], str),
        tokenizer=_is(said["tokenizer"], str),
        options=_is(said["options"], dict),
        inputs=None if inputs is None else [Input(**one) for one in _is(inputs, list)],
        shards=[
            Shard(
                [ShardFile(**file) for file in _is(one["files"], list)],
                _number(one["documents"]),
                _number(one["tokens"]),
                Place(**one["end"]),
            )
            for one in _is(said["shards"], list)
        ],
        documents=_number(said["documents"]),
        tokens=_number(said["tokens"]),
        done=_is(said["done"], bool),
    )
    for number in _numbers(found):
        _number(number)
    for file in (one for shard in found.shards for one in shard.files):
        _is(file.sha256, str)
        if Path(_is(file.name, str)).name != file.name:  # a file of this folder
            raise ValueError
    sums = sum(one.documents for one in found.shards), sum(one.tokens for one in found.shards)
    if sums != (found.documents, found.tokens):
        raise ValueError
    return found


def _numbers(found: Manifest) -> Iterator[Any]:
    for shard in found.shards:
        yield from (shard.end.file, shard.end.documents, shard.end.crc32)
        yield from (file.bytes for file in shard.files)
    for one in found.inputs or ():
        _is(one.path, str)
        yield one.bytes
        yield from (n for n in (one.documents, one.crc32, one.changed) if n is not None)


def _is(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError
    return value


def _number(value: Any) -> int:
    if not 0 <= _is(value, int) < 1 << 64:
        raise ValueError
    return int(value)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _other(path: Path, what: str) -> CorruptFileError:
    return CorruptFileError(
        f"the manifest beside it tells of another file: {what}.",
        path=path,
        hint="Copy the folder again, or delete it and encode anew.",
    )


def _damaged(path: Path) -> CorruptFileError:
    return CorruptFileError(
        "this is no manifest of digram.",
        path=path,
        hint="It is damaged, or of another program. Give another folder; to read files of tokens "
        "beside it, pass format=.",
    )
