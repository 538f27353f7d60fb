"""From a corpus to training files, and back: `digram.encode_files` and `digram.read_tokens`.

encoding   the run: read, encode, write, each while the others do; going on with one
options    what a run is asked for
pieces     what a corpus is made of: files, tables, streams, iterators
inputs     their documents in batches, with the place of each, and from any place on
borders    where a long document may be cut
tally      how far a run is in its inputs, with a digest
pipeline   a thread that writes behind
shards     where shards end
long       the ids of a long document, until all are there
manifest   what a folder says of itself
reading    the way back
"""

from __future__ import annotations

from digram.shards.encoding import encode_files
from digram.shards.reading import TokenFiles, read_tokens

__all__ = ["TokenFiles", "encode_files", "read_tokens"]
