"""The corpus of a run: its documents in batches, with the place of each, and from any place on."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from digram.corpus import CorpusLike, Pass, Text, Unread, batches
from digram.corpus.corpus import PER_TEXT
from digram.corpus.file_source import changed
from digram.corpus.text import LastBorder, in_parts
from digram.errors import CheckpointError, DigramError
from digram.shards.formats import Run
from digram.shards.manifest import Input, Manifest, Place
from digram.shards.pieces import Pieces
from digram.shards.tally import Tally, Unfinished

__all__ = ["Batch", "Inputs", "Part"]

_AT_ONCE = 1 << 20  # bytes of texts to compare at a time


class Ended(NamedTuple):
    """The end of an input: skipped records, and the modification time of its file."""

    skipped: int
    changed: int | None


class Part(NamedTuple):
    """Consecutive documents of an input, starting with number `first`, and its end if reached."""

    file: int
    first: int
    documents: int
    ended: Ended | None


class Batch(NamedTuple):
    """A batch of texts: documents, or parts of documents that are too long for a batch.

    The texts at the indices `unfinished` continue with the next text, possibly in the next batch.
    `places` has the record number of each text, or the offset of a part in its document.
    """

    texts: list[Text]
    unfinished: list[int]
    places: list[int]
    parts: list[Part]
    done: int  # bytes of the corpus that were read up to here


class Inputs:
    """A corpus, divided into its pieces.

    >>> inputs = Inputs(["a", b"bc"])
    >>> [batch.texts for batch in inputs.batches(8 << 20)]
    [['a', b'bc']]
    """

    def __init__(
        self,
        corpus: CorpusLike | Mapping[str, CorpusLike],
        last_border: LastBorder = lambda _text, _start: 0,
    ) -> None:
        found = Pieces(corpus)
        self._pieces = found.all
        self._last_border = last_border
        self.options, self.size = found.options, found.size
        self.check_outside = found.check_outside
        self.files: list[Input] = found.inputs()
        self.seen = Pass()
        self._begun: _Begun | None = None
        self._next = 0

    @property
    def is_callers(self) -> bool:
        """Whether some of it must be read in the caller's thread."""
        return any(piece.is_callers for piece in self._pieces)

    def check_same(self, manifest: Manifest, folder: Path) -> None:
        """`CheckpointError` if a run had other inputs, by their names and sizes."""
        had, have = manifest.inputs, self.files
        for old, new in zip(had, have, strict=False):
            if (old.path, old.corpus) != (new.path, new.corpus):
                raise _other(folder, f"its input {_called(old)} is now {_called(new)}")
            if old.bytes != new.bytes:
                raise _other(
                    folder,
                    f"its input {old.path!r} had {old.bytes:,} bytes, and now has {new.bytes:,}",
                )
        if len(had) != len(have):
            raise _other(folder, f"it had {len(had):,} inputs, and now has {len(have):,}")

    def prove(self, old: Manifest, tally: Tally, advance: Callable[[int], None]) -> None:
        """Compare the documents that are done with the manifest, and continue after them.

        `CheckpointError` names the file that differs. Files that were read completely and have not
        changed since are not read again. `tally` is updated.
        """
        until = old.end
        for number, (one, was) in enumerate(zip(self.files, old.inputs, strict=True)):
            if number > until.file and not old.done:
                return
            whole = number < until.file or old.done
            done = self.seen.done
            if whole and self._is_untouched(number, was):
                one.documents, one.blake3 = was.documents, was.blake3
                one.skipped, one.changed = was.skipped, was.changed
                self.seen.done += one.bytes or 0
                advance(one.bytes or 0)
                self._next = number + 1
                continue
            begun = self._begin(number)
            tally.begin(number)
            place = Place(number, was.documents or 0, was.blake3 or "") if whole else until
            for texts in batches(_first(begun.texts, place.documents), _AT_ONCE):
                tally.add(texts)
                advance(self.seen.done - done)
                done = self.seen.done
            if tally.place() != place:
                raise self._differs(number)
            self._next = number + 1
            if not whole:
                begun.first, self._begun = place.documents, begun
            elif next(begun.texts, None) is not None:
                raise self._differs(number)
            else:
                tally.end(*begun.ended(self.seen))
                advance(self.seen.done - done)

    def batches(self, size: int) -> Iterator[Batch]:
        """The remaining documents, in batches of about `size` bytes."""
        texts: list[Text] = []
        unfinished: list[int] = []
        places: list[int] = []
        parts: list[Part] = []
        held, seen = 0, self.seen
        for begun in self._left():
            number, first, documents, at = begun.number, begun.first, 0, 0
            in_parts = self._pieces[number].in_parts
            for text in begun.texts:
                places.append(at if in_parts else seen.record)
                if type(text) is Unfinished:
                    unfinished.append(len(texts))
                    at += len(text)
                else:
                    documents += 1
                texts.append(text)
                held += len(text) + PER_TEXT
                if held >= size:
                    parts.append(Part(number, first, documents, None))
                    yield Batch(texts, unfinished, places, parts, seen.done)
                    texts, unfinished, places, parts = [], [], [], []
                    first, documents, held = first + documents, 0, 0
            parts.append(Part(number, first, documents, begun.ended(seen)))
        if parts:
            yield Batch(texts, unfinished, places, parts, seen.done)

    def tell(self, error: DigramError, batch: Batch, text: int) -> None:
        """Add the place in the corpus to an error about a text of a batch."""
        piece, place = self._pieces[_file_of(batch, text)], batch.places[text]
        if piece.in_parts:
            error.path = piece.name
            if place and error.index is not None:
                # Positions in the message are relative to the part.
                error.message = f"in the text from byte {place} on, {error.message}"
                error.index += place
        elif found := piece.at(place):
            error.path, error.record = found["path"], found["record"]
            error.offset = found.get("offset")
        else:
            name = "corpus" if piece.corpus is None else f"corpus[{piece.corpus!r}]"
            error.message = f"{name}[{place - 1}]: {error.message}"
            error.index = place - 1 if error.index is None else error.index
        error.args = (error.message,)

    def runs(self, batch: Batch, first: int, stop: int) -> list[Run]:
        """The sources of the documents `first` to `stop` of a batch."""
        found, before = [], 0
        for part in batch.parts:
            start, end = max(first - before, 0), min(stop - before, part.documents)
            if start < end:
                name = self._pieces[part.file].name
                found.append(Run(name, part.first + start, end - start))
            before += part.documents
        return found

    def _is_untouched(self, number: int, was: Input) -> bool:
        path = self._pieces[number].path
        if path is None or was.changed is None:
            return False
        return path.stat().st_mtime_ns == was.changed

    def _left(self) -> Iterator[_Begun]:
        if self._begun is not None:
            yield self._begun
        for number in range(self._next, len(self._pieces)):
            yield self._begin(number)

    def _begin(self, number: int) -> _Begun:
        piece, stamp = self._pieces[number], None
        if piece.path is not None:
            found = piece.path.stat()
            stamp = found.st_mtime_ns
            if found.st_size != piece.size:
                raise changed(piece.path, piece.size or 0, found.st_size)
        texts = _documents(piece.texts(self.seen), self._last_border)
        return _Begun(number, texts, stamp, self.seen.skipped)

    def _differs(self, number: int) -> CheckpointError:
        one = self.files[number]
        which = "the documents differ" if one.path is None else f"{one.path!r} differs"
        return CheckpointError(
            f"the corpus is not the one that the shards were made from: {which}.",
            path=one.path,
            hint="Pass the same corpus, or another folder to start a new run.",
        )


@dataclass(slots=True)
class _Begun:
    """An input that is being read: its texts, and the number of the first."""

    number: int
    texts: Iterator[Text]
    changed: int | None
    skipped: int  # records of other inputs
    first: int = 0

    def ended(self, seen: Pass) -> Ended:
        """The facts about the input at its end."""
        return Ended(seen.skipped - self.skipped, self.changed)


def _documents(texts: Iterator[Text | Unread], last_border: LastBorder) -> Iterator[Text]:
    """Yield texts; long files are read in parts."""
    for text in texts:
        if isinstance(text, Unread):
            yield from _in_parts(text, last_border)
        else:
            yield text


def _in_parts(text: Unread, last_border: LastBorder) -> Iterator[Text]:
    blocks = iter(text.blocks)
    start = list(itertools.islice(blocks, 2))
    if len(start) < 2:
        yield b"".join(start)
        return
    parts = in_parts(Unread(itertools.chain(start, blocks), text.name), last_border, None)
    part = next(parts)
    for further in parts:
        yield Unfinished(part)
        part = further
    yield part


def _first(texts: Iterator[Text], documents: int) -> Iterator[Text]:
    """Yield the texts of the first documents."""
    while documents:
        text = next(texts, None)
        if text is None:
            return
        documents -= type(text) is not Unfinished
        yield text


def _file_of(batch: Batch, text: int) -> int:
    """The input of a text of a batch."""
    document = text - bisect_left(batch.unfinished, text)
    for part in batch.parts:
        if document < part.documents:
            return part.file
        document -= part.documents
    return batch.parts[-1].file  # the document continues in the next batch


def _called(one: Input) -> str:
    name = "no file" if one.path is None else repr(one.path)
    return name if one.corpus is None else f"{name} of corpus[{one.corpus!r}]"


def _other(folder: Path, what: str) -> CheckpointError:
    return CheckpointError(
        f"the run in the folder has another corpus: {what}.",
        path=folder,
        hint="Pass the same corpus, or another folder to start a new run.",
    )
