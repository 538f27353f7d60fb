"""What token files hold, as a sequence of documents: arrays that lie on the disk."""

from __future__ import annotations

import errno
import itertools
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np

from digram._util.validation import any_number
from digram.errors import CorruptFileError, OptionError, several, show
from digram.shards.formats import Bounds, Format, Ids, Stored
from digram.shards.manifest import Manifest

__all__ = ["TokenFiles"]

KEPT = 32  # shards that stay mapped: each holds one open file, of which a process may have few
BLOCK = 1 << 16  # documents whose bounds are Python's numbers at once
STRETCH = 1 << 22  # ids that are searched for ends at once

_COPY = "Arrays keep the files open that they lie in. Copy those that are to stay: `ids.copy()`."


class _Loaded(NamedTuple):
    """A shard whose ids are at hand, with the bounds of its documents where the format has them."""

    number: int
    ids: Ids
    bounds: Bounds | None


class TokenFiles:
    """The documents of token files, made by `read_tokens` and `digram.encode_files`.

    A sequence of arrays of ids, one a document, in the order of the files. Most formats are memory
    maps: nothing is read before it is looked at. Parquet and Arrow files are read one at a time.

    A few shards stay mapped, whatever their number. An array keeps the file that it lies in open
    for as long as it lives: copy those that are to stay, where they come from thousands of shards.
    Threads may share this object. Memory: 8 bytes for each document of the shards that were looked
    at, and one shard where files are read.
    """

    def __init__(
        self,
        stored: list[Stored],
        format: Format,
        end: int | None,
        manifest: Manifest | None = None,
        *,
        cut: bool = False,
    ) -> None:
        """`cut`: documents are what `end` ends, however many the manifest says there are."""
        self._stored, self._format, self._end = stored, format, end
        self._manifest = manifest
        listed = [] if manifest is None else manifest.shards
        pairs = list(itertools.zip_longest(stored, listed))
        self._documents = [
            _known("documents", one, None if cut and one.documents is None else shard)
            for one, shard in pairs
        ]
        self._tokens = [_known("tokens", *pair) for pair in pairs]
        # Threads see one value of these or the next, and both are right: what is kept is replaced
        # and never changed, and a place in a list is filled with the one number that it can have.
        self._kept: tuple[_Loaded, ...] = ()
        self._found: list[Bounds | None] = [None] * len(stored)
        self._ends: list[int] | None = None

    @property
    def format(self) -> str:
        """The name of their format."""
        return self._format.name

    @property
    def tokenizer(self) -> str | None:
        """The `digest` of the tokenizer whose ids these are; None where no manifest tells."""
        return None if self._manifest is None else self._manifest.tokenizer

    @property
    def paths(self) -> tuple[Path, ...]:
        """The file of each shard that holds the ids, in order."""
        return tuple(one.path for one in self._stored)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of ids; where files differ, the smallest that holds those of all."""
        kinds = {one.dtype for one in self._stored} or {np.dtype(np.uint16)}
        return np.result_type(*kinds)

    @property
    def tokens(self) -> int:
        """How many ids there are."""
        for number, known in enumerate(self._tokens):
            if known is None:
                self._tokens[number] = len(self._load(number).ids)
        return sum(known or 0 for known in self._tokens)

    @property
    def documents(self) -> int:
        """How many documents there are, which is also their `len`."""
        return self._all_ends()[-1]

    @property
    def skipped(self) -> int:
        """How many records of the corpus were skipped under `on_error="skip"`, by the manifest."""
        return 0 if self._manifest is None else self._manifest.skipped

    @property
    def ids(self) -> Ids:
        """The ids of all documents, one after the other: mapped for one shard, copied for several.

        `shard(n)` has those of one of them.
        """
        if len(self._stored) == 1:
            return self._load(0).ids
        found, at = np.empty(self.tokens, self.dtype), 0
        for number in range(len(self._stored)):
            ids = self._load(number).ids
            found[at : at + len(ids)] = ids
            at += len(ids)
        return found

    def shard(self, number: int) -> Ids:
        """The ids of a shard; -1 is the last one. `OptionError` for one that there is not."""
        number = any_number("number", number)
        if not -len(self._stored) <= number < len(self._stored):
            raise OptionError(
                f"number={show(number)} is none of {several(len(self._stored), 'shard')}.",
                value=number,
            )
        return self._load(number % len(self._stored)).ids

    def verify(self) -> None:
        """Read all files, and compare them with the digests of their manifest.

        `CorruptFileError` names the first one that differs; `OptionError` without a manifest.
        """
        if self._manifest is None:
            raise OptionError("without a manifest, there is nothing to compare the files with.")
        folder = self._stored[0].path.parent if self._stored else Path()
        self._manifest.check_files(folder, digests=True)

    def __len__(self) -> int:
        return self.documents

    @overload
    def __getitem__(self, index: int) -> Ids: ...
    @overload
    def __getitem__(self, index: slice) -> list[Ids]: ...
    def __getitem__(self, index: int | slice) -> Ids | list[Ids]:
        """The ids of a document, or of several."""
        numbers = range(self.documents)[index]
        if isinstance(numbers, range):
            return [self[number] for number in numbers]
        ends = self._all_ends()
        shard = bisect_right(ends, numbers)
        ids, bounds = self._bounded(shard)
        inside = numbers - (ends[shard - 1] if shard else 0)
        return ids[bounds[inside] : bounds[inside + 1]]

    def __iter__(self) -> Iterator[Ids]:
        for number in range(len(self._stored)):
            ids, bounds = self._bounded(number)
            for at in range(0, len(bounds) - 1, BLOCK):
                for start, stop in itertools.pairwise(bounds[at : at + BLOCK + 1].tolist()):
                    yield ids[start:stop]

    def __repr__(self) -> str:
        documents = "" if None in self._documents else f"{self.documents:,} documents, "
        tokens = "" if None in self._tokens else f"{self.tokens:,} tokens, "
        several = f"{len(self._stored):,} shard{'s' * (len(self._stored) != 1)}"
        return (
            f"<digram.TokenFiles: {documents}{tokens}format={self.format!r}, "
            f"dtype={self.dtype.name}, {several}>"
        )

    def _load(self, shard: int) -> _Loaded:
        kept = self._kept
        for one in kept:
            if one.number == shard:
                if one is not kept[0]:
                    self._kept = (one, *(other for other in kept if other is not one))
                return one
        if not self._format.maps:
            self._kept = kept = ()  # so that no two shards are held at once
        stored, known = self._stored[shard], self._tokens[shard]
        try:
            found = _Loaded(shard, *stored.load())
        except OSError as error:
            if error.errno == errno.EMFILE:
                error.add_note(_COPY)
            raise
        if known is not None and known != len(found.ids):
            source = "when it was opened" if self._manifest is None else "by its manifest"
            raise CorruptFileError(
                f"it holds {len(found.ids):,} ids, and {known:,} {source}.", path=stored.path
            )
        self._kept = (found, *kept[: KEPT - 1]) if self._format.maps else (found,)
        return found

    def _bounded(self, shard: int) -> tuple[Ids, Bounds]:
        """The ids of a shard, with the bounds of its documents."""
        _, ids, bounds = self._load(shard)
        bounds = self._found[shard] if bounds is None else bounds
        if bounds is None:
            bounds = self._found[shard] = self._find(shard, ids)
        return ids, bounds

    def _find(self, shard: int, ids: Ids) -> Bounds:
        """The bounds of documents that the token after each of them tells."""
        end, path = self._end, self._stored[shard].path
        if end is None:
            raise OptionError(
                f"files of format={self.format!r} do not say where documents end.",
                path=path,
                hint="Pass the id of the token that ends them, as end_of_text=; `ids` has "
                "all of them as they are.",
            )
        found = [np.zeros(1, np.int64)]
        for at in range(0, len(ids), STRETCH):
            found.append(np.flatnonzero(ids[at : at + STRETCH] == end) + (at + 1))
        bounds = np.concatenate(found)
        if bounds[-1] != len(ids):
            bounds = np.append(bounds, len(ids))
        expected = self._documents[shard]
        if expected is not None and expected != len(bounds) - 1:
            raise OptionError(
                f"its documents cannot be separated: the manifest counts {expected:,}, but the end "
                f"id {end} divides the ids into {len(bounds) - 1:,}. Some texts contain that id.",
                path=path,
                hint=f"`ids` has all of them as they are, and end_of_text={end} cuts at each. To "
                "have documents, write them in a format that stores where they end, as megatron.",
            )
        return bounds

    def _all_ends(self) -> list[int]:
        """How many documents there are up to the end of each shard."""
        if self._ends is None:
            for number, known in enumerate(self._documents):
                if known is None:
                    self._documents[number] = len(self._bounded(number)[1]) - 1
            self._ends = list(itertools.accumulate(n or 0 for n in self._documents)) or [0]
        return self._ends


def _known(what: str, stored: Stored, shard: Any) -> int | None:
    """A number that a file, its manifest, both or neither tell."""
    in_file: int | None = getattr(stored, what)
    in_manifest: int | None = None if shard is None else getattr(shard, what)
    if in_file is not None and in_manifest is not None and in_file != in_manifest:
        raise CorruptFileError(
            f"it holds {in_file:,} {what} where its manifest says {in_manifest:,}.",
            path=stored.path,
        )
    return in_manifest if in_file is None else in_file
