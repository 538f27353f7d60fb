"""What comes in: every accepted shape, every refused one, and cuts at every border of a block."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from digram.errors import OptionError
from digram.sources import batches, documents, files, total_bytes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.txt", "a.txt", "sub/c.txt", "sub/deep/d.txt", "sub/e.md", ".hidden/f.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    (tmp_path / ".g.txt").write_bytes(b"dot")
    return tmp_path


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
    assert total_bytes(folder / "a.txt") == 5
    assert total_bytes([folder / "a.txt", folder / "sub"]) == 5 + 9 + 14 + 8
    assert total_bytes(iter(["abc"])) is None
    assert total_bytes([]) == 0


def test_files_are_shown_in_a_line(folder: Path) -> None:
    shown = repr(files(str(folder)))
    assert shown.startswith("<digram.Files: '")
    assert len(shown) < 400
    assert "in all" in shown or len(files(str(folder)).paths) <= 2
