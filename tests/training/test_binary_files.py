"""Files that look binary are learned from, with a warning in the words of the command line."""

from __future__ import annotations

import gzip
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import digram

REMEDY = "digram.train reads these bytes as text. If that is not intended, exclude the file, "
NUL = "looks binary: it contains NUL bytes."


def told(corpus: Any, **options: Any) -> str:
    """The only warning of training on files."""
    with pytest.warns(digram.DigramWarning) as caught:
        digram.train(corpus, max_merges=0, **options)
    (one,) = caught
    assert one.filename == __file__
    return str(one.message)


def test_files_of_any_corpus(tmp_path: Path) -> None:
    odd, packed, plain = tmp_path / "odd", tmp_path / "odd.txt.gz", tmp_path / "plain"
    odd.write_bytes(b"low\0er")
    packed.write_bytes(gzip.compress(b"low\0er"))
    plain.write_text("low lower")
    for corpus in (odd, [plain, odd], digram.files(odd), {"en": plain, "de": odd}):
        assert told(corpus).startswith(f"{odd} {NUL} {REMEDY}")
    assert told(tmp_path).startswith(f"{odd} {NUL} {packed} {NUL} {REMEDY}")
    like = digram.train(plain, max_merges=1)
    assert told(odd, like=like).startswith(f"{odd} {NUL} {REMEDY}")
    assert told(odd, superwords="two-stage").startswith(f"{odd} {NUL} {REMEDY}")


def test_many_files(tmp_path: Path) -> None:
    for number in range(13):
        (tmp_path / f"{number:02}").write_bytes(b"\0")
    message = told(tmp_path)
    assert message.count(NUL) == 10
    assert f"{tmp_path / '09'} {NUL} 3 more files look binary. {REMEDY}" in message


def test_what_gives_no_warning(tmp_path: Path) -> None:
    """Warnings are errors in tests."""
    (tmp_path / "list").write_bytes(b"one\0two\0")
    (tmp_path / "a.jsonl").write_text('{"text": "a\\u0000b"}')
    (tmp_path / "latin").write_bytes("d\xe9j\xe0 vu, na\xefve".encode("latin-1"))
    digram.train(digram.files(tmp_path / "list", separator="\0"), max_merges=0)
    digram.train([tmp_path / "a.jsonl", tmp_path / "latin"], max_merges=0)
    digram.train(["a\0b", "\0"], max_merges=0)


def test_an_unreadable_file_is_told_by_reading(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"no gzip")
    with pytest.raises(digram.CorruptFileError, match=r"a\.gz"):
        digram.train(tmp_path / "a.gz", max_merges=0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        with pipe.open("wb", buffering=0) as file:  # returns when the reader has opened the pipe
            for part in (b"low ", b"lower"):
                time.sleep(0.1)  # s; the reader has looked at the modification time by then
                file.write(part)

    writer = threading.Thread(target=write)
    writer.start()
    tok = digram.train(digram.Files((pipe,)), max_merges=0)
    writer.join()
    assert tok.training is not None
    assert tok.training.bytes == 9
