"""What comes in: every accepted shape, every refused one, and cuts at every border of a block."""

from __future__ import annotations

import io
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digram import sources
from digram.errors import OptionError
from digram.sources import (
    Files,
    batches,
    documents,
    file_stamps,
    files,
    read,
    separator_of,
    settled,
    total_bytes,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.txt", "a.txt", "sub/c.txt", "sub/deep/d.txt", "sub/e.md", ".hidden/f.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    (tmp_path / ".g.txt").write_bytes(b"dot")
    return tmp_path


def names(found: Files, folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in found.paths]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", ["a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt", "sub/e.md"]),
        ("**", ["a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt", "sub/e.md"]),
        ("sub", ["sub/c.txt", "sub/deep/d.txt", "sub/e.md"]),
        ("*.txt", ["a.txt", "b.txt"]),
        ("**/*.txt", ["a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt"]),
        ("**/**/*.txt", ["a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt"]),
        ("sub/**", ["sub/c.txt", "sub/deep/d.txt", "sub/e.md"]),
        ("sub/*/*.txt", ["sub/deep/d.txt"]),
        ("**/deep/*", ["sub/deep/d.txt"]),
        ("*/c.txt", ["sub/c.txt"]),
        ("[ab].txt", ["a.txt", "b.txt"]),
        ("[!a].txt", ["b.txt"]),
        ("?.txt", ["a.txt", "b.txt"]),
        (".*.txt", [".g.txt"]),
        (".hidden/*", [".hidden/f.txt"]),
        ("a.txt", ["a.txt"]),
    ],
)
def test_patterns(folder: Path, pattern: str, expected: list[str]) -> None:
    assert names(files(folder / pattern), folder) == expected
    assert names(files(str(folder / pattern)), folder) == expected


def test_several_patterns_keep_their_order_and_read_each_file_once(folder: Path) -> None:
    found = files(folder / "sub", folder / "b.txt", folder / "**/*.txt")
    assert names(found, folder) == [
        "sub/c.txt",
        "sub/deep/d.txt",
        "sub/e.md",
        "b.txt",
        "a.txt",
    ]


def test_an_existing_name_is_not_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "[ab].txt").write_bytes(b"brackets")
    (tmp_path / "a.txt").write_bytes(b"a")
    assert list(files(tmp_path / "[ab].txt")) == [b"brackets"]


def test_links_to_files_are_followed_and_loops_are_not(folder: Path) -> None:
    (folder / "sub" / "loop").symlink_to(folder)
    (folder / "sub" / "loop2").symlink_to(folder)
    (folder / "link.txt").symlink_to(folder / "a.txt")
    (folder / "broken.txt").symlink_to(folder / "nowhere")
    assert names(files(folder / "**/*.txt"), folder) == [
        "a.txt",
        "b.txt",
        "link.txt",
        "sub/c.txt",
        "sub/deep/d.txt",
    ]
    assert names(files(folder / "sub/loop/a.txt"), folder) == ["sub/loop/a.txt"]


@pytest.mark.parametrize("pattern", ["none.txt", "*.rst", "none/*.txt", "none/**", "a.txt/*"])
def test_no_match_is_an_error_that_names_the_pattern(folder: Path, pattern: str) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        files(folder / pattern)
    assert caught.value.filename == str(folder / pattern)
    assert caught.value.strerror


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file in this folder"):
        files(tmp_path)


def test_only_regular_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.bind(str(tmp_path / "s"))
        except OSError:
            pytest.skip("the temporary folder's name is too long for a socket")
        for odd in (tmp_path / "pipe.txt", tmp_path / "s", Path("/dev/null")):
            with pytest.raises(OSError, match="not a regular file"):
                files(odd)
        with pytest.raises(FileNotFoundError):
            files(tmp_path)
    (tmp_path / "a.txt").write_bytes(b"a")
    assert names(files(tmp_path / "*"), tmp_path) == ["a.txt"]


def test_a_folder_that_may_not_be_read_is_not_skipped(folder: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read every folder")
    (folder / "sub").chmod(0)
    try:
        with pytest.raises(PermissionError):
            files(folder)
    finally:
        (folder / "sub").chmod(0o755)


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".jsonl", ".parquet", ".arrow", ".JSONL"])
def test_bytes_that_are_not_text_are_refused_with_a_remedy(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "a.txt").write_bytes(b"a")
    path = tmp_path / f"b{suffix}"
    path.write_bytes(b"...")
    for refused in (lambda: files(tmp_path), lambda: documents(path), lambda: documents([path])):
        with pytest.raises(OptionError, match="are not read yet") as caught:
            refused()
        assert caught.value.path == str(path)
        assert caught.value.hint is not None
    assert list(files(tmp_path / "*.txt")) == [b"a"]


def test_files_are_a_frozen_value(folder: Path) -> None:
    found = files(folder / "*.txt", separator="\n")
    assert found == files(folder / "?.txt", separator=b"\n")
    assert hash(found) == hash(files(folder / "?.txt", separator=b"\n"))
    assert found.size == total_bytes(found) == 10
    assert list(found) == list(found) == [b"a.txt", b"b.txt"]
    with pytest.raises(AttributeError):
        found.separator = None  # type: ignore[misc]


def test_every_shape_of_source(folder: Path) -> None:
    a, b = folder / "a.txt", folder / "b.txt"
    both: list[str | bytes] = [b"a.txt", b"b.txt"]
    assert list(documents("text")) == ["text"]
    assert list(documents(b"text")) == [b"text"]
    assert list(documents("")) == [""]
    assert list(documents(a)) == [b"a.txt"]
    assert list(documents([b, a])) == [b"b.txt", b"a.txt"]
    assert list(documents(iter([a, b]))) == both
    assert list(documents(files(a, b))) == both
    mixed: list[str | bytes] = ["x", b"y", ""]
    assert list(documents(mixed)) == mixed
    assert list(documents(text for text in ("x", "y"))) == ["x", "y"]
    assert list(documents([])) == []
    assert list(documents(folder / "sub" / "deep")) == [b"sub/deep/d.txt"]


def test_an_iterator_is_read_as_it_is_asked_for() -> None:
    asked = 0

    def endless() -> Iterator[str]:
        nonlocal asked
        while True:
            asked += 1
            yield "text"

    stream = documents(endless())
    assert [next(stream), next(stream)] == ["text", "text"]
    assert asked == 2


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "a source is a text, a Path"),
        (7, "of type int"),
        ({"en": "text"}, "of type dict"),
        (["a", 7], r"source\[1\] is of type int, expected str or bytes"),
        (["a", Path("b")], r"source\[1\] is of type PosixPath, expected str or bytes"),
        ([Path(__file__), "b"], r"source\[1\] is of type str, expected a Path"),
        ([["a"]], r"source\[0\] is of type list"),
        (bytearray(b"abc"), r"source\[0\] is of type int"),
        ([None], r"source\[0\] is of type NoneType"),
    ],
)
def test_a_wrong_item_is_named_by_its_index(source: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        list(documents(source))


def test_missing_files_are_missed_before_the_first_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a")
    with pytest.raises(FileNotFoundError):
        documents([tmp_path / "a.txt", tmp_path / "b.txt"])


def test_separators(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\n\n\n\ntwo\n\n")
    assert list(documents(path, "\n\n")) == [b"one", b"two"]
    assert list(documents(files(path, separator=b"\n\n"))) == [b"one", b"two"]
    assert list(documents(files(path, separator=b"\n\n"), "\n\n")) == [b"one", b"two"]
    mixed: list[str | bytes] = ["a--b", b"c--", "--"]
    assert list(documents(mixed, "--")) == ["a", "b", b"c"]
    assert list(documents("añb", "ñ")) == ["a", "b"]
    assert list(documents(b"a\xff\xffb", b"\xff")) == [b"a", b"b"]
    with pytest.raises(OptionError, match="contradicts"):
        documents(files(path, separator="a"), "b")
    with pytest.raises(OptionError, match="cuts nowhere"):
        files(path, separator="")
    with pytest.raises(OptionError, match="lone surrogate"):
        documents("a", "\udc80")
    with pytest.raises(OptionError, match="is not UTF-8"):
        list(documents("a", b"\xff"))
    with pytest.raises(TypeError, match="separator is of type int"):
        documents("a", 7)  # type: ignore[arg-type]


def test_files_are_lossless(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf\x00\xff\r\n\r\xed\xa0\x80" + bytes(range(256))
    (tmp_path / "a").write_bytes(data)
    assert list(documents(tmp_path / "a")) == [data]


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
    assert list(sources._cut_blocks(blocks, separator)) == expected


@pytest.mark.parametrize("separator", [b"<|sep|>", b"-", b"--", b"<"])
def test_cutting_is_right_at_every_cut(separator: bytes) -> None:
    data = b"one" + separator + b"<|se" + separator * 2 + b"--three<|sep|" + separator + b"four"
    expected = [document for document in data.split(separator) if document]
    for first in range(len(data) + 1):
        for second in range(first, len(data) + 1):
            blocks = [data[:first], data[first:second], data[second:]]
            assert list(sources._cut_blocks(blocks, separator)) == expected


def test_memory_is_bounded_by_a_document_and_a_block(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "big.txt"
    with path.open("wb") as file:
        for _ in range(64):
            file.write(b"x" * (1 << 18) + b"\n\n")
    tracemalloc.start()
    try:
        sizes = [len(document) for document in documents(path, "\n\n")]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sizes == [1 << 18] * 64
    assert peak < 4 << 20


@pytest.mark.alone
def test_a_long_document_takes_linear_time() -> None:
    import time

    def seconds(size: int) -> float:
        stream = io.BytesIO(b"x" * size)
        # Of the processor, so that other work on the machine plays no part.
        started = time.process_time()
        assert sum(map(len, read(stream, "-" * 50))) == size
        return time.process_time() - started

    # 4 when linear, 16 when quadratic, at any size: one quiet moment is proof enough.
    ratios = []
    for _ in range(6):
        small = seconds(8 << 20)
        ratios.append(seconds(32 << 20) / small)
        if ratios[-1] < 8:
            break
    print("\n32 MiB took", [f"{ratio:.2f}" for ratio in ratios], "times what 8 MiB took")
    assert min(ratios) < 8


def test_batches() -> None:
    assert list(batches([])) == []
    assert list(batches(["a"] * 3, size=1)) == [["a"], ["a"], ["a"]]
    texts: list[str | bytes] = ["x" * n for n in range(200)]
    grouped = list(batches(texts, size=1000))
    assert [text for batch in grouped for text in batch] == texts
    assert all(sum(len(text) + 64 for text in batch[:-1]) < 1000 for batch in grouped)
    # Texts of one byte do not pile up: each is counted with what Python takes for it.
    assert all(len(batch) <= 17 for batch in batches(["a"] * 1000, size=1000))


def test_total_bytes(folder: Path) -> None:
    mixed: list[str | bytes] = [b"a", "bc"]
    assert total_bytes("abc") == total_bytes(mixed) == 3
    assert total_bytes(settled(folder / "a.txt", None)) == 5
    assert total_bytes(settled([folder / "a.txt", folder / "sub"], None)) == 5 + 9 + 14 + 8
    assert total_bytes(iter(["abc"])) is None
    assert total_bytes([]) == 0


def test_settled_sources_name_their_files_once(folder: Path) -> None:
    settled_folder = settled(folder / "sub", "\n")
    assert isinstance(settled_folder, Files)
    (folder / "sub" / "late.txt").write_bytes(b"late")
    assert list(documents(settled_folder)) == [b"sub/c.txt", b"sub/deep/d.txt", b"sub/e.md"]
    assert total_bytes(settled_folder) == 9 + 14 + 8
    stamps = file_stamps(settled_folder)
    assert stamps is not None
    assert stamps[0] == [9, 14, 8]
    # What is settled stays as it is, and the separator may be given again.
    assert settled(settled_folder, b"\n") == settled(settled_folder, None) == settled_folder
    for source in ("text", ["texts"], [], {"a": "text"}, iter(["text"])):
        assert settled(source, "\n") is source
    mixed: list[Any] = [folder / "a.txt", "text"]
    assert settled(mixed, None) is mixed


def test_a_separator_is_the_same_whoever_gives_it(folder: Path) -> None:
    path = folder / "a.txt"
    for source, separator in (
        (path, "\n"),
        ([path], b"\n"),
        (files(path, separator="\n"), None),
        (files(path), "\n"),
        ("text", "\n"),
        (["texts"], b"\n"),
    ):
        assert separator_of(settled(source, separator), separator) == b"\n"
    assert separator_of(settled(path, None), None) is separator_of("text", None) is None
    with pytest.raises(OptionError, match="contradicts"):
        settled(files(path, separator="a"), "b")


def test_files_are_shown_in_a_line(folder: Path) -> None:
    shown = repr(files(str(folder)))
    assert shown.startswith("<digram.Files: '")
    assert len(shown) < 400
    assert "in all" in shown or len(files(str(folder)).paths) <= 2
