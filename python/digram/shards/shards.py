"""Write documents into shards, and finish each shard."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from digram._core import EncodedDocuments
from digram._util.storage import LEFT_BEHIND, NewFile
from digram.corpus.file_types import files_with
from digram.errors import LimitExceededError
from digram.shards.chats import EncodedChats
from digram.shards.formats import About, Documents, Format, Ids, Writer
from digram.shards.inputs import Batch, Inputs
from digram.shards.long import Long
from digram.shards.manifest import Manifest, Place, Shard, ShardFile
from digram.shards.options import Options
from digram.shards.parts import EncodedParts
from digram.shards.tally import Tally

__all__ = ["Encoded", "Shards", "remove_unfinished"]

_NAME = "tokens-{:06d}"
_NAMED = re.compile(r"tokens-\d{6}(\..*)", re.DOTALL)
_MAX_SHARDS = 1_000_000  # more would not sort by name


class Encoded(NamedTuple):
    """A batch of texts with its ids."""

    batch: Batch
    held: EncodedDocuments | EncodedChats | EncodedParts


class _Open:
    """The shard that is being written."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self.files: list[NewFile] = []
        self.writer: Writer
        self.documents = self.tokens = 0

    def open(self, suffix: str, reserved: int = 0) -> NewFile:
        """Open a file of this shard."""
        self.files.append(NewFile(self._folder / f"{self._name}{suffix}", reserved))
        return self.files[-1]

    def close(self) -> None:
        """Remove unfinished files."""
        for file in self.files:
            file.close()


class Shards:
    """Writes documents, and adds each finished shard to the manifest.

    A shard ends with the document that reaches `shard_tokens`, so the ends of shards depend only on
    the documents. Files are hashed in this thread too, while others encode.
    """

    def __init__(
        self,
        folder: Path,
        options: Options,
        inputs: Inputs,
        manifest: Manifest,
        tally: Tally,
        close: Callable[[], None],
    ) -> None:
        self.folder, self._options, self._inputs = folder, options, inputs
        self.manifest = manifest
        self._tally = tally
        self._close = close
        self._open: _Open | None = None
        self._long: Long | None = None  # the unfinished document of the last batch
        self._end = manifest.end

    def add(self, encoded: Encoded) -> None:
        """Write the documents of a batch, and finish each full shard."""
        batch, held = encoded
        end = None if self._options.end is None else self._options.end[1]
        ids, ends = held.gather(end, self._options.dtype.name)
        # Chats are lines, which are never read in parts.
        mask = held.mask(end) if isinstance(held, EncodedChats) else None
        passed = _Passed(batch, self._tally)
        done = begins = 0
        if self._long is not None and len(ends):
            done, begins = 1, int(ends[0])
            self._long.add(ids[:begins])
            whole = self._long.ids()
            self._write(batch, whole, np.array([len(whole)]), 0, passed)
            del whole
            self._long.close()
            self._long = None
        self._write(batch, ids[begins:], ends[done:] - begins, done, passed, mask)
        passed.rest()
        if batch.unfinished and batch.unfinished[-1] == len(batch.texts) - 1:
            self._long = self._long or Long(self.folder, self._options.dtype)
            self._long.add(ids[ends[-1] if len(ends) else 0 :])

    def _write(
        self,
        batch: Batch,
        ids: Ids,
        ends: NDArray[np.int64],
        first: int,
        passed: _Passed,
        mask: NDArray[np.uint8] | None = None,
    ) -> None:
        """Write documents of a batch; `first` is the number of the first in the batch."""
        done = at = 0
        while done < len(ends):
            shard = self._shard()
            stop = self._stop(shard, batch, ends, done, at, first)
            if stop > done:
                place = int(ends[stop - 1])
                runs = self._inputs.runs(batch, first + done, first + stop)
                own = None if mask is None else mask[at:place]
                shard.writer.write(Documents(ids[at:place], ends[done:stop] - at, runs, own))
                shard.documents += stop - done
                shard.tokens += place - at
                self._end = passed.take(stop - done)
                done, at = stop, place
            if shard.tokens >= self._options.shard_tokens or done < len(ends):
                self._finish()

    def end(self) -> None:
        """Finish the last shard, and mark the run as done."""
        if self._open is not None:
            self._finish()
        manifest = self.manifest
        manifest.done = True
        for one in manifest.inputs:
            one.changed = None  # times are only needed for resuming
        manifest.save(self.folder)

    def close(self) -> None:
        """Remove unfinished files, and release the folder."""
        try:
            if self._long is not None:
                self._long.close()
            if self._open is not None:
                self._open.close()
        finally:
            self._close()

    def _shard(self) -> _Open:
        """The open shard; a new one if none is open."""
        if self._open is None:
            number = len(self.manifest.shards)
            if number == _MAX_SHARDS:
                raise LimitExceededError(
                    f"there are more than {_MAX_SHARDS:,} shards.",
                    hint="Make them larger with shard_tokens= or shard_size=.",
                )
            self._open = _Open(self.folder, _NAME.format(number))
            manifest, options = self.manifest, self._options
            masked = bool(options.chats)
            about = About(options.dtype, manifest.tokenizer, manifest.documents, masked)
            self._open.writer = options.format.begin(self._open.open, about)
        return self._open

    def _stop(
        self, shard: _Open, batch: Batch, ends: NDArray[np.int64], done: int, at: int, first: int
    ) -> int:
        """The number of documents that the shard takes: up to the one that fills it."""
        options = self._options
        full = int(np.searchsorted(ends, at + options.shard_tokens - shard.tokens)) + 1
        limit = int(
            np.searchsorted(ends, at + options.format.max_tokens - shard.tokens, side="right")
        )
        stop = min(max(full, done + 1), limit, len(ends))
        if stop == done and not shard.tokens:
            error = LimitExceededError(
                f"the document has {int(ends[done]) - at:,} tokens, and format="
                f"{options.format.name!r} holds {options.format.max_tokens:,} at most.",
                hint=f"Split it with {files_with('separator=...')}, or choose another format.",
            )
            self._inputs.tell(error, batch, _last_text(batch, first + done))
            raise error
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
        files = [ShardFile(Path(one.path).name, one.size, one.blake3) for one in shard.files]
        self.manifest.add(self.folder, Shard(files, shard.documents, shard.tokens, self._end))


class _Passed:
    """Tracks the written documents and inputs of a batch, and updates the tally."""

    def __init__(self, batch: Batch, tally: Tally) -> None:
        self._batch, self._tally = batch, tally
        self._part = self._text = self.documents = 0
        self._left = batch.parts[0].documents if batch.parts else 0

    def take(self, documents: int) -> Place:
        """Count documents as written; returns the place after them."""
        while documents:
            self._pass_by()
            number = min(documents, self._left)
            documents -= number
            self._left -= number
            self.documents += number
            self._add(_last_text(self._batch, self.documents - 1) + 1)
        return self._tally.place()

    def rest(self) -> None:
        """Add the rest of the batch: ends of inputs, or parts of a document."""
        self._pass_by()
        self._add(len(self._batch.texts))

    def _add(self, stop: int) -> None:
        if self._part < len(self._batch.parts):
            file = self._batch.parts[self._part].file
            if self._tally.file != file:
                self._tally.begin(file)
            self._tally.add(self._batch.texts[self._text : stop])
            self._text = stop

    def _pass_by(self) -> None:
        """Advance to the next input with documents."""
        for part in self._batch.parts[self._part :]:
            if self._left or part.ended is None:
                return
            if self._tally.file != part.file:
                self._tally.begin(part.file)
            self._tally.end(*part.ended)
            self._part += 1
            if self._part < len(self._batch.parts):
                self._left = self._batch.parts[self._part].documents


def _last_text(batch: Batch, document: int) -> int:
    """The last text of a document in a batch."""
    text = document
    for other in batch.unfinished:
        if other > text:
            break
        text += 1
    return text


def remove_unfinished(folder: Path, manifest: Manifest | None, format: Format) -> None:
    """Remove the remains of a killed run: incomplete files, and files of unfinished shards.

    A file belongs to an unfinished shard if it has the name of a shard, a suffix of the format, and
    is not listed in the manifest. No other files are removed.
    """
    for path in folder.glob(LEFT_BEHIND):
        path.unlink(missing_ok=True)
    if manifest is None:
        return
    known = {file.name for shard in manifest.shards for file in shard.files}
    ours = [format.suffix, *format.beside]
    for path in list(folder.iterdir()):
        name = _NAMED.match(path.name)
        if name is not None and name[1] in ours and path.name not in known:
            path.unlink(missing_ok=True)
