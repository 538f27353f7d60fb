"""BLAKE3 of the core is that of its authors' own package, however the data come."""

from __future__ import annotations

import random

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_bytes, cases, texts

import digram
from digram._core import Blake3


def by_definition(documents: list[str | bytes]) -> str:
    """Each document followed by its length in eight bytes."""
    found = blake3()
    for document in documents:
        data = document.encode() if isinstance(document, str) else document
        found.update(data + len(data).to_bytes(8, "little"))
    return str(found.hexdigest())


@cases(300)
@given(st.lists(any_bytes, max_size=6), st.lists(texts | any_bytes, max_size=6))
def test_pieces_and_documents(pieces: list[bytes], documents: list[str | bytes]) -> None:
    found = Blake3()
    for piece in pieces:
        found.update(memoryview(piece))
    assert found.hexdigest() == blake3(b"".join(pieces)).hexdigest()
    found = Blake3()
    found.update_documents(documents[:2])
    found.update_documents(documents[2:])
    assert found.hexdigest() == by_definition(documents)


def test_documents_longer_than_what_is_hashed_at_once() -> None:
    draw = random.Random(3)
    sizes = [*(draw.randrange(1 << draw.randrange(1, 20)) for _ in range(60)), 1 << 17, 131_071]
    documents: list[str | bytes] = [draw.randbytes(size) for size in sizes]
    found = Blake3()
    found.update_documents(documents)
    assert found.hexdigest() == by_definition(documents)


def test_what_is_no_text() -> None:
    with pytest.raises(TypeError, match=r"texts\[1\]"):
        Blake3().update_documents(["a", 7])  # type: ignore[list-item]
    with pytest.raises(digram.InvalidTextError, match=r"texts\[0\]"):
        Blake3().update_documents(["\ud800"])
    with pytest.raises(BufferError):
        Blake3().update(memoryview(b"abcd")[::2])
