"""The way back: token files of any of the formats, as documents in memory-mapped arrays."""

from __future__ import annotations

import errno
import itertools
import os
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any, overload

import numpy as np

from digram.bulk.manifest import Manifest
from digram.errors import CorruptFileError, OptionError
from digram.sinks import FORMATS, Bounds, Format, Ids, Stored, named

__all__ = ["TokenFiles", "read_tokens"]


class TokenFiles:
    """The documents of token files, made by `read_tokens` and `Tokenizer.encode_files`.

    A sequence of arrays of ids, one a document, in the order of the files. Most formats are memory
    maps: nothing is read before it is looked at. Parquet files are read one at a time.
    """

    def __init__(
        self, stored: list[Stored], format: Format, end: int | None, manifest: Manifest | None
    ) -> None:
        self._stored, self._format, self._end = stored, format, end
        self._manifest = manifest
        self._kept: tuple[int, Ids, Bounds | None] | None = None
        self._firsts: list[int] | None = None
        told = itertools.repeat(None) if manifest is None else manifest.shards
        pairs = list(zip(stored, told, strict=False))
        self._documents = [_known("documents", *both) for both in pairs]
        self._tokens = [_known("tokens", *both) for both in pairs]

    @property
    def format(self) -> str:
        """The name of their format."""
        return self._format.name

    @property
    def paths(self) -> tuple[Path, ...]:
        """The file of each shard that holds the ids, in order."""
        return tuple(one.path for one in self._stored)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of ids."""
        return self._stored[0].dtype if self._stored else np.dtype(np.uint16)

    @property
    def tokens(self) -> int:
        """How many ids there are."""
        for number, known in enumerate(self._tokens):
            if known is None:
                self._tokens[number] = len(self._load(number)[0])
        return sum(known or 0 for known in self._tokens)

    @property
    def documents(self) -> int:
        """How many documents there are, which is also their `len`."""
        return self._ends()[-1]

    @property
    def ids(self) -> Ids:
        """The ids of all documents, one after the other: mapped for one shard, copied for several.

        `shard(n)` has those of one of them.
        """
        if len(self._stored) == 1:
            return self._load(0)[0]
        return np.concatenate(
            [np.zeros(0, self.dtype), *(self.shard(n) for n in range(len(self._stored)))]
        )

    def shard(self, number: int) -> Ids:
        """The ids of a shard."""
        return self._load(range(len(self._stored))[number])[0]

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
        shard = bisect_right(self._ends(), numbers)
        ids, bounds = self._bounded(shard)
        inside = numbers - (self._ends()[shard - 1] if shard else 0)
        return ids[bounds[inside] : bounds[inside + 1]]

    def __iter__(self) -> Iterator[Ids]:
        for number in range(len(self._stored)):
            ids, bounds = self._bounded(number)
            for start, stop in itertools.pairwise(bounds.tolist()):
                yield ids[start:stop]

    def __repr__(self) -> str:
        documents = "" if None in self._documents else f"{self.documents:,} documents, "
        tokens = "" if None in self._tokens else f"{self.tokens:,} tokens, "
        several = f"{len(self._stored):,} shard{'s' * (len(self._stored) != 1)}"
        return (
            f"<digram.TokenFiles: {documents}{tokens}format={self.format!r}, "
            f"dtype={self.dtype.name}, {several}>"
        )

    def _load(self, shard: int) -> tuple[Ids, Bounds | None]:
        if self._kept is None or self._kept[0] != shard:
            self._kept = None  # so that no two shards are held at once
            stored = self._stored[shard]
            self._kept = (shard, *stored.load())
            tokens = self._tokens[shard]
            if tokens is not None and tokens != len(self._kept[1]):
                raise CorruptFileError(
                    f"it holds {len(self._kept[1]):,} ids where its manifest says {tokens:,}.",
                    path=stored.path,
                )
        return self._kept[1:]

    def _bounded(self, shard: int) -> tuple[Ids, Bounds]:
        """The ids of a shard, with the bounds of its documents."""
        ids, bounds = self._load(shard)
        if bounds is None:
            if self._end is None:
                raise OptionError(
                    f"files of format={self.format!r} do not say where documents end.",
                    path=self._stored[shard].path,
                    hint="Pass the id of the token that ends them, as end_of_text=; `ids` has "
                    "all of them as they are.",
                )
            ends = np.flatnonzero(ids == self._end) + 1
            if len(ids) and (not len(ends) or ends[-1] != len(ids)):
                ends = np.append(ends, len(ids))
            bounds = np.concatenate([np.zeros(1, np.int64), ends])
            self._kept = (shard, ids, bounds)
        return ids, bounds

    def _ends(self) -> list[int]:
        """How many documents there are up to the end of each shard."""
        if self._firsts is None:
            for number, known in enumerate(self._documents):
                if known is None:
                    self._documents[number] = len(self._bounded(number)[1]) - 1
            self._firsts = list(itertools.accumulate(n or 0 for n in self._documents)) or [0]
        return self._firsts


def read_tokens(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    end_of_text: int | None = None,
) -> TokenFiles:
    """The documents of a token file, or of a folder of them.

    >>> import digram
    >>> tok = digram.train("low lower", max_merges=2, special_tokens=["<|endoftext|>"])
    >>> folder = getfixture("tmp_path") / "out"
    >>> _ = tok.encode_files(["low", "lower"], folder, format="megatron")
    >>> found = digram.read_tokens(folder)
    >>> found
    <digram.TokenFiles: 2 documents, 6 tokens, format='megatron', dtype=uint16, 1 shard>
    >>> found[0].tolist(), [tok.decode(ids) for ids in found]
    ([257, 258], ['low<|endoftext|>', 'lower<|endoftext|>'])

    A folder of `encode_files` says by its manifest what it holds. Of others the format is told by
    suffixes and first bytes, where these tell it; files without either need `format`. nanoGPT,
    llm.c and NumPy files do not say where documents end: `end_of_text` is the id that ends them,
    by default that of the manifest.

    Raises FileNotFoundError for what is not there, `OptionError` where the format cannot be known,
    `CorruptFileError` for a damaged file, and for a run that is not done. Memory: 8 bytes a
    document.
    """
    given = Path(path)
    if not given.exists():
        raise FileNotFoundError(errno.ENOENT, "there is no such file or folder", os.fspath(path))
    manifest = _manifest_of(given, format)
    if manifest is not None:
        told = named(str(manifest.options.get("format")))
        if format is not None and format != told.name:
            raise OptionError(
                f"format={format!r}, and the manifest of these files says {told.name!r}.",
                path=given,
                value=format,
                hint="Leave out format=.",
            )
        end = (manifest.options.get("end_of_text") or {}).get("id")
        return _of_manifest(given, manifest, told, end if end_of_text is None else end_of_text)
    chosen = None if format is None else named(format)
    paths = [given] if given.is_file() else _shards(given, chosen)
    chosen = chosen or _told(paths)
    chosen.needs()
    return TokenFiles([chosen.read(one) for one in paths], chosen, end_of_text, None)


def _of_manifest(given: Path, manifest: Manifest, format: Format, end: int | None) -> TokenFiles:
    folder = given if given.is_dir() else given.parent
    shards = manifest.shards
    if given.is_dir():
        if not manifest.done:
            raise CorruptFileError(
                f"the run that writes here is not done: {len(shards):,} shards are.",
                path=given,
                hint="Go on with it, with resume=True; or read its files one by one.",
            )
        manifest.check_files(folder, digests=False)
    else:
        shards = [one for one in shards if given.name in {file.name for file in one.files}]
        manifest = Manifest(
            manifest.digram, manifest.tokenizer, manifest.options, manifest.inputs, shards
        )
    format.needs()
    names = [next(f.name for f in one.files if f.name.endswith(format.suffix)) for one in shards]
    return TokenFiles([format.read(folder / name) for name in names], format, end, manifest)


def _manifest_of(given: Path, format: str | None) -> Manifest | None:
    """The manifest of a folder, or the one beside a file, if it speaks of that.

    One that cannot be read may be of another program, and is left alone where it is not needed.
    """
    try:
        found = Manifest.load(given if given.is_dir() else given.parent)
    except CorruptFileError:
        if given.is_dir() and format is None:
            raise
        return None
    if found is None or given.is_dir():
        return found
    names = {file.name for shard in found.shards for file in shard.files}
    return found if given.name in names else None


def _shards(folder: Path, format: Format | None) -> list[Path]:
    """The files of a folder that hold ids, sorted by name."""
    suffixes = {one.suffix for one in ([format] if format else FORMATS.values())}
    found = sorted(path for path in folder.iterdir() if path.suffix in suffixes and path.is_file())
    if not found:
        raise FileNotFoundError(
            errno.ENOENT, f"there is no file of tokens ({', '.join(sorted(suffixes))})", str(folder)
        )
    return found


def _told(paths: list[Path]) -> Format:
    """The one format that all files certainly have."""
    formats = []
    for path in paths:
        known = [format for format in FORMATS.values() if format.recognizes(path)]
        if not known:
            raise OptionError(
                "nothing in this file or its name tells which format of tokens it has.",
                path=path,
                hint=f"Pass format=, one of {', '.join(FORMATS)}; bare ids of 16 bits are nanogpt.",
            )
        formats.append(known[0])
    if len({format.name for format in formats}) > 1:
        other = next(n for n, format in enumerate(formats) if format is not formats[0])
        raise OptionError(
            f"this file is of format {formats[other].name!r}, and {paths[0].name} of "
            f"{formats[0].name!r}.",
            path=paths[other],
            hint="Pass format= to read those of one format, or name a file.",
        )
    return formats[0]


def _known(what: str, stored: Stored, shard: Any) -> int | None:
    """A number that a file, its manifest, both or neither tell."""
    said: int | None = getattr(stored, what)
    told: int | None = None if shard is None else getattr(shard, what)
    if said is not None and told is not None and said != told:
        raise CorruptFileError(
            f"it holds {said:,} {what} where its manifest says {told:,}.", path=stored.path
        )
    return told if said is None else said
