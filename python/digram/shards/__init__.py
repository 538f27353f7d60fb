"""Encode a corpus into training files, and read them: `digram.encode_files`, `digram.read_tokens`.

encoding   the run: read, encode and write concurrently; resume a run
options    the options of a run
chats      chats as documents
parts      documents in parts
pieces     the parts of a corpus: files, tables, streams, iterators
inputs     documents in batches, with their places, from any place on
borders    where a long document may be divided
tally      the progress of a run in its inputs, with a digest
pipeline   a thread that writes
shards     dividing documents into shards
long       the ids of a long document, until it is complete
manifest   the manifest of a folder
reading    reading training files
"""

from __future__ import annotations

from digram.shards.encoding import encode_files
from digram.shards.reading import TokenFiles, read_tokens

__all__ = ["TokenFiles", "encode_files", "read_tokens"]
