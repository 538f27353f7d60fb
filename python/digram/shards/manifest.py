"""`manifest.json` in the folder of shards: the options, inputs, shards and progress of a run.

It is written at the start and at the end of a run. In between, a line for each finished shard is
appended to `manifest.jsonl`. Both list only complete files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from digram._core import Blake3
from digram._util.storage import atomic_write, read_file
from digram.errors import CheckpointError, CorruptFileError

__all__ = ["LINES", "NAME", "Input", "Manifest", "Place", "Shard", "ShardFile"]

NAME = "manifest.json"
LINES = "manifest.jsonl"
VERSION = 1

_NOTHING = Blake3().hexdigest()
_LARGEST = 1 << 32  # bytes of a manifest, enough for a million shards and as many inputs
_BLOCK = 1 << 20  # bytes of a file to hash at a time


@dataclass(slots=True)
class Place:
    """A place in the corpus: the documents of the input `file` before it, with their digest."""

    file: int = 0
    documents: int = 0
    blake3: str = _NOTHING


@dataclass(slots=True)
class Input:
    """An input of a corpus: a file, or all texts of an iterator, a table or a stream.

    `path` and `bytes` are those of a file. `corpus` is the key in a dictionary of corpora. The
    other fields are known when the input has been read: the number of documents, their digest, the
    number of skipped records, and the modification time of the file, which is used for resuming and
    removed when the run ends.
    """

    path: str | None
    bytes: int | None
    corpus: str | None = None
    documents: int | None = None
    blake3: str | None = None
    skipped: int | None = None
    changed: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The known fields."""
        found = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in found.items() if value is not None}


@dataclass(slots=True)
class ShardFile:
    """A file of a shard."""

    name: str
    bytes: int
    blake3: str


@dataclass(slots=True)
class Shard:
    """A finished shard, and the place in the corpus where it ends."""

    files: list[ShardFile]
    documents: int
    tokens: int
    end: Place


@dataclass(slots=True)
class Manifest:
    """The manifest of a folder of shards."""

    digram: str
    tokenizer: str
    options: dict[str, Any]
    inputs: list[Input]
    shards: list[Shard] = field(default_factory=list)
    documents: int = 0
    tokens: int = 0
    done: bool = False
    _reported: int = 0  # number of inputs that are already in the lines

    def save(self, folder: Path) -> None:
        """Replace the manifest of a folder, and delete the lines, which it includes."""
        content = {
            "digram_tokens": VERSION,
            "digram": self.digram,
            "tokenizer": self.tokenizer,
            "options": self.options,
            "documents": self.documents,
            "tokens": self.tokens,
            "skipped": self.skipped,
            "done": self.done,
            "inputs": [one.as_json() for one in self.inputs],
            "shards": [asdict(one) for one in self.shards],
        }
        data = json.dumps(content, indent=1) + "\n"
        atomic_write(folder / NAME, data.encode())
        (folder / LINES).unlink(missing_ok=True)
        self._reported = self.shards[-1].end.file if self.shards else 0

    def add(self, folder: Path, shard: Shard) -> None:
        """Append a line for a finished shard, and wait until it is on disk.

        The cost does not depend on the number of inputs and shards.
        """
        first, self._reported = self._reported, max(self._reported, shard.end.file)
        line = {
            "number": len(self.shards),
            "shard": asdict(shard),
            "first": first,
            "inputs": [one.as_json() for one in self.inputs[first : self._reported]],
        }
        self._count(shard)
        _append(folder / LINES, json.dumps(line).encode() + b"\n")

    def _count(self, shard: Shard) -> None:
        self.shards.append(shard)
        self.documents += shard.documents
        self.tokens += shard.tokens

    @classmethod
    def load(cls, folder: Path) -> Manifest | None:
        """Load the manifest of a folder; None if there is none.

        Raises `CheckpointError` for one of another version, `CorruptFileError` for a damaged one.
        """
        path = folder / NAME
        try:
            data = read_file(path, _LARGEST)
        except FileNotFoundError:
            return None
        try:
            content = json.loads(data)
        except (ValueError, RecursionError):
            raise _damaged(path) from None
        if not isinstance(content, dict) or "digram_tokens" not in content:
            raise _damaged(path)
        if content["digram_tokens"] != VERSION:
            raise CheckpointError(
                f"the manifest has version {content['digram_tokens']!r}; this version of digram "
                f"reads version {VERSION}.",
                path=path,
                hint="Use the version that wrote it.",
            )
        try:
            found = _parsed(content)
        except (TypeError, ValueError, KeyError):
            raise _damaged(path) from None
        if not found.done:
            try:
                _take_lines(found, folder / LINES)
            except (TypeError, ValueError, KeyError, RecursionError):
                raise _damaged(folder / LINES) from None
        return found

    @property
    def skipped(self) -> int:
        """The number of skipped records of the inputs that were read to their end."""
        return sum(one.skipped or 0 for one in self.inputs)

    @property
    def end(self) -> Place:
        """The place in the corpus where the last shard ends."""
        return self.shards[-1].end if self.shards else Place()

    def check_files(
        self, folder: Path, *, digests: bool, advance: Callable[[int], None] = lambda _: None
    ) -> None:
        """`CorruptFileError` for the first file that does not match the manifest.

        With `digests` all of them are read, and `advance` is called with the number of bytes;
        otherwise only their sizes are checked.
        """
        for file in (one for shard in self.shards for one in shard.files):
            path = folder / file.name
            if not path.is_file():
                raise _other(path, "it is missing")
            if path.stat().st_size != file.bytes:
                raise _other(path, f"it has {path.stat().st_size:,} bytes, not {file.bytes:,}")
            if digests:
                if _blake3(path) != file.blake3:
                    raise _other(path, "its content has another BLAKE3")
                advance(file.bytes)


def _parsed(content: dict[str, Any]) -> Manifest:
    found = Manifest(
        digram=_is(content["digram"], str),
        tokenizer=_is(content["tokenizer"], str),
        options=_is(content["options"], dict),
        inputs=list(map(_input, _is(content["inputs"], list))),
        done=_is(content["done"], bool),
    )
    for one in _is(content["shards"], list):
        found._count(_shard(one, found))
    if (_number(content["documents"]), _number(content["tokens"])) != (
        found.documents,
        found.tokens,
    ):
        raise ValueError
    return found


def _take_lines(found: Manifest, path: Path) -> None:
    """Add the lines. The last one may be incomplete after a crash or a full disk."""
    try:
        data = read_file(path, _LARGEST)
    except FileNotFoundError:
        return
    for line in data.split(b"\n")[:-1]:
        entry = _is(json.loads(line), dict)
        number, shard = _number(entry["number"]), _shard(entry["shard"], found)
        inputs, first = list(map(_input, _is(entry["inputs"], list))), _number(entry["first"])
        if number < len(found.shards):
            continue  # the manifest was replaced, but the lines were not deleted yet
        known = found.inputs[first : first + len(inputs)]
        if number > len(found.shards) or len(known) < len(inputs):
            raise ValueError
        found._count(shard)
        found.inputs[first : first + len(inputs)] = inputs


def _input(value: Any) -> Input:
    one = Input(**{"path": None, "bytes": None, **_is(value, dict)})
    for text in (one.path, one.corpus, one.blake3):
        if text is not None:
            _is(text, str)
    for number in (one.bytes, one.documents, one.skipped, one.changed):
        if number is not None:
            _number(number)
    return one


def _shard(value: Any, of: Manifest) -> Shard:
    files = [ShardFile(**file) for file in _is(_is(value, dict)["files"], list)]
    for file in files:
        _number(file.bytes)
        _is(file.blake3, str)
        if Path(_is(file.name, str)).name != file.name:  # must be a file of this folder
            raise ValueError
    end = Place(**value["end"])
    _is(end.blake3, str)
    for number in (end.file, end.documents):
        _number(number)
    if end.file >= len(of.inputs):
        raise ValueError
    return Shard(files, _number(value["documents"]), _number(value["tokens"]), end)


def _is(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError
    return value


def _number(value: Any) -> int:
    if not 0 <= _is(value, int) < 1 << 64:
        raise ValueError
    return int(value)


def _append(path: Path, data: bytes) -> None:
    """Append a line to a file, and wait until it is on disk.

    If power fails before the folder is on disk, the file is missing, and its shards count as
    unfinished.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.filename is None:
            error.filename = os.fspath(path)
        raise


def _blake3(path: Path) -> str:
    found = Blake3()
    with path.open("rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def _other(path: Path, what: str) -> CorruptFileError:
    return CorruptFileError(
        f"the file does not match its manifest: {what}.",
        path=path,
        hint="Copy the folder again, or delete it and encode again.",
    )


def _damaged(path: Path) -> CorruptFileError:
    return CorruptFileError(
        "this is not a manifest of digram.",
        path=path,
        hint="It is damaged, or from another program. Pass another folder; to read token files "
        "in this folder, pass format=.",
    )
