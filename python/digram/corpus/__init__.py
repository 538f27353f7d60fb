"""What comes in: texts, files that hold texts, and tables that do.

`documents`, `parts` and `in_batches` are the one place that turns whatever is a source into texts:
`train`, `count_pretokens`, `plan` and the command line all read through them. A `str` or `bytes` is
always a text, never the name of a file.

source     from any source to texts: whole, in parts, in batches
disk       `Files`: which files, and how each is read
paths      names: paths, folders and patterns
kinds      what kind of file one is
texts      what a text is, whole, in parts or not read yet
cut        separators
packed     .gz, .zst, .bz2 and .xz, unpacked block by block
marks      byte order marks: UTF-16 and UTF-32
records    lines and lists of JSON, rows of CSV
tables     Parquet and Arrow files, and tables in memory
sound      what pyarrow holds, looked at before it is used
reading    one pass over a source: how far it is, and what was skipped
ahead      a thread that reads ahead
"""

from __future__ import annotations

from digram.corpus.file_source import Files, Stream, Streams, files, open_text
from digram.corpus.file_types import Kind, check_format, kind_of
from digram.corpus.reader import OnError, Pass, Reading
from digram.corpus.separators import BLOCK, read
from digram.corpus.source import (
    Source,
    batches,
    documents,
    file_stamps,
    in_batches,
    parts,
    separator_of,
    settled,
    total_bytes,
)
from digram.corpus.tables import Table, table
from digram.corpus.text import AsFile, Further, Text, Unread

__all__ = [
    "BLOCK",
    "AsFile",
    "Files",
    "Further",
    "Kind",
    "OnError",
    "Pass",
    "Reading",
    "Source",
    "Stream",
    "Streams",
    "Table",
    "Text",
    "Unread",
    "batches",
    "check_format",
    "documents",
    "file_stamps",
    "files",
    "in_batches",
    "kind_of",
    "open_text",
    "parts",
    "read",
    "separator_of",
    "settled",
    "table",
    "total_bytes",
]
