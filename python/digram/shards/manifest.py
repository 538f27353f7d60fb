"""`manifest.json` beside the shards: what was made, of what, and how far the run is.

It is written when a run begins and when it ends. Between, a line for each shard that is done goes
to `manifest.jsonl`, so neither ever speaks of a file that is not whole.
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
_LARGEST = 1 << 32  # bytes of a manifest: a million shards, and as many files that they are of
_BLOCK = 1 << 20  # bytes of a file that are hashed at once


@dataclass(slots=True)
class Place:
    """A place in the corpus: the documents of the input `file` before it, with their digest."""

    file: int = 0
    documents: int = 0
    blake3: str = _NOTHING


@dataclass(slots=True)
class Input:
    """What a corpus is made of: a file, or all that an iterator, a table or a stream gives.

    `path` and `bytes` are those of a file. `corpus` is the key of a dictionary of corpora.
    The rest is known once all of it was read: how many documents, their digest, how many records
    were skipped, and when the file was changed; the last helps a run that goes on, and is gone from
    the manifest of one that ended.
    """

    path: str | None
    bytes: int | None
    corpus: str | None = None
    documents: int | None = None
    blake3: str | None = None
    skipped: int | None = None
    changed: int | None = None

    def as_json(self) -> dict[str, Any]:
        """What is known of it."""
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
    """A shard that is done, and the place in the corpus where it ends."""

    files: list[ShardFile]
    documents: int
    tokens: int
    end: Place


@dataclass(slots=True)
class Manifest:
    """All that a folder of shards says of itself."""

    digram: str
    tokenizer: str
    options: dict[str, Any]
    inputs: list[Input]
    shards: list[Shard] = field(default_factory=list)
    documents: int = 0
    tokens: int = 0
    done: bool = False
    _reported: int = 0  # how many inputs the lines have already reported

    def save(self, folder: Path) -> None:
        """Replace the manifest of a folder. It holds all, so the lines beside it go."""
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
        """Note one more shard, in a line that is on the disk when this returns.

        So a shard costs the same, however many inputs and shards there are.
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
        """The manifest of a folder; None where there is none.

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
        """How many records of the inputs that were read to their end were skipped."""
        return sum(one.skipped or 0 for one in self.inputs)

    @property
    def end(self) -> Place:
        """Where in the corpus the last shard ends."""
        return self.shards[-1].end if self.shards else Place()

    def check_files(
        self, folder: Path, *, digests: bool, advance: Callable[[int], None] = lambda _: None
    ) -> None:
        """`CorruptFileError` for the first file that is not what the manifest says.

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
    """Adds what the lines tell. The last one may be a half, where a kill or a full disk cut it."""
    try:
        data = read_file(path, _LARGEST)
    except FileNotFoundError:
        return
    for line in data.split(b"\n")[:-1]:
        entry = _is(json.loads(line), dict)
        number, shard = _number(entry["number"]), _shard(entry["shard"], found)
        inputs, first = list(map(_input, _is(entry["inputs"], list))), _number(entry["first"])
        if number < len(found.shards):
            continue  # the manifest was replaced since, and these lines were to go
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
        if Path(_is(file.name, str)).name != file.name:  # a file of this folder
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
    """Add a line to a file, and wait until it is on the disk.

    Where power is lost before the folder is, the file is gone as a whole, and its shards count as
    not done.
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
        f"the manifest beside it tells of another file: {what}.",
        path=path,
        hint="Copy the folder again, or delete it and encode anew.",
    )


def _damaged(path: Path) -> CorruptFileError:
    return CorruptFileError(
        "this is not a manifest of digram.",
        path=path,
        hint="It is damaged, or of another program. Give another folder; to read files of tokens "
        "beside it, pass format=.",
    )
