"""UTF-16 and UTF-32 by their marks: in files of every kind, at every cut, and what is none."""

from __future__ import annotations

import codecs
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases, texts

import digram
from digram.corpus.byte_order_marks import as_utf8
from digram.errors import CorruptFileError

MARKS = {
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
TEXT = "naïve 日本 🙂\r\nend\n"


@cases(100)
@given(texts, st.sampled_from([*MARKS]), st.integers(1, 9))
def test_any_text_at_any_cut(text: str, encoding: str, size: int) -> None:
    data = MARKS[encoding] + text.encode(encoding)
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    if encoding == "utf-16-le" and text.startswith("\0"):
        return  # these bytes are the mark of UTF-32
    assert b"".join(as_utf8(blocks, "a")) == text.encode()


@cases(100)
@given(st.binary(max_size=12), st.sampled_from([b"", *MARKS.values()]), st.integers(1, 5))
def test_any_bytes_are_read_or_refused_with_their_place(
    rest: bytes, mark: bytes, size: int
) -> None:
    data = mark + rest
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    longest = sorted(MARKS, key=lambda name: -len(MARKS[name]))
    encoding = next((name for name in longest if data.startswith(MARKS[name])), None)
    if encoding is None:
        assert b"".join(as_utf8(blocks, "a")) == data
        return
    mark = MARKS[encoding]
    wrong, expected = None, b""
    try:
        expected = data[len(mark) :].decode(encoding).encode()
    except UnicodeDecodeError as error:
        wrong = error.start
    if wrong is None:
        assert b"".join(as_utf8(blocks, "a")) == expected
        return
    with pytest.raises(CorruptFileError) as caught:
        b"".join(as_utf8(blocks, "a"))
    assert caught.value.offset == len(mark) + wrong


@pytest.mark.parametrize("encoding", MARKS)
def test_files_of_every_kind(tmp_path: Path, encoding: str) -> None:
    def write(name: str, text: str) -> Path:
        data = MARKS[encoding] + text.encode(encoding)
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    expected = [TEXT.encode()]
    assert list(digram.files(write("a.txt", TEXT))) == expected
    assert list(digram.files(write("a.txt.gz", TEXT))) == expected
    assert list(digram.files(write("b.txt", TEXT), separator="\r\n")) == [
        "naïve 日本 🙂".encode(),
        b"end\n",
    ]
    line = json.dumps({"text": TEXT}, ensure_ascii=False)
    assert list(digram.files(write("a.jsonl", f"{line}\n{line}\n"))) == expected * 2
    assert list(digram.files(write("a.json", f"[{line}]"))) == expected
    quoted = TEXT.replace('"', '""')
    assert list(digram.files(write("a.csv", f'id,text\n1,"{quoted}"\n'))) == expected
    tok = digram.train(tmp_path / "a.txt", vocab_size=257)
    assert tok.training is not None
    assert tok.training.bytes == len(expected[0])
    found = digram.encode_files(
        tok, tmp_path / "b.txt", tmp_path / "out", format="megatron", end_of_text=None
    )
    assert [tok.decode(ids) for ids in found] == [TEXT]


def test_a_mark_of_utf_8_stays_in_text_and_is_passed_over_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone")
    assert list(digram.files(tmp_path / "a.txt")) == [b"\xef\xbb\xbfone"]
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbftext\none\n")
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf{"text": "one"}')
    for name in ("a.csv", "a.json"):
        assert list(digram.files(tmp_path / name)) == [b"one"]


def test_what_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(codecs.BOM_UTF16_LE + "ab".encode("utf-16-le") + b"\x00\xd8a\x00")
    with pytest.raises(CorruptFileError) as caught:
        list(digram.files(path, on_error="skip"))
    assert str(caught.value) == (
        f"{path}: the file begins with the mark of UTF-16, but is not UTF-16 at byte 6: illegal "
        "UTF-16 surrogate. Write it in UTF-8. If it is not text, leave it out."
    )
    path.write_bytes(codecs.BOM_UTF16_LE + b"a\x00b")
    with pytest.raises(CorruptFileError, match="truncated data"):
        list(digram.files(path))
