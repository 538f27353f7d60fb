"""Character classes are those of Unicode 16, whatever the parser of patterns brings along."""

from __future__ import annotations

import hashlib

import pytest

from digram.pretokenizers import NAMED, Pretokenizer

DIGESTS = {
    "gpt2": "5969c3a1a1950df3",
    "cl100k": "0388f060ef4ed271",
    "o200k": "dcd3c4723e272182",
    "llama3": "0388f060ef4ed271",
    "qwen2": "3fc46e26c6aa5186",
    "deepseek-v3": "aafba60beae8c90d",
    "whitespace": "2bec1ba89897352b",
}
"""Of where each pattern cuts, taken when the tables were still those of regex-syntax 0.8.11."""


def around_every_character() -> str:
    """Each character beside letters, a space, a digit and the end of a line."""
    characters = (chr(code) for code in range(0x11_0000) if not 0xD800 <= code < 0xE000)
    return "".join(f"a{c}b {c}1{c}\n" for c in characters)


@pytest.fixture(scope="module")
def text() -> str:
    return around_every_character()


@pytest.mark.parametrize("name", NAMED)
def test_named_patterns_cut_every_character_as_ever(name: str, text: str) -> None:
    found = hashlib.blake2b(digest_size=8)
    for start in range(0, len(text), 1 << 20):
        pieces = Pretokenizer(name).splitter().split(text[start : start + (1 << 20)])
        found.update("\0\0".join(pieces).encode())
    assert found.hexdigest() == DIGESTS[name]
