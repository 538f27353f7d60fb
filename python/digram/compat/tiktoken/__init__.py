"""The interface of OpenAI's tiktoken 0.14: `import digram.compat.tiktoken as tiktoken`.

The modules have the names of tiktoken's: `core`, `load`, `model` and `registry`. docs/tiktoken.md
lists each method and what differs.
"""

from __future__ import annotations

from digram.compat.tiktoken.core import Encoding
from digram.compat.tiktoken.errors import UnknownModelError, UnknownTokenError
from digram.compat.tiktoken.model import encoding_for_model, encoding_name_for_model
from digram.compat.tiktoken.registry import get_encoding, list_encoding_names

__all__ = [
    "Encoding",
    "UnknownModelError",
    "UnknownTokenError",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]
