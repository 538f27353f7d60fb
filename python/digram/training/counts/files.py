"""Save counts to files, and load them.

The default is Arrow's file format, which the core writes and reads without other packages. Its
footer has the SHA-256 of the file before it, so that damaged data is never decoded. Parquet is
smaller and needs pyarrow; its metadata have a digest of the content.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any

from digram import _core
from digram._util.storage import LARGEST, atomic_write, read_file
from digram._util.validation import path_name
from digram.corpus import arrow_checks
from digram.errors import CorruptFileError, DigramError, OptionError
from digram.training.counts.settings import COLUMNS, CountsMetadata, from_json

if TYPE_CHECKING:
    from digram.training.counts.value import Counts

__all__ = ["from_bytes", "holds_counts", "load", "pyarrow", "save", "to_bytes"]

_ARROW, _PARQUET = b"ARROW1\0\0", b"PAR1"
# Bytes near the ends of files of counts that other files do not have.
_MARKS = {_ARROW[:4]: b"digram.sha256", _PARQUET: b'"fingerprint"'}
_DIGEST = b"digram.sha256"
_COPY = "Copy the file again, or count again."


def save(counts: Counts, path: str | PathLike[str]) -> None:
    """Write a file in the format of its name; see `Counts.save`."""
    if os.path.splitext(path_name(path))[1].lower() == ".parquet":
        atomic_write(path, _to_parquet(counts))
    else:
        atomic_write(path, to_bytes(counts))


def load(path: str | PathLike[str]) -> tuple[_core.Counts, CountsMetadata]:
    """Load a file in the format of its first bytes; see `Counts.load`."""
    _check_ends(path_name(path))
    data = read_file(path, None)
    try:
        return _from_parquet(data) if data.startswith(_PARQUET) else from_bytes(data)
    except DigramError as error:
        error.path = path_name(path)
        raise


def _check_ends(path: str) -> None:
    """Check the ends of a large file before reading all of it into memory."""
    if not os.path.exists(path) or os.path.getsize(path) <= LARGEST:
        return  # `read_file` says what is missing
    with open(path, "rb") as file:
        first = file.read(len(_ARROW))
        file.seek(-len(_ARROW), os.SEEK_END)
        last = file.read()
    end = _ARROW.rstrip(b"\0") if first == _ARROW else _PARQUET
    if not first.startswith(end) or not last.endswith(end):
        raise CorruptFileError(
            "this is not a file of counts, or its end is missing.", path=path, offset=0, hint=_COPY
        )


def holds_counts(path: str | PathLike[str]) -> bool:
    """Whether a file looks like saved counts, by its first and last bytes."""
    with open(path, "rb") as file:
        mark = _MARKS.get(file.read(4))
        if mark is None:
            return False
        file.seek(max(0, file.seek(0, os.SEEK_END) - (1 << 16)))
        return mark in file.read()


def to_bytes(counts: Counts) -> Iterator[bytes]:
    """The bytes of the file, a batch of rows at a time."""
    import hashlib

    writer = _core.CountsWriter(counts._held, counts._metadata())
    digest = hashlib.sha256()
    while (part := writer.next()) is not None:
        digest.update(part)
        yield part
    yield writer.footer(digest.hexdigest())


def from_bytes(data: bytes) -> tuple[_core.Counts, CountsMetadata]:
    """The counts in the bytes of a file."""
    import hashlib

    if not data.startswith(_ARROW):
        empty = "the file is empty." if not data else "this is not a file of counts."
        raise CorruptFileError(empty, offset=0, hint=_COPY)
    reader = _core.CountsReader(data)
    if hashlib.sha256(memoryview(data)[: reader.digested]).hexdigest() != reader.digest:
        raise CorruptFileError(
            f"bytes 0 to {reader.digested} do not match the digest in the footer.",
            value=reader.digest,
            hint=_COPY,
        )
    metadata = from_json(reader.metadata())
    return _checked(reader.counts(metadata.documents, metadata.end), metadata)


def _checked(counts: _core.Counts, metadata: CountsMetadata) -> tuple[_core.Counts, CountsMetadata]:
    """Raises `CorruptFileError` if the rows do not add up to the stated totals."""
    for name in ("bytes", "pretokens", "end"):
        found, stated = getattr(counts, name), getattr(metadata, name)
        if found != stated:
            raise CorruptFileError(
                f"the rows add up to {name}={found}, but the file says {stated}.", hint=_COPY
            )
    return counts, metadata


def _to_parquet(counts: Counts) -> bytes:
    parquet = pyarrow("Parquet")
    sink = parquet.BufferOutputStream()
    table = parquet.table(counts)
    line = table.schema.metadata[b"digram"]
    digest = _digest(counts._held, line).encode()
    parquet.parquet.write_table(
        table.replace_schema_metadata({b"digram": line, _DIGEST: digest}),
        sink,
        compression="zstd",
        use_dictionary=False,  # pieces are distinct
        write_page_checksum=True,
    )
    return bytes(sink.getvalue())


def _from_parquet(data: bytes) -> tuple[_core.Counts, CountsMetadata]:
    reader = pyarrow("Parquet")
    try:
        table = reader.parquet.read_table(
            reader.BufferReader(data), page_checksum_verification=True
        )
    except (reader.ArrowException, OSError, ValueError) as error:
        raise CorruptFileError(f"pyarrow cannot read it: {error}", hint=_COPY) from None
    line = (table.schema.metadata or {}).get(b"digram")
    if line is None:
        raise CorruptFileError(
            "the file does not store its pretokenizer.",
            hint="Read it with pyarrow, and pass the table to digram.Counts.from_arrow.",
        )
    metadata = from_json(line.decode("utf-8", "replace"))
    try:
        counts, _ = _core.Counts.from_arrow(arrow_checks.whole(table, COLUMNS))
    except ValueError as error:  # an OptionError, or what pyarrow raises
        raise CorruptFileError(str(error), hint=_COPY) from None
    counts = counts.of_corpus(metadata.documents, metadata.end)
    # Older files have no digest.
    if table.schema.metadata.get(_DIGEST, digest := _digest(counts, line).encode()) != digest:
        raise CorruptFileError("the counts do not match the digest in the file.", hint=_COPY)
    return _checked(counts, metadata)


def _digest(counts: _core.Counts, line: bytes) -> str:
    """The digest of the rows and metadata, since checksums of pages do not cover the whole file."""
    import hashlib

    return hashlib.sha256(line + b"\n" + counts.digest().encode()).hexdigest()


def pyarrow(purpose: str) -> Any:
    """Import pyarrow with Parquet; raises `OptionError` if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise OptionError(
            f"{purpose} needs pyarrow, which is not installed.",
            hint='Install it in the folder of digram\'s clone: pip install ".[arrow]". Files in '
            "Arrow's own format, with any name but *.parquet, do not need it.",
        ) from None
    return pyarrow
