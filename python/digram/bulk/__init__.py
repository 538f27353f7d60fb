"""From a source to training files, and back: `tok.encode_files` and `digram.read_tokens`."""

from __future__ import annotations

from digram.bulk.encoding import encode_files
from digram.bulk.reading import TokenFiles, read_tokens

__all__ = ["TokenFiles", "encode_files", "read_tokens"]
