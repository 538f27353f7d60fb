"""Packed files: all members and frames, damage with its place, and bombs that cost time alone."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd
from children import read_in_a_child
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram.corpus.compression import unpacked
from digram.corpus.file_types import PACKINGS, Packing
from digram.errors import CorruptFileError, LimitExceededError

PACK: dict[Packing, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": lambda data: zstd.compress(data, options=CHECKED),
    "bz2": bz2.compress,
    "xz": lzma.compress,
}
CHECKED: dict[int, int] = {int(zstd.CompressionParameter.checksum_flag): 1}  # as `zstd` itself
TEXT = b"".join(b"%d, " % (n * n) for n in range(40_000))


def in_blocks(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@cases(100)
@given(
    packing=st.sampled_from(PACKINGS),
    members=st.lists(st.binary(max_size=40) | st.just(TEXT[:3000]), min_size=1, max_size=4),
    taken=st.integers(1, 70),
    first=st.integers(1, 70),
    size=st.integers(1, 100),
)
def test_all_members_are_read_at_every_border(
    packing: Packing, members: list[bytes], taken: int, first: int, size: int
) -> None:
    packed = b"".join(map(PACK[packing], members))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("digram.corpus.compression.FIRST", first)
        found = list(unpacked(in_blocks(packed, taken), packing, "a", size))
    assert b"".join(found) == b"".join(members)
    assert all(0 < len(block) <= size for block in found)


@pytest.mark.parametrize("packing", PACKINGS)
def test_files_of_several_members(tmp_path: Path, packing: Packing) -> None:
    path = tmp_path / f"a.txt.{packing}"
    path.write_bytes(PACK[packing](TEXT) + PACK[packing](b"") + PACK[packing](b"the end"))
    texts = iter(digram.files(path))
    assert list(texts) == [TEXT + b"the end"]
    assert texts.done == path.stat().st_size
    counts = digram.count_pretokens(path)
    assert counts == digram.count_pretokens([TEXT + b"the end"])


@pytest.mark.parametrize("packing", PACKINGS)
def test_many_small_members(packing: Packing) -> None:
    member = PACK[packing](b"a line\n")
    assert b"".join(unpacked([member * 3000], packing, "a", 1 << 20)) == b"a line\n" * 3000


def test_skippable_frames_and_padding() -> None:
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    packed = skippable + zstd.compress(b"one ") + skippable + zstd.compress(b"two")
    assert b"".join(unpacked([packed], "zst", "a", 100)) == b"one two"
    padded = gzip.compress(b"one ") + bytes(8) + gzip.compress(b"two") + bytes(700)
    assert b"".join(unpacked(in_blocks(padded, 7), "gz", "a", 100)) == b"one two"


@pytest.mark.parametrize("packing", PACKINGS)
def test_each_truncation_is_told(packing: Packing) -> None:
    packed = PACK[packing](b"one two three") * 2
    border = len(packed) // 2
    for end in range(len(packed)):
        if end == border:
            continue
        with pytest.raises(CorruptFileError, match="ends early") as caught:
            list(unpacked([packed[:end]], packing, "docs.txt", 100))
        assert (caught.value.path, caught.value.offset) == ("docs.txt", end)


def read(path: Path) -> tuple[list[bytes], CorruptFileError | None]:
    try:
        return list(digram.files(path)), None
    except CorruptFileError as error:
        return [], error


@pytest.mark.parametrize("packing", PACKINGS)
def test_damage_is_told(tmp_path: Path, packing: Packing) -> None:
    """No changed byte goes by, but for those of headers that carry nothing."""
    text = TEXT[:40_000]
    packed = PACK[packing](text)
    path = tmp_path / f"a.{packing}"
    told = 0
    for at in range(0, len(packed), max(1, len(packed) // 60)):
        path.write_bytes(packed[:at] + bytes([packed[at] ^ 0x55]) + packed[at + 1 :])
        found, error = read(path)
        if error is None:
            assert found == [text]
            continue
        assert error.path == str(path)
        assert error.offset is not None
        assert 0 <= error.offset <= len(packed)
        told += 1
    print(f"\n{packing}: {told} of some 60 changes told")
    assert told > 50
    path.write_bytes(packed + b"garbage that is longer than a header")
    with pytest.raises(CorruptFileError) as caught:
        list(digram.files(path))
    assert caught.value.offset == len(packed)
    path.write_bytes(b"")
    with pytest.raises(CorruptFileError, match="ends early, at byte 0"):
        list(digram.files(path))


def test_a_window_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """Such files are sound: said is what they ask for, and how to pack them again."""
    # A frame that declares a window of 2 GiB, and one raw block.
    (tmp_path / "a.zst").write_bytes(b"\x28\xb5\x2f\xfd\x00\xa8" + b"\x09\x00\x00" + b"x")
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}]
    (tmp_path / "a.xz").write_bytes(lzma.compress(b"x", filters=filters))
    for name, most, remedy in (("a.zst", 128, "zstd --long=27"), ("a.xz", 256, "xz -9")):
        with pytest.raises(LimitExceededError) as caught:
            list(digram.files(tmp_path / name))
        assert (caught.value.path, caught.value.offset) == (str(tmp_path / name), 0)
        assert f"needs more memory to unpack than the limit of {most} MiB." in str(caught.value)
        assert caught.value.hint is not None
        assert remedy in caught.value.hint


MEMBER = 1 << 24  # bytes that each member unpacks to


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("name", "members", "separator"),
    [
        ("lines.jsonl.gz", 64, None),
        ("text.txt.gz", 4, None),
        ("text.txt.zst", 4, None),
        ("text.txt.gz", 4, "a separator that never comes"),
    ],
)
def test_a_bomb_costs_time_and_no_memory(
    tmp_path: Path, name: str, members: int, separator: str | None
) -> None:
    """A file of some megabyte that is a gigabyte, or of less that is a sixteenth."""
    (tmp_path / "small.txt").write_bytes(TEXT)
    line = b"word " * 13_000 + b"\n"
    if name.startswith("lines"):
        line = b'{"text": "' + line[:-1] + b'"}\n'
    pack = PACK["gz" if name.endswith("gz") else "zst"]
    (tmp_path / name).write_bytes(pack(line * (MEMBER // len(line))) * members)
    size = (tmp_path / name).stat().st_size
    found = read_in_a_child(tmp_path / name, tmp_path / "small.txt", separator=separator)
    print(f"\n{name}: {size:,} bytes unpacked to {found.bytes:,}, and took {found.grown:,} kB")
    assert size < 2_000_000
    assert found.bytes > 0.98 * members * MEMBER
    assert found.grown < 40_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_line_without_an_end_is_held_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "small.txt").write_bytes(TEXT)
    start, more = (gzip.compress(part) for part in (b'{"text": "', b"word " * (MEMBER // 5)))
    (tmp_path / "line.jsonl.gz").write_bytes(start + more * 64)
    most = 8 << 20
    found = read_in_a_child(tmp_path / "line.jsonl.gz", tmp_path / "small.txt", most=most)
    print(f"\na line without an end took {found.grown:,} kB")
    assert found.error is not None
    assert found.error.startswith("OptionError: ")
    assert found.grown < 40_000
