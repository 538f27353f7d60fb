"""The gigabyte of text: what is taken out of packages, and what is left there."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the benchmarks are not part of what is installed

from benches import corpus  # noqa: E402
from benches.corpus import Part, Taken  # noqa: E402
from benches.data import SEPARATOR, stream  # noqa: E402
from benches.html import text_of  # noqa: E402


def archive(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def page(words: str) -> bytes:
    return f"<html><head><title>no</title></head><body><p>{words}</p></body></html>".encode()


def test_texts_of_an_archive_and_of_an_archive_in_it() -> None:
    words = {name: f"{name} is a file with words in it. " * 9 for name in "abcdefgh"}
    inner = archive({"./linux/a.c": words["a"].encode(), "./linux/made/b.c": words["b"].encode()})
    outer = archive(
        {
            "./source.tar.xz": lzma.compress(inner),
            "./c.html": page(words["c"]),
            "./d.txt.gz": gzip.compress(words["d"].encode()),
            "./e.png": words["e"].encode(),
            "./f.txt": words["f"].encode("utf-16"),
            "./g.txt": words["g"].encode() + SEPARATOR.encode(),
            "./short.txt": b"short",
        }
    )
    taken = Taken("part")
    found = corpus._files(io.BytesIO(outer), "r|", Part("part", (), without=("/made/",)), taken)
    assert [text.decode() for text in found] == [words[name].strip() for name in "acd"]
    assert taken.not_text == 2


def test_documents_come_once_and_a_share_is_drawn_by_their_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"document {number}".encode() for number in range(1000)]

    def documents(archive: str, part: Part, taken: Taken) -> Iterator[bytes]:
        return iter(texts if archive == "one" else texts[::-1])

    monkeypatch.setattr(corpus, "_archive", lambda folder, package: package)
    monkeypatch.setattr(corpus, "_documents", documents)
    parts = (Part("a half", ("one", "two"), share=0.5), Part("all", ("two",)))
    half, rest = corpus.make(tmp_path, parts)
    assert 400 < half.documents < 600
    assert half.twice == half.documents  # the second package has the same
    assert half.documents + rest.documents == 1000
    found = list(stream(tmp_path / "big.txt"))
    assert sorted(found) == sorted(text.decode() for text in texts)
    assert half.bytes + rest.bytes == sum(map(len, texts))
    assert corpus.make(tmp_path, parts) == [half, rest]
    assert list(stream(tmp_path / "big.txt")) == found


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("<p>one<p>two", "one\ntwo"),
        ("a <b>bold</b> <i>word</i>", "a bold word"),
        ("<ul><li>one</li><li>two</li></ul>", "one\n\ntwo"),
        ("<tr><td>a</td><td>b</td></tr>", "a\t\tb"),
        ("&lt;tag&gt; &eacute; &#20013;", "<tag> é 中"),
        ("<p title='a > b'>x</p>", "x"),
        ("<style>p { }</style>x<script>if (a < b) y</script>", "x"),
        ("<nav><ul><li>menu</li></ul></nav>page", "page"),
        ("<head/>one<header>two</header>", "one\ntwo"),
        ("<pre>\na  b\n\n\n\nc</pre>", "a  b\n\nc"),
        ("x <!-- no -->y", "x y"),
        ("", ""),
    ],
)
def test_what_a_page_says(source: str, read: str) -> None:
    assert text_of(source) == read
