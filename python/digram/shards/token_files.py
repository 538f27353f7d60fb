"""The documents of token files as a sequence of memory-mapped arrays."""

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

KEPT = 32  # shards that stay mapped; each needs an open file
BLOCK = 1 << 16  # documents whose bounds are converted to Python ints at a time
STRETCH = 1 << 22  # ids to search for ends at a time

_COPY = "Arrays keep their files open. Copy the ones that you keep: `ids.copy()`."


class _Loaded(NamedTuple):
    """A loaded shard: its ids, and the bounds of its documents if the format stores them."""

    number: int
    ids: Ids
    bounds: Bounds | None


class TokenFiles:
    """The documents of token files, made by `read_tokens` and `encode_files`.

    >>> import digram, pathlib, tempfile
    >>> tok = digram.train("low lower", max_merges=2)
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "out"
    >>> corpus = ["low", "so low"]
    >>> shards = digram.encode_files(tok, corpus, folder, format="megatron", end_of_text=None)
    >>> len(shards), shards[1].tolist(), [ids.tolist() for ids in shards[:1]]
    (2, [115, 111, 32, 257], [[257]])
    >>> shards.ids.tolist(), shards.tokens, shards.dtype.name
    ([257, 115, 111, 32, 257], 5, 'uint16')

    A sequence of arrays of ids, one per document, in the order of the files. Most formats are
    memory-mapped, so that data is read when it is used. Parquet and Arrow files are read one at a
    time.

    A limited number of shards stays mapped. An array keeps its file open: copy the arrays that you
    keep if they come from thousands of shards. The object is thread-safe. Memory: 8 bytes for each
    document of the used shards, and for Parquet and Arrow one shard.

    Access to documents raises `CorruptFileError` for a file that changed or is damaged, and
    `OptionError` if the format does not store the ends of documents and no `end_of_text` is known.
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
        """`cut`: the id `end` separates documents, whatever number the manifest has."""
        self._stored, self._format, self._end = stored, format, end
        self._manifest = manifest
        listed = [] if manifest is None else manifest.shards
        pairs = list(itertools.zip_longest(stored, listed))
        self._documents = [
            _known("documents", one, None if cut and one.documents is None else shard)
            for one, shard in pairs
        ]
        self._tokens = [_known("tokens", *pair) for pair in pairs]
        # Thread-safe without locks: tuples are replaced and never changed, and each place in a list
        # can only get one value.
        self._kept: tuple[_Loaded, ...] = ()
        self._found: list[Bounds | None] = [None] * len(stored)
        self._ends: list[int] | None = None

    @property
    def format(self) -> str:
        """The name of the format."""
        return self._format.name

    @property
    def tokenizer(self) -> str | None:
        """The `digest` of the tokenizer; None without a manifest."""
        return None if self._manifest is None else self._manifest.tokenizer

    @property
    def paths(self) -> tuple[Path, ...]:
        """The file with the ids of each shard, in order."""
        return tuple(one.path for one in self._stored)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of ids; if files differ, the smallest that fits all."""
        kinds = {one.dtype for one in self._stored} or {np.dtype(np.uint16)}
        return np.result_type(*kinds)

    @property
    def tokens(self) -> int:
        """The number of ids, including the ids that end documents."""
        for number, known in enumerate(self._tokens):
            if known is None:
                self._tokens[number] = len(self._load(number).ids)
        return sum(known or 0 for known in self._tokens)

    @property
    def documents(self) -> int:
        """The number of documents; the same as `len`."""
        return self._all_ends()[-1]

    @property
    def skipped(self) -> int:
        """The number of records skipped under `on_error="skip"`, from the manifest."""
        return 0 if self._manifest is None else self._manifest.skipped

    @property
    def ids(self) -> Ids:
        """The ids of all documents in order, as one array.

        It is memory-mapped for a single shard, and copied for several, in time and memory linear in
        the ids. `shard(n)` returns the ids of one shard.
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
        """Return the ids of one shard, as an array; -1 is the last shard.

        >>> import digram, pathlib, tempfile
        >>> tok = digram.train("a", max_merges=0, special_tokens=["</s>"])
        >>> folder = pathlib.Path(tempfile.mkdtemp()) / "out"
        >>> shards = digram.encode_files(tok, ["ab", "c"], folder, format="npy", shard_tokens=1)
        >>> [shards.shard(number).tolist() for number in (0, 1, -1)]
        [[97, 98, 256], [99, 256], [99, 256]]

        Raises `OptionError` for a shard that does not exist, and `CorruptFileError` for a damaged
        file.
        """
        number = any_number("number", number)
        if not -len(self._stored) <= number < len(self._stored):
            raise OptionError(
                f"number={show(number)} is not one of {several(len(self._stored), 'shard')}.",
                value=number,
            )
        return self._load(number % len(self._stored)).ids

    def verify(self) -> None:
        """Read all files, and compare them with the digests of their manifest.

        Raises `CorruptFileError` for the first file that differs, and `OptionError` if there is no
        manifest. Takes as long as reading the files.
        """
        if self._manifest is None:
            raise OptionError("the files cannot be verified without a manifest.")
        folder = self._stored[0].path.parent if self._stored else Path()
        self._manifest.check_files(folder, digests=True)

    def __len__(self) -> int:
        return self.documents

    @overload
    def __getitem__(self, index: int) -> Ids: ...
    @overload
    def __getitem__(self, index: slice) -> list[Ids]: ...
    def __getitem__(self, index: int | slice) -> Ids | list[Ids]:
        """Return the ids of a document, or a list of those of several."""
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
            self._kept = kept = ()  # keep only one shard in memory
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
                f"it has {len(found.ids):,} ids, but {known:,} {source}.", path=stored.path
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
        """The bounds of documents, found by the id at their ends."""
        end, path = self._end, self._stored[shard].path
        if end is None:
            raise OptionError(
                f"files of format={self.format!r} do not store the ends of documents.",
                path=path,
                hint="Pass the id that ends documents as end_of_text=, or use `ids` for all ids "
                "in order.",
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
                hint=f"Use `ids` for all ids in order, or end_of_text={end} to divide at each. To "
                "keep documents, use a format that stores their ends, such as megatron.",
            )
        return bounds

    def _all_ends(self) -> list[int]:
        """The number of documents up to the end of each shard."""
        if self._ends is None:
            for number, known in enumerate(self._documents):
                if known is None:
                    self._documents[number] = len(self._bounded(number)[1]) - 1
            self._ends = list(itertools.accumulate(n or 0 for n in self._documents)) or [0]
        return self._ends


def _known(what: str, stored: Stored, shard: Any) -> int | None:
    """A number from the file or the manifest; None if neither has it."""
    in_file: int | None = getattr(stored, what)
    in_manifest: int | None = None if shard is None else getattr(shard, what)
    if in_file is not None and in_manifest is not None and in_file != in_manifest:
        raise CorruptFileError(
            f"it has {in_file:,} {what}, but its manifest says {in_manifest:,}.",
            path=stored.path,
        )
    return in_manifest if in_file is None else in_file
