"""Tokens of characters in GGUF, with tokens for the bytes of unknown characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from digram.errors import VocabError

__all__ = ["BYTE_NAMES", "SYMBOL", "byte_ids_of", "in_bytes"]

SYMBOL = "▁"
"""What stands for a space in tokens."""
BYTE_NAMES = [f"<0x{byte:02X}>" for byte in range(256)]
"""The names of the tokens for bytes."""


def byte_ids_of(ids: Mapping[str, int], path: str | None) -> list[int]:
    """The ids of the tokens for bytes. Raises `VocabError` if one is missing."""
    missing = [name for name in BYTE_NAMES if name not in ids]
    if missing:
        raise VocabError(
            f"{len(missing)} of the tokens for bytes are missing, such as {missing[0]}.",
            path=path,
            value=missing[0],
            hint="llama.cpp cannot encode characters that have no token with this vocabulary.",
        )
    return [ids[name] for name in BYTE_NAMES]


def in_bytes(ordinary: Mapping[str, int], byte_ids: Sequence[int]) -> list[bytes | None]:
    """The bytes of each token by id, with spaces in place of the symbol."""
    tokens: list[bytes | None] = [None] * (max(*ordinary.values(), *byte_ids) + 1)
    for name, token_id in ordinary.items():
        tokens[token_id] = name.replace(SYMBOL, " ").encode()
    for byte, token_id in enumerate(byte_ids):
        tokens[token_id] = bytes([byte])
    return tokens
