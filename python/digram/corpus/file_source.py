"""Files as a corpus: which files, of what kind, and how each is read."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from digram._util.validation import path_name
from digram.corpus import tables
from digram.corpus.byte_order_marks import as_utf8, may_have_mark
from digram.corpus.compression import PACKED, unpacked
from digram.corpus.file_types import Kind, check_format, files_with, kind_of
from digram.corpus.jsonl import (
    Item,
    csv_rows,
    flat,
    json_lines,
    json_values,
    line_of,
    place_of,
)
from digram.corpus.paths import each_once, matches
from digram.corpus.reader import OnError, Pass, Reading, Records, check_on_error
from digram.corpus.separators import (
    BLOCK,
    check_own_separator,
    cut_blocks,
    cut_texts,
    separator_bytes,
    start_of,
)
from digram.corpus.text import AsFile, Unread, kind_name
from digram.errors import CorruptFileError, OptionError

__all__ = [
    "PART",
    "Files",
    "Stream",
    "Streams",
    "changed",
    "files",
    "open_text",
]

PART = 1 << 20  # bytes to read at a time of a file that is one document
_DELIMITERS: dict[str, bytes] = {"csv": b",", "tsv": b"\t"}


@dataclass(frozen=True, slots=True)
class Files:
    """Files as a corpus; returned by `digram.files`, iterated as documents.

    >>> import digram, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("one"), (folder / "b.txt").write_text("two")
    >>> corpus = digram.files(folder)
    >>> list(corpus), corpus.size, corpus.paths[0].name
    ([b'one', b'two'], 6, 'a.txt')

    `paths` are in the order in which they are read. With a `separator` (bytes) each text is split
    into documents; without one, a text file is one document, and so is a record of other files.
    `field` is the path of the field or column that contains the text; `format` and `on_error` are
    those of `files`. Iterating returns a `digram.Reading`, which counts the skipped records, and
    raises `CorruptFileError` for damaged files and, by default, for records without text.
    """

    paths: tuple[Path, ...]
    separator: bytes | None = None
    field: tuple[str, ...] = ("text",)
    format: str | None = None
    on_error: OnError = "raise"
    folders: tuple[Path, ...] = dataclasses.field(default=(), compare=False, repr=False)
    """The folders that were listed; a file that is added to one later belongs to the corpus."""

    def __post_init__(self) -> None:
        if not isinstance(self.paths, tuple) or not all(isinstance(p, Path) for p in self.paths):
            raise TypeError("paths must be a tuple of Paths; use digram.files(...)")
        for path in self.paths:
            path_name(path)
        check_own_separator(self.separator)
        tables.column_path(self.field, "field")
        if self.format is not None:
            check_format(self.format)
        check_on_error(self.on_error)

    def __iter__(self) -> Reading[bytes]:
        seen = Pass()
        found = (text.whole() if isinstance(text, Unread) else text for text in self.texts(seen))
        return Reading(found, seen)

    def __repr__(self) -> str:
        shown = ", ".join(repr(str(path)) for path in self.paths[:2])
        more = f", … {len(self.paths):,} in all" if len(self.paths) > 2 else ""
        options = {
            "separator": self.separator,
            "field": ".".join(self.field) if self.field != ("text",) else None,
            "format": self.format,
            "on_error": self.on_error if self.on_error != "raise" else None,
        }
        rest = "".join(
            f", {name}={value!r}" for name, value in options.items() if value is not None
        )
        return f"<digram.Files: {shown}{more}{rest}>"

    @property
    def size(self) -> int:
        """The current size of all files on disk, in bytes; raises `OSError` if one is missing."""
        return sum(path.stat().st_size for path in self.paths)

    def kind(self, path: Path) -> Kind:
        """Return the kind of one of the files: its form, and how it is compressed."""
        return kind_of(path, self.format)

    def texts(self, seen: Pass, max_bytes: int | None = None) -> Iterator[bytes | Unread]:
        """The texts; a text file that is one document, or a long document, is yielded unread.

        `seen` records the progress of the pass. Raises for a line of JSON of more than `max_bytes`.
        """
        for path in self.paths:
            yield from self.texts_of(path, seen, max_bytes)

    def texts_of(
        self, path: Path, seen: Pass, max_bytes: int | None = None
    ) -> Iterator[bytes | Unread]:
        """The texts of one of the files; `seen.record` is the record of the last one.

        Raises `CorruptFileError` if the file changed while it was read. A pipe may change: it is
        read as it is written.
        """
        with path.open("rb") as file:
            before = os.fstat(file.fileno())
            yield from self._stream(file, path).texts(seen, max_bytes)
            after = os.fstat(file.fileno())
        if seen.ended or not stat.S_ISREG(before.st_mode):
            return
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise changed(path, before.st_size, after.st_size)

    def start_of(self, path: Path, record: int) -> int | None:
        """The offset in the unpacked text at which a record starts; None if it is unknown.

        Reads the file up to there.
        """
        with path.open("rb") as file:
            return self._stream(file, path).start_of(record)

    def _stream(self, file: BinaryIO, path: Path) -> Stream:
        return Stream(
            file, path, self.kind(path), self.field, self.on_error, separator=self.separator
        )


@dataclass(frozen=True, slots=True)
class Stream:
    """An open file, or stdin."""

    file: BinaryIO
    name: str | os.PathLike[str]
    kind: Kind
    field: tuple[str, ...] = ("text",)
    on_error: OnError = "raise"
    separator: bytes | None = None

    def texts(self, seen: Pass, max_bytes: int | None = None) -> Iterator[bytes | Unread]:
        """As the method of `Files`."""
        form = self.kind.form
        if form == "text":
            if self.separator is None:
                yield Unread(self.written(seen, PART), os.fspath(self.name))
            else:
                blocks, name = self.written(seen, BLOCK), os.fspath(self.name)
                yield from seen.numbered(cut_blocks(blocks, self.separator, name))
            return
        records = Records(self.name, self.on_error, seen)
        found: Iterator[Item]
        as_text = files_with('format="text"')
        remedy = f", or {as_text} to read the file as one text"
        if form == "jsonl":
            found = json_lines(self.written(seen, PART), self.field, records, max_bytes)
        elif form == "json":
            records = replace(records, remedy=remedy)
            found = json_values(self.written(seen, PART), self.field, records, max_bytes)
        elif form in _DELIMITERS:
            records = replace(records, remedy=remedy)
            cells = self.written(seen, PART)
            found = csv_rows(cells, _DELIMITERS[form], self.field, records, max_bytes)
        elif form == "arrow":
            found = tables.arrow_texts(self.blocks(seen, PART), self.name, self.field, records)
        else:
            packed = None if self.kind.packing is None else self.blocks(seen, PART)
            found = tables.parquet_texts(self.file, packed, self.name, self.field, records)
        yield from cut_texts(flat(seen.numbered(found)), self.separator)

    def start_of(self, record: int) -> int | None:
        """As the method of `Files`."""
        seen, form = Pass(), self.kind.form
        if form == "jsonl":
            records = Records(self.name, self.on_error, seen)
            return line_of(record, self.written(seen, PART), records)
        if form == "json" or form in _DELIMITERS:
            return place_of(record, self.written(seen, PART), _DELIMITERS.get(form))
        if form == "text" and self.separator is not None:
            return start_of(record, self.written(seen, BLOCK), self.separator)
        return None

    def opened(self, as_is: bool = False) -> io.BufferedReader:
        """The text of the file, as a file object; with `as_is` the unpacked bytes."""
        plain = self.kind.packing is None and isinstance(self.file, io.BufferedReader)
        if plain and (as_is or not may_have_mark(cast("Any", self.file).peek(4)[:4])):
            return cast("io.BufferedReader", self.file)
        blocks = self.blocks if as_is else self.written
        return io.BufferedReader(AsFile(blocks(Pass(), PART)))

    def written(self, seen: Pass, size: int) -> Iterator[bytes]:
        """The text of the file in blocks, converted to UTF-8 by its byte order mark."""
        return as_utf8(self.blocks(seen, size), self.name)

    def blocks(self, seen: Pass, size: int) -> Iterator[bytes]:
        """The unpacked content of the file, in blocks of a maximum number of bytes."""
        if self.kind.packing is None:
            return seen.read(self.file, size)
        return unpacked(seen.read(self.file, PACKED), self.kind.packing, self.name, size)


@dataclass(frozen=True, slots=True)
class Streams:
    """Files and streams in sequence, as on a command line, each with its separator."""

    sources: tuple[Files | Stream, ...]

    def texts(self, seen: Pass, max_bytes: int | None = None) -> Iterator[bytes | Unread]:
        """As the method of `Files`."""
        for source in self.sources:
            yield from source.texts(seen, max_bytes)


def files(
    pattern: str | os.PathLike[str],
    *more: str | os.PathLike[str],
    separator: str | bytes | None = None,
    field: str | Iterable[str] = "text",
    format: str | None = None,
    on_error: OnError = "raise",
) -> Files:
    r"""The regular files of a path, a folder or a glob pattern, sorted.

    >>> import digram, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("b.txt", "a.txt", "deep/c.txt", ".hidden"):
    ...     path = folder / name
    ...     path.parent.mkdir(exist_ok=True)
    ...     _ = path.write_text(f"one in {name}\n\ntwo in {name}")
    >>> [path.name for path in digram.files(folder).paths]
    ['a.txt', 'b.txt', 'c.txt']
    >>> list(digram.files(folder / "*.txt", separator="\n\n"))
    [b'one in a.txt', b'two in a.txt', b'one in b.txt', b'two in b.txt']
    >>> lines = '{"meta": {"text": "one"}}\n{"meta": {"text": "two"}}\n'
    >>> _ = (folder / "d.jsonl").write_text(lines)
    >>> list(digram.files(folder / "d.jsonl", field="meta.text"))
    [b'one', b'two']

    A folder stands for all files below it. In a pattern, `*`, `?` and `[...]` match within a name,
    and `**` matches any number of folders. As in a shell, names that start with a dot are left out
    unless the pattern contains the dot. Links to files are followed, links to folders are not
    followed below `**` or a folder, and a dangling link is an error. The exact name of an existing
    file or folder is not interpreted as a pattern. Several patterns are read in their order. Each
    file is read once, under the first of its names.

    The name of a file determines its format: `.jsonl` and `.ndjson` are lines of JSON, `.json` is
    one record or a list of records, `.csv` and `.tsv` are tables with a header, `.parquet` is
    Parquet, `.arrow`, `.feather` and `.ipc` are Arrow files (Parquet and Arrow need pyarrow), and
    all others are text. Files whose names also end in `.gz`, `.zst` (or `.zstd`), `.bz2` or `.xz`
    are decompressed while they are read. `format` overrides the names of all files: "text",
    "jsonl", "json", "csv", "tsv", "parquet", "arrow", or one of them with a compression, such as
    "jsonl.zst". Content that begins with a byte order mark of UTF-16 or UTF-32 is converted to
    UTF-8.

    `field` is the field or column that contains the text in JSON and in tables: "text", or
    "meta.text" for a nested one, or a list of names if a name contains a dot. JSON lists are
    flattened: for "messages.content" each text is a document. A line that is not JSON, and a field
    or row that is missing, null or not a string, is a `CorruptFileError` with file, record and
    byte; `on_error="skip"` skips and counts such records (`Reading.skipped`), and strings of a
    table that are not UTF-8. A damaged file is always an error.

    `separator` splits each text into documents; empty ones are dropped. Raises FileNotFoundError if
    a pattern matches nothing, OSError for a path that is not a regular file or not accessible, and
    `OptionError` for an archive (.zip, .tar) and for other compression (.lz4, .br). Only names are
    examined here: nothing is read before you iterate. Memory: a text file that is one document is
    held as a whole; for other files a few megabytes, the longest record, and a batch of an Arrow
    file.
    """
    for one in (pattern, *more):
        if not isinstance(one, str | bytes | os.PathLike):
            raise TypeError(
                "digram.files takes paths one by one, as in digram.files('a.txt', 'b.txt') or "
                f"digram.files(*paths); each is a str or a Path, not {kind_name(one)}."
            )
    found = each_once(path for one in (pattern, *more) for path in matches(path_name(one)))
    for path in found:
        kind_of(path, format)
    return Files(
        tuple(found),
        separator_bytes(separator),
        tables.column_path(field, "field"),
        format,
        on_error,
        tuple(filter(None, map(_looked_through, (pattern, *more)))),
    )


def _looked_through(pattern: str | os.PathLike[str]) -> Path | None:
    """The folder below which a pattern matches all files; None if it selects some of them."""
    path = Path(pattern)
    if path.is_dir():
        return path
    if path.exists() or "**" not in path.parts:
        return None
    return Path(*path.parts[: path.parts.index("**")])


@contextlib.contextmanager
def open_text(path: Path, format: str | None = None, as_is: bool = False) -> Iterator[BinaryIO]:
    """Open a text file for reading from beginning to end, unpacked if it is compressed.

    With `as_is` a byte order mark is not interpreted, since the file does not contain text. Raises
    `OptionError` for a file of records.
    """
    kind = kind_of(path, format)
    if kind.form != "text":
        raise OptionError(
            f"{path.suffix} files contain records, and a text file is needed here.",
            path=path,
            value=path.suffix,
            hint="Save the texts of the records as a text file first; the content of stdin is "
            "used unchanged.",
        )
    with path.open("rb") as file:
        yield Stream(file, path, kind).opened(as_is)


def changed(path: Path, before: int, after: int) -> CorruptFileError:
    """The error for a file that changed while it was read, with both sizes."""
    return CorruptFileError(
        f"the file changed while it was read: it had {before:,} bytes, and has {after:,}.",
        path=path,
        hint="Call again when no program writes to it anymore.",
    )
