"""Ids on their way into shards: where one ends and the next begins, and when one is done."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from digram.batching import FlatIds
from digram.bulk.inputs import Batch, Inputs
from digram.bulk.manifest import Manifest, Place, Shard, ShardFile
from digram.bulk.options import Options
from digram.errors import LimitExceededError
from digram.sinks import About, Documents, Ids, Writer
from digram.storage import LEFT_BEHIND, NewFile

__all__ = ["Encoded", "Shards", "remove_unfinished", "with_ends"]

_NAME = "tokens-{:06d}"
_OURS = re.compile(r"tokens-\d{6}\.[a-z.]+")
_MOST = 1_000_000  # shards; more of them would not sort by their names


class Encoded(NamedTuple):
    """Documents and their ids."""

    batch: Batch
    flat: FlatIds


class _Open:
    """The shard that is being written."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self.files: list[NewFile] = []
        self.writer: Writer
        self.documents = self.tokens = 0

    def open(self, suffix: str, reserved: int = 0) -> NewFile:
        """A file of this shard."""
        self.files.append(NewFile(self._folder / f"{self._name}{suffix}", reserved))
        return self.files[-1]

    def close(self) -> None:
        """Remove what is not done."""
        for file in self.files:
            file.close()


class Shards:
    """Writes documents as they come, and the manifest after each shard.

    A shard ends with the document that reaches `shard_tokens`, so where shards end is a matter of
    the documents alone.
    """

    def __init__(
        self,
        folder: Path,
        options: Options,
        inputs: Inputs,
        manifest: Manifest,
        close: Callable[[], None],
    ) -> None:
        self.folder, self._options, self._inputs = folder, options, inputs
        self.manifest = manifest
        self._close = close
        self._open: _Open | None = None
        self._end = manifest.end

    def add(self, encoded: Encoded) -> None:
        """Write documents, and finish each shard that they fill."""
        batch, flat = encoded
        end = None if self._options.end is None else self._options.end[1]
        ids, ends = with_ends(flat.ids, flat.offsets, end, self._options.dtype)
        done = at = 0
        while done < len(ends):
            shard = self._shard()
            stop = self._stop(shard, batch, ends, done, at)
            if stop > done:
                place = int(ends[stop - 1])
                runs = self._inputs.runs(batch, done, stop)
                shard.writer.write(Documents(ids[at:place], ends[done:stop] - at, runs))
                shard.documents += stop - done
                shard.tokens += place - at
                self._end = batch.place(stop - 1)
                done, at = stop, place
            if shard.tokens >= self._options.shard_tokens or done < len(ends):
                self._finish()

    def end(self) -> None:
        """Finish the last shard, and say that all is done."""
        if self._open is not None:
            self._finish()
        manifest = self.manifest
        manifest.done = True
        for one in manifest.inputs or ():
            one.changed = None  # the manifest tells of contents, not of times
        manifest.save(self.folder)

    def close(self) -> None:
        """Remove what is not done, and leave the folder."""
        if self._open is not None:
            self._open.close()
        self._close()

    def _shard(self) -> _Open:
        """The shard that documents go to; a new one where none is open."""
        if self._open is None:
            number = len(self.manifest.shards)
            if number == _MOST:
                raise LimitExceededError(
                    f"there are more than {_MOST:,} shards.", hint="Make them larger: shard_tokens="
                )
            self._open = _Open(self.folder, _NAME.format(number))
            manifest, options = self.manifest, self._options
            about = About(options.dtype, manifest.tokenizer, manifest.documents)
            self._open.writer = options.format.begin(self._open.open, about)
        return self._open

    def _stop(self, shard: _Open, batch: Batch, ends: NDArray[np.int64], done: int, at: int) -> int:
        """How many documents of these the shard takes: up to the one that fills it."""
        options = self._options
        full = int(np.searchsorted(ends, at + options.shard_tokens - shard.tokens)) + 1
        most = int(np.searchsorted(ends, at + options.format.most - shard.tokens, side="right"))
        stop = min(max(full, done + 1), most, len(ends))
        if stop == done and not shard.tokens:
            place = batch.place(done)
            raise LimitExceededError(
                f"document {place.documents - 1} has {int(ends[done]) - at:,} tokens, and format="
                f"{options.format.name!r} holds {options.format.most:,} at most.",
                path=self._inputs.name(place.file) or None,
                index=place.documents - 1,
                hint="Cut it with separator=, or choose another format.",
            )
        return stop

    def _finish(self) -> None:
        shard, self._open = self._open, None
        assert shard is not None, "a shard is open"
        try:
            shard.writer.finish()
            for file in shard.files:
                file.finish()
        finally:
            shard.close()
        files = [ShardFile(Path(one.path).name, one.size, one.sha256) for one in shard.files]
        manifest, end = self.manifest, self._end
        manifest.shards.append(
            Shard(files, shard.documents, shard.tokens, Place(end.file, end.documents, end.crc32))
        )
        manifest.documents += shard.documents
        manifest.tokens += shard.tokens
        manifest.save(self.folder)


def with_ends(
    ids: NDArray[Any], offsets: NDArray[Any], end: int | None, dtype: np.dtype[Any]
) -> tuple[Ids, NDArray[np.int64]]:
    """Ids of one type, with the token `end` after each document, and where each now ends.

    >>> ids, offsets = np.array([7, 8, 9], "u4"), np.array([0, 2, 2, 3], "u8")
    >>> found, ends = with_ends(ids, offsets, 1, np.dtype("u2"))
    >>> found.tolist(), ends.tolist()
    ([7, 8, 1, 1, 9, 1], [3, 4, 6])
    """
    ends = offsets[1:].astype(np.int64)
    if end is None:
        return ids.astype(dtype), ends
    ends += np.arange(1, len(ends) + 1)
    found = np.empty(len(ids) + len(ends), dtype)
    plain = np.ones(len(found), np.bool_)
    plain[ends - 1] = False
    found[plain] = ids
    found[ends - 1] = end
    return found, ends


def remove_unfinished(folder: Path, manifest: Manifest | None) -> None:
    """Removes what a killed run left: half files, and files of a shard that is not done."""
    known = {file.name for shard in manifest.shards for file in shard.files} if manifest else set()
    for path in folder.glob(LEFT_BEHIND):
        path.unlink(missing_ok=True)
    for path in list(folder.iterdir()) if manifest else ():
        if _OURS.fullmatch(path.name) and path.name not in known:
            path.unlink(missing_ok=True)
