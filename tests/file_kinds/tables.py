"""Columns of texts in files of Arrow and Parquet."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from pyarrow import feather, ipc

from file_kinds.kind import Kind
from file_kinds.sources import ROWS, source_of


def says_of_columns(opened: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """What pyarrow reads, after it looked at all of it."""

    def says(folder: Path) -> Any:
        texts: list[str] = []
        skipped = 0
        for batch in opened(folder):
            array = batch.column(batch.schema.names.index("text"))
            if pyarrow.types.is_dictionary(array.type):
                array.dictionary.view(pyarrow.binary()).validate(full=True)
                array.indices.validate(full=True)
                rows: list[Any] = [
                    None if key is None else array.dictionary.view(pyarrow.binary())[key].as_py()
                    for key in array.indices.to_pylist()
                ]
            else:
                plain = {
                    pyarrow.string(): pyarrow.binary(),
                    pyarrow.large_string(): pyarrow.large_binary(),
                    pyarrow.string_view(): pyarrow.binary_view(),
                }
                is_text = array.type in plain
                array = array.view(plain[array.type]) if is_text else array
                array.validate(full=True)
                rows = array.to_pylist()
            for row in rows:
                try:
                    texts.append(row.decode().encode().hex())
                except (AttributeError, UnicodeDecodeError):  # null, or not UTF-8
                    skipped += 1
        return [texts, skipped]

    return says


def as_stream(name: str) -> Callable[[Path], Any]:
    def opened(folder: Path) -> Any:
        data = (folder / name).read_bytes()
        return ipc.open_stream(pyarrow.py_buffer(data[8:] if data[:6] == b"ARROW1" else data))

    return opened


def as_parquet(name: str) -> Callable[[Path], Any]:
    def opened(folder: Path) -> Any:
        file = pyarrow.parquet.ParquetFile(folder / name, page_checksum_verification=True)
        return file.read(["text"], use_threads=False).to_batches()

    return opened


def tables() -> Iterable[Kind]:
    of = {
        "string": pyarrow.string(),
        "string_view": pyarrow.string_view(),
        "dictionary": pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
    }
    for title, kind in of.items():
        column = pyarrow.array(ROWS, pyarrow.string()).cast(kind)
        other = pyarrow.array([["x" * n, None] for n in range(len(ROWS))])
        table = pyarrow.table({"other": other, "text": column})
        for name, data in columns(table).items():
            says = as_parquet(name) if name.endswith(".parquet") else as_stream(name)
            yield Kind(
                f"{name} of {title}", {name: data}, source_of(name), says=says_of_columns(says)
            )


def columns(table: Any) -> dict[str, bytes]:
    """A table in the files that hold one."""
    found = {}
    for name, new in (("a.arrow", ipc.new_file), ("a.ipc", ipc.new_stream)):
        sink = io.BytesIO()
        with new(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=10)
        found[name] = sink.getvalue()
    for compression in ("zstd", "lz4"):
        sink = io.BytesIO()
        feather.write_feather(table, sink, compression=compression)
        found[f"{compression}.feather"] = sink.getvalue()
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink, write_page_checksum=True, row_group_size=10)
    found["a.parquet"] = sink.getvalue()
    return found
