"""Tables with a column of texts: Parquet and Arrow files, and tables in memory."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from digram import _core
from digram._util.validation import word
from digram.corpus import arrow_checks
from digram.corpus.reader import OnError, Pass, Reading, Records, check_on_error
from digram.corpus.separators import check_own_separator, cut_texts, separator_bytes
from digram.corpus.text import AsFile, kind_name
from digram.errors import CorruptFileError, DigramError, OptionError, show

__all__ = ["Table", "arrow_texts", "column_path", "is_table", "parquet_texts", "table"]

_AT_ONCE = 1 << 20  # bytes of texts to convert to Python objects at a time
_DECODED = 1 << 22  # approximate bytes of a column to decode at a time
_FIRST_ROWS = 16  # of a Parquet file; the later number depends on the size of the rows so far
_ROWS = 1 << 16  # of a dictionary column: the dictionary is copied each time, its texts are not
_MOST_ROWS = 256
"""The maximum number of rows to decode at a time, however short the previous ones were: a long text
occurs once in a dictionary, and nothing says how many rows use it. 1,024 are no faster, 64 are
slower."""
_FLATTEN = "Lists in tables are not supported: flatten them, or write the rows as lines of JSON."
_MAGIC = b"ARROW1\0\0"  # of Arrow's file format; the content of its stream format follows
_TAIL = 10  # bytes after the footer: its length, and the magic without zeros


@dataclass(frozen=True, slots=True)
class Table:
    """A column of a table in memory as a corpus; returned by `digram.table`.

    >>> import digram, pyarrow
    >>> list(digram.table(pyarrow.table({"text": ["low", "lower"]})))
    [b'low', b'lower']

    Iterating returns a `digram.Reading` over the texts, as bytes, each split at the `separator`
    (bytes) if there is one. `digram.table` has the arguments and errors.
    """

    data: Any
    column: tuple[str, ...] = ("text",)
    on_error: OnError = "raise"
    separator: bytes | None = None

    def __post_init__(self) -> None:
        column_path(self.column, "column")
        check_on_error(self.on_error)
        check_own_separator(self.separator)

    def __iter__(self) -> Reading[bytes]:
        seen = Pass()
        return Reading(self.texts(seen), seen)

    def __repr__(self) -> str:
        cut = "" if self.separator is None else f", separator={self.separator!r}"
        skip = "" if self.on_error == "raise" else f", on_error={self.on_error!r}"
        kind = type(self.data)
        return (
            f"<digram.Table: column {'.'.join(self.column)!r} of a "
            f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}{cut}{skip}>"
        )

    def texts(self, seen: Pass) -> Iterator[bytes]:
        """The texts; `seen` records the faults, and the row of the last text."""
        records = Records(None, self.on_error, seen)
        numbered = itertools.count(1)
        found = (
            text
            for rows in _rows(self.data, self.column)
            for text in _texts(rows, self.column, records, numbered)
        )
        return cut_texts(seen.numbered(_advised(found)), self.separator)


def _advised(texts: Iterator[bytes]) -> Iterator[bytes]:
    """The same texts; an error for a column of lists gets a hint."""
    try:
        yield from texts
    except OptionError as error:
        if "List(" in error.message and error.hint is None:
            error.hint = _FLATTEN
        raise


def table(
    data: Any,
    column: str | Iterable[str] = "text",
    *,
    separator: str | bytes | None = None,
    on_error: OnError = "raise",
) -> Table:
    """Use a column of a table as a corpus: of pyarrow, polars, duckdb, datasets or another library.

    >>> import digram, pyarrow
    >>> rows = pyarrow.table({"id": [1, 2], "text": ["low lower", "lowest"]})
    >>> list(digram.table(rows))
    [b'low lower', b'lowest']
    >>> digram.train(digram.table(rows, "text"), max_merges=2).training.documents
    2

    `data` is any object with `__arrow_c_stream__` or `__arrow_c_array__`; no other library is
    needed. Data sets of `datasets` have neither and are read too, in order, 256 rows at a time. The
    column contains strings or bytes, of any of Arrow's types for these, or a dictionary of them;
    "meta.text" is a field of a struct, and so is ["meta", "text"], for names that contain a dot. If
    the data is one column without a name, such as a series of polars, the name is ignored.
    `separator` splits each text into documents; empty ones are dropped.

    A row that is null, or a string that is not UTF-8, is an error; `on_error="skip"` skips and
    counts it (`Reading.skipped`). A column is checked in full before it is read, since the offsets
    of damaged data may point anywhere in memory. Only pyarrow knows the length of its buffers; for
    other libraries, the last offset is trusted. Data that can be read only once, such as a reader
    of record batches, is used up by one pass. Raises TypeError for data that is not a table (for
    files see `digram.files`), and, when it is read, `OptionError` for a column that is missing,
    contains no texts or is inconsistent. Memory: about a megabyte in addition to the table.
    """
    if isinstance(data, str | bytes | os.PathLike):
        raise TypeError(
            f"a table must be an object with __arrow_c_stream__, not {kind_name(data)}; for a file "
            "pass digram.files(path)."
        )
    return Table(data, column_path(column, "column"), on_error, separator_bytes(separator))


def is_table(data: object) -> bool:
    """Whether a value is a table that `table` reads."""
    speaks = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
    return speaks or _is_data_set(data)


def _is_data_set(data: object) -> bool:
    """Whether a value is a data set of Hugging Face's `datasets`, or several of them."""
    rooms = {kind.__module__.partition(".")[0] for kind in type(data).__mro__}
    return "datasets" in rooms and hasattr(data, "with_format")


def _rows(data: Any, column: tuple[str, ...]) -> Iterator[Any]:
    """Objects with the Arrow protocol, in order: the data itself, or tables of its rows."""
    if not _is_data_set(data):
        yield data
        return
    if isinstance(data, Mapping):
        names = ", ".join(map(repr, data))
        raise TypeError(
            f"data {kind_name(data)} contains several tables; pass one of them: {names}."
        )
    if data.features is not None:  # unknown for some streamed data sets
        yield data.features.arrow_schema.empty_table()  # raises for a column without texts
        data = data.select_columns([column[0]])
    yield from data.with_format("arrow").iter(_MOST_ROWS)


def column_path(name: str | Iterable[str], argument: str) -> tuple[str, ...]:
    """The parts of a name: those between dots, or those of a list."""
    parts = name.split(".") if isinstance(name, str) else name
    parts = tuple(parts) if isinstance(parts, Iterable) else (parts,)
    if not all(isinstance(part, str) for part in parts):
        raise TypeError(f"{argument} must be a name or a list of names, not {show(name)}.")
    for part in parts:
        word(argument, part)
    if not all(parts) or not parts:
        raise OptionError(f"{argument}={show(name)} is not a name.", value=name)
    return parts


def _texts(
    data: Any, column: tuple[str, ...], records: Records, numbered: Iterator[int]
) -> Iterator[bytes]:
    """The texts of a column of a table in memory."""
    name = _named(column, records)
    if not arrow_checks.is_pyarrow(data):
        yield from _column(_core.ArrowTexts(data, list(column)), name, records, numbered)
        return
    import pyarrow

    try:
        empty, pieces = arrow_checks.pieces(data, column[:1])
        _core.ArrowTexts(empty, list(column))  # raises for a column without texts
        for rows in pieces:
            yield from _sound(rows, column, records, numbered)
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:  # of a reader, or of a name
        raise arrow_checks.refused(error) from None


def _sound(
    rows: Any, column: tuple[str, ...], records: Records, numbered: Iterator[int]
) -> Iterator[bytes]:
    """The texts in pyarrow's rows, all of which are checked before the first is yielded."""
    name = _named(column, records)
    try:
        array = arrow_checks.leaf(rows, column)
        try:
            array.validate(full=True)
        except arrow_checks.invalid():
            array, is_utf8 = arrow_checks.as_bytes(array), False  # or it is invalid in another way
        else:
            is_utf8 = True
    except arrow_checks.invalid() as error:
        raise _damaged(name, next(numbered), records, error) from None
    if is_utf8:
        yield from _column(_core.ArrowTexts(array, []), name, records, numbered)
        return
    for start in range(0, len(array), _MOST_ROWS):
        for text, number in zip(array.slice(start, _MOST_ROWS).to_pylist(), numbered, strict=False):
            if text is None:
                records.fault(number, None, f"the column {name} is null.")
                continue
            try:
                text.decode()
            except UnicodeDecodeError as error:
                offset = f"byte {error.start} of its text"
                records.fault(number, None, f"the column {name} is not UTF-8 at {offset}.")
            else:
                yield text


def _column(
    reader: _core.ArrowTexts, name: str, records: Records, numbered: Iterator[int]
) -> Iterator[bytes]:
    """The texts of a column; a null is a fault."""
    while (texts := reader.next(_AT_ONCE)) is not None:
        for text, number in zip(texts, numbered, strict=False):
            if text is None:
                records.fault(number, None, f"the column {name} is null.")
            else:
                yield text


def _named(column: tuple[str, ...], records: Records) -> str:
    """The name of a column in messages."""
    return f'"{".".join(column)}"' + (" of the table" if records.path is None else "")


def _damaged(name: str, number: int, records: Records, error: Exception) -> DigramError:
    """The error for damaged rows, from a row number on."""
    message = (
        f"the column {name} is damaged in row {number:,} or later: {arrow_checks.reason(error)}."
    )
    if records.path is None:
        return OptionError(message, hint="Read the data again, with a program that checks it.")
    return CorruptFileError(message, path=records.path, hint="Copy the file again.")


# --- files


def parquet_texts(
    file: BinaryIO,
    blocks: Iterable[bytes] | None,
    path: str | os.PathLike[str],
    column: tuple[str, ...],
    records: Records,
) -> Iterator[bytes]:
    """The texts in a Parquet file. `blocks` are its bytes if it is packed.

    Parquet is read from its end. So a packed or piped file is first copied to an unnamed file in
    the folder for temporary files.
    """
    pyarrow = _pyarrow("Parquet", path)
    from pyarrow import parquet

    seen, before = records.seen, records.seen.done
    if blocks is None and not file.seekable():
        blocks = seen.read(file, _AT_ONCE)
    with _readable(path), _seekable(file, blocks) as stream:
        size = stream.seek(0, os.SEEK_END)
        found = parquet.ParquetFile(
            stream, pre_buffer=False, buffer_size=1 << 20, page_checksum_verification=True
        )
        about = found.metadata
        _check_columns(found.schema_arrow, column, path)
        numbered = itertools.count(1)
        name = ".".join(column)
        grows = not _is_dictionary(pyarrow, found.schema_arrow, column)
        rows, done = (_FIRST_ROWS if grows else _ROWS), 0
        for batch in found.iter_batches(rows, columns=[name], use_threads=False):
            yield from _sound(batch, column, records, numbered)
            done += batch.num_rows
            if grows:
                rows = _next_rows(rows, batch.nbytes / max(1, batch.num_rows))
                found.reader.set_batch_size(rows)
            if blocks is None:  # only a part of the file is read, so rows measure the progress
                seen.done = before + size * done // max(1, about.num_rows)
        if done != about.num_rows:
            raise CorruptFileError(
                f"the file declares {about.num_rows:,} rows and contains {done:,}.", path=path
            )
    if blocks is None:
        seen.done = before + size


def _is_dictionary(pyarrow: Any, schema: Any, column: tuple[str, ...]) -> bool:
    """Whether a column exists and stores each text once."""
    kind = schema.field(column[0]).type
    for name in column[1:]:
        kind = kind.field(name).type
    return bool(pyarrow.types.is_dictionary(kind))


def _next_rows(rows: int, of_a_row: float) -> int:
    """The number of rows to decode next, from the number and the bytes of the previous rows.

    The sizes that a file declares are not used: they count a text of a dictionary, or one equal to
    the previous one, once for all its rows.
    """
    return max(1, min(2 * rows, _MOST_ROWS, int(_DECODED / max(1, of_a_row))))


def arrow_texts(
    blocks: Iterable[bytes],
    path: str | os.PathLike[str],
    column: tuple[str, ...],
    records: Records,
) -> Iterator[bytes]:
    """The texts in an Arrow file: in the file format (also feather), or in the stream format."""
    _pyarrow("Arrow", path)
    from pyarrow import ipc

    with _readable(path):
        stream = AsFile(blocks)
        start = stream.read(len(_MAGIC))
        # A file in the stream format begins with its first message.
        is_file = start == _MAGIC
        stream = stream if is_file else AsFile(itertools.chain([start], stream.rest()))
        reader = ipc.open_stream(stream)
        _check_columns(reader.schema, column, path)
        numbered = itertools.count(1)
        for batch in reader:
            yield from _sound(batch, column, records, numbered)
        _check_end(stream, path, footer=is_file)


def _check_end(stream: AsFile, path: str | os.PathLike[str], *, footer: bool) -> None:
    """Raise an error if something other than the footer follows the last batch of a file.

    A message whose length was lost looks like the end of the stream, and rows would be missing.
    """
    size, end = 0, b""
    while block := stream.read(_AT_ONCE):
        size += len(block)
        end = (end + block)[-_TAIL:]
    reason = None
    if footer and (len(end) < _TAIL or not end.endswith(_MAGIC.rstrip(b"\0"))):
        reason = "the file ends before its footer."
    elif size != (int.from_bytes(end[:4], "little") + _TAIL if footer else 0):
        reason = f"the batches end {size:,} bytes before the file does, where no footer begins."
    if reason is not None:
        raise CorruptFileError(reason, path=path, hint="Copy the file again.")


@contextlib.contextmanager
def _seekable(file: BinaryIO, blocks: Iterable[bytes] | None) -> Iterator[BinaryIO]:
    """A seekable file: the open one, or a copy of the blocks."""
    if blocks is None:
        yield file
        return
    with tempfile.TemporaryFile(prefix="digram-unpacked-") as unpacked:
        for block in blocks:
            unpacked.write(block)
        yield unpacked


@contextlib.contextmanager
def _readable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Convert pyarrow's errors about a file to errors of digram."""
    try:
        yield
    except arrow_checks.invalid() as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise CorruptFileError(
            f"pyarrow cannot read it: {arrow_checks.reason(error)}.",
            path=path,
            hint="Copy the file again.",
        ) from None


def _check_columns(schema: Any, column: tuple[str, ...], path: str | os.PathLike[str]) -> None:
    """Raise an error if the column is missing or contains no texts, before any row is read."""
    try:
        _core.ArrowTexts(schema.empty_table(), list(column))
    except OptionError as error:
        error.path = os.fspath(path)
        remedy = "Pass a column of strings or bytes as field=."
        if "List(" in error.message:
            remedy = _FLATTEN
        error.hint = f"{error.hint or ''} {remedy}".lstrip()
        raise


def _pyarrow(what: str, path: str | os.PathLike[str]) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise OptionError(
            f"{what} files need pyarrow, which is not installed.",
            path=path,
            hint='Install it in the folder of digram\'s clone: pip install ".[arrow]".',
        ) from None
    return pyarrow
