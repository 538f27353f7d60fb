"""Parquet: one row per document, with its ids in the column `input_ids`."""

from __future__ import annotations

from pathlib import Path

from digram.shards.formats import _columns
from digram.shards.formats._format import About, Bounds, Documents, Format, Ids, Open, Stored

__all__ = ["FORMAT"]


class _Writer:
    def __init__(self, open: Open, about: About) -> None:
        arrow = _columns.pyarrow()
        self._groups = _columns.Grouped(about)
        self._file = arrow.parquet.ParquetWriter(
            _columns.Sink(open(".parquet")),
            self._groups.schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=False,  # ids are already indices into a vocabulary
            write_statistics=False,
            write_page_checksum=True,
            store_schema=True,
        )

    def write(self, documents: Documents) -> None:
        for group in self._groups.add(documents):
            self._file.write_batch(group)

    def finish(self) -> None:
        for group in self._groups.rest():
            self._file.write_batch(group)
        self._file.close()


def _read(path: Path) -> Stored:
    with _columns.read_by_pyarrow(path) as arrow, arrow.parquet.ParquetFile(path) as file:
        name, dtype = _columns.column(file.schema_arrow, path)
        rows = file.metadata.num_rows

    def load() -> tuple[Ids, Bounds]:
        with (
            _columns.read_by_pyarrow(path) as arrow,
            arrow.parquet.ParquetFile(path, page_checksum_verification=True) as file,
        ):
            return _columns.flat(path, file.read([name]).column(name).chunks, dtype)

    return Stored(path, dtype, None, rows, load)  # the number of ids is known only after loading


FORMAT = Format(
    name="parquet",
    suffix=".parquet",
    dtypes=_columns.DTYPES,
    begin=_Writer,
    read=_read,
    recognizes=lambda path: path.suffix == ".parquet",
    max_tokens=(1 << 31) - 1,
    maps=False,
    needs=_columns.pyarrow,
)
