"""The source of a run: its documents in batches, with the place of each, and from any place on."""

from __future__ import annotations

import itertools
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from digram.bulk.manifest import Input, Manifest, Place
from digram.errors import CheckpointError, DigramError
from digram.sinks import Run
from digram.sources import Files, Source, Text, batches, documents, separator_of, settled

__all__ = ["Batch", "Inputs"]


class _Some(NamedTuple):
    """So many documents of a file, from number `first` on."""

    file: int
    first: int
    documents: int


class Batch(NamedTuple):
    """Some documents, in which files they stand, and the sums that `Place` speaks of."""

    texts: list[Text]
    parts: list[_Some]
    sums: list[int]

    def place(self, index: int) -> Place:
        """The place behind one of the documents."""
        before = 0
        for part in self.parts:
            if index < before + part.documents:
                return Place(part.file, part.first + index - before + 1, self.sums[index])
            before += part.documents
        raise AssertionError("a document of the batch")


class Inputs:
    """A source, taken apart into files where it has some.

    >>> inputs = Inputs(["a", b"bc"], None)
    >>> [batch.texts for batch in inputs.read(8 << 20)]
    [['a', b'bc']]
    """

    def __init__(self, source: Source, separator: str | bytes | None) -> None:
        source = settled(source, separator)
        self.found = source if isinstance(source, Files) else None
        self.separator = separator_of(source, separator)
        self.files: list[Input] | None = None
        # Refuses at once what is no source, and a separator that it cannot have.
        self._documents = documents(source, separator)
        if self.found is not None:
            self.files = [Input(os.fspath(p), p.stat().st_size) for p in self.found.paths]

    def name(self, file: int) -> str:
        """What a file is called; nothing where the source is no files."""
        return "" if self.files is None else self.files[file].path

    def check_outside(self, folder: Path) -> None:
        """`CheckpointError` where a file lies in the folder of the shards, and may be one."""
        home = folder.resolve()
        for path in () if self.found is None else self.found.paths:
            if path.resolve().is_relative_to(home):
                raise CheckpointError(
                    "this input lies in the folder that shards are written to.",
                    path=path,
                    hint="Write to a folder elsewhere.",
                )

    def check_same(self, manifest: Manifest, folder: Path) -> None:
        """`CheckpointError` where a run had other inputs, by their names and sizes."""
        had, have = manifest.inputs, self.files
        if had is None or have is None:
            if had is not have:
                what = ("files", "no files") if had is not None else ("no files", "files")
                raise _other(folder, f"its source is {what[0]}, and this one {what[1]}")
            return
        for old, new in zip(had, have, strict=False):
            if old.path != new.path:
                raise _other(folder, f"its input {old.path!r} is {new.path!r} now")
            if old.bytes != new.bytes:
                raise _other(
                    folder, f"its input {old.path!r} had {old.bytes:,} bytes, and has {new.bytes:,}"
                )
        if len(had) != len(have):
            raise _other(folder, f"it had {len(had):,} input files, and there are {len(have):,}")

    def read(self, size: int, done: Manifest | None = None) -> Iterator[Batch]:
        """The documents in batches of about `size` bytes; those after what `done` says, if given.

        What is not given again is compared with what the manifest says of it: `CheckpointError`
        names the file that differs. Files that were read to their end and have not been touched
        since are not read again.
        """
        held = _Held()
        for texts in batches(self._texts(held, done), size):
            yield Batch(texts, *held.take())

    def _texts(self, held: _Held, done: Manifest | None) -> Iterator[Text]:
        until = Place() if done is None else done.end
        if self.found is None or self.files is None:
            yield from self._rest(0, self._documents, held, until)
            return
        for number, (path, one) in enumerate(zip(self.found.paths, self.files, strict=True)):
            changed = path.stat().st_mtime_ns
            old = None if done is None or done.inputs is None else done.inputs[number]
            if old is not None and number < until.file and old.changed == changed:
                one.documents, one.crc32, one.changed = old.documents, old.crc32, old.changed
                continue
            texts = documents(replace(self.found, paths=(path,)), self.separator)
            place = until if number == until.file else Place(number)
            if old is not None and number < until.file:
                place = Place(number, old.documents or 0, old.crc32 or 0)
            last = Place(number)
            rest = self._rest(number, texts, held, place, last)
            if number < until.file:
                for _ in rest:
                    raise self._differs(number)
            else:
                yield from rest
            one.documents, one.crc32, one.changed = last.documents, last.crc32, changed

    def _rest(
        self,
        number: int,
        texts: Iterable[Text],
        held: _Held,
        until: Place,
        last: Place | None = None,
    ) -> Iterator[Text]:
        """The documents of a file after those that are done, which must be the same."""
        texts = iter(texts)
        done = total = 0
        for text in itertools.islice(texts, until.documents):
            total = _sum(text, total)
            done += 1
        if (done, total) != (until.documents, until.crc32):
            raise self._differs(number)
        sums = held.begin(number, done)
        for text in texts:
            total = _sum(text, total)
            done += 1
            sums.append(total)
            yield text
        if last is not None:
            last.documents, last.crc32 = done, total

    def _differs(self, number: int) -> CheckpointError:
        name = self.name(number)
        which = f"{name!r} differs" if name else "the documents differ"
        return CheckpointError(
            f"the source is not the one that the shards were made of: {which}.",
            path=name or None,
            hint="Give the same source, or another folder to start anew.",
        )

    def left(self, size: int | None, done: Manifest | None) -> int | None:
        """About how many bytes are still to be encoded, of so many."""
        if size is None or done is None or self.files is None:
            return size
        return size - sum(one.bytes for one in self.files[: done.end.file])

    def say(self, error: DigramError, batch: Batch) -> None:
        """Let an error about a text of a batch say where that stands in the source."""
        match = re.match(r"texts\[(\d+)\]", error.message)
        if match is None:
            return
        place = batch.place(int(match[1]))
        number = place.documents - 1
        which = f"document {number}" if self.files is not None else f"source[{number}]"
        error.message = which + error.message[match.end() :]
        error.args = (error.message,)
        error.path = self.name(place.file) or None

    def runs(self, batch: Batch, first: int, stop: int) -> list[Run]:
        """Where the documents of a batch from `first` to `stop` come from."""
        found, before = [], 0
        for part in batch.parts:
            start, end = max(first - before, 0), min(stop - before, part.documents)
            if start < end:
                found.append(Run(self.name(part.file), part.first + start, end - start))
            before += part.documents
        return found


class _Held:
    """What is noted of documents on their way into a batch: their sums, and where files begin."""

    def __init__(self) -> None:
        self._begun: list[tuple[int, int, int]] = []  # file, number there, place among the sums
        self._sums: list[int] = []

    def begin(self, file: int, number: int) -> list[int]:
        """A file, from a document on; gives the list to which the sum of each document is added."""
        self._begun.append((file, number, len(self._sums)))
        return self._sums

    def take(self) -> tuple[list[_Some], list[int]]:
        """What was noted since the last call."""
        sums = self._sums.copy()
        stops = [place for _, _, place in self._begun[1:]] + [len(sums)]
        parts = [
            _Some(file, number, stop - place)
            for (file, number, place), stop in zip(self._begun, stops, strict=True)
        ]
        last = parts[-1]
        self._begun = [(last.file, last.first + last.documents, 0)]
        self._sums.clear()
        return [part for part in parts if part.documents], sums


def _sum(text: Text, before: int) -> int:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    # The length goes in too, so that the same bytes in other documents have another sum.
    return zlib.crc32(data, before ^ len(data) & 0xFFFF_FFFF)


def _other(folder: Path, what: str) -> CheckpointError:
    return CheckpointError(
        f"the run there has another source: {what}.",
        path=folder,
        hint="Give the same source, or another folder to start anew.",
    )
