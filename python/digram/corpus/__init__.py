"""Reading corpora: texts, files that hold texts, and tables.

`Corpus` is the only place that turns a corpus into texts: training, counting, analysis and the
command line all read through it. A `str` or `bytes` is always a text, never the name of a
file.

corpus            `Corpus`: from any corpus to texts, whole, in parts, or in batches
file_source       `Files`: which files, and how each is read
paths             paths, folders and glob patterns
file_types        the kind of a file
text              texts: whole, in parts, or unread
separators        splitting texts into documents
compression       unpacking .gz, .zst, .bz2 and .xz block by block
byte_order_marks  UTF-16 and UTF-32
jsonl             lines and lists of JSON, rows of CSV
tables            Parquet and Arrow files, and tables in memory
arrow_checks      checks of pyarrow's data before it is used
binary_files      which files do not look like text
reader            one pass over a corpus: its progress, and the skipped records
prefetch          a thread that reads ahead
"""

from __future__ import annotations

from digram.corpus.corpus import Corpus, CorpusLike, batches
from digram.corpus.file_source import Files, Stream, Streams, files, open_text
from digram.corpus.file_types import Kind, check_format, kind_of
from digram.corpus.reader import OnError, Pass, Reading
from digram.corpus.separators import BLOCK
from digram.corpus.tables import Table, table
from digram.corpus.text import AsFile, Further, Text, Unread

__all__ = [
    "BLOCK",
    "AsFile",
    "Corpus",
    "CorpusLike",
    "Files",
    "Further",
    "Kind",
    "OnError",
    "Pass",
    "Reading",
    "Stream",
    "Streams",
    "Table",
    "Text",
    "Unread",
    "batches",
    "check_format",
    "files",
    "kind_of",
    "open_text",
    "table",
]
