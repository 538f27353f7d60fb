"""Separators: documents are cut the same whatever the borders of blocks."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digram.corpus import BLOCK, Unread, separators


def check_long(blocks: list[bytes], separator: bytes, expected: list[bytes]) -> None:
    """Documents that are too long to be held come unread, and say the same."""
    for long in (0, 1, 4):
        passed = list(
            separators.cut_blocks(blocks, separator, long=long)
        )  # those that nobody reads too
        assert len(passed) == len(expected)
        assert all(
            isinstance(one, Unread) or one == text
            for one, text in zip(passed, expected, strict=True)
        )
        again = separators.cut_blocks(blocks, separator, long=long)
        assert [t.whole() if isinstance(t, Unread) else t for t in again] == expected


@given(
    pieces=st.lists(st.sampled_from([b"a", b"-", b"--", b"ab", b"-a-"]), max_size=12),
    separator=st.sampled_from([b"-", b"--", b"a-", b"---", b"aba"]),
    block=st.integers(1, 9),
)
def test_cutting_in_blocks_equals_cutting_the_whole(
    pieces: list[bytes], separator: bytes, block: int
) -> None:
    data = b"".join(pieces)
    blocks = [data[i : i + block] for i in range(0, len(data), block)]
    expected = [document for document in data.split(separator) if document]
    assert list(separators.cut_blocks(blocks, separator)) == expected
    check_long(blocks, separator, expected)


@pytest.mark.parametrize("separator", [b"<|sep|>", b"-", b"--", b"<"])
def test_cutting_is_right_at_every_cut(separator: bytes) -> None:
    data = b"one" + separator + b"<|se" + separator * 2 + b"--three<|sep|" + separator + b"four"
    expected = [document for document in data.split(separator) if document]
    for first in range(len(data) + 1):
        for second in range(first, len(data) + 1):
            blocks = [data[:first], data[first:second], data[second:]]
            assert list(separators.cut_blocks(blocks, separator)) == expected
    check_long(blocks, separator, expected)


@pytest.mark.alone
def test_a_long_document_takes_linear_time() -> None:
    import time

    def seconds(size: int) -> float:
        stream = io.BytesIO(b"x" * size)
        blocks = iter(lambda: stream.read(BLOCK), b"")
        # Of the processor, so that other work on the machine plays no part.
        started = time.process_time()
        document = next(separators.cut_blocks(blocks, b"-" * 50))
        assert isinstance(document, Unread)
        assert len(document.whole()) == size
        return time.process_time() - started

    # 16 when linear, 256 when quadratic, at any size: one quiet moment is proof enough.
    ratios = []
    for _ in range(6):
        small = seconds(8 << 20)
        ratios.append(seconds(128 << 20) / small)
        if ratios[-1] < 64:
            break
    print("\n128 MiB took", [f"{ratio:.2f}" for ratio in ratios], "times what 8 MiB took")
    assert min(ratios) < 64
