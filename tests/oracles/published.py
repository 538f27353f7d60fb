"""The encodings that tiktoken publishes, built without its downloads."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import tiktoken
import tiktoken_ext.openai_public

ENCODINGS = ("r50k_base", "cl100k_base", "o200k_base")


def encoding(name: str, file: Callable[[str], Path]) -> tiktoken.Encoding:
    """An encoding as tiktoken builds it, its ranks read from our file where it would download them.

    Pattern and special tokens are those of the installed tiktoken, since its own constructor runs.
    """

    def load(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        lines = file(f"vocabs/{url.rpartition('/')[2]}").read_bytes().splitlines()
        return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}

    with mock.patch.object(tiktoken_ext.openai_public, "load_tiktoken_bpe", load):
        return tiktoken.Encoding(**tiktoken_ext.openai_public.ENCODING_CONSTRUCTORS[name]())
