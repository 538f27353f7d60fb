"""Tokenizers by name: published encodings, models, repositories of Hugging Face, and your own.

`find` turns a name into a path on this machine. `own_folder.py`, `tiktoken_cache.py` and
`hub_cache.py` know where files are kept; `download.py` is the only module that uses the network,
and only on request; `_missing.py` says what to do about a name that is not found.
"""

from digram.names.finding import Found, describes_itself, find, find_encoding

__all__ = ["Found", "describes_itself", "find", "find_encoding"]
