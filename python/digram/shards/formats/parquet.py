"""Parquet: one row per document, with its ids in the column `input_ids`."""

from __future__ import annotations

from pathlib import Path

from digram.shards.formats import _columns
from digram.shards.formats._format import About, Bounds, Format, Ids, Open, Stored

__all__ = ["FORMAT"]


def _begin(open: Open, about: About) -> _columns.GroupWriter:
    groups = _columns.Grouped(about)
    file = _columns.pyarrow().parquet.ParquetWriter(
        _columns.Sink(open(".parquet")),
        groups.schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=False,  # ids are already indices into a vocabulary
        write_statistics=False,
        write_page_checksum=True,
        store_schema=True,
    )
    return _columns.GroupWriter(groups, file)


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
    begin=_begin,
    read=_read,
    recognizes=lambda path: path.suffix == ".parquet",
    max_tokens=(1 << 31) - 1,
    maps=False,
    has_mask=True,
    needs=_columns.pyarrow,
)
