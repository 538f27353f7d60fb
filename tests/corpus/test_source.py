"""What comes in: every accepted shape, every refused one, and cuts at every border of a block."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet
from strategies import cases
from strategies import texts as texts_of_any_kind

import digram
from digram.corpus import (
    Corpus,
    Files,
    Further,
    batches,
    files,
)
from digram.errors import CorruptFileError, OptionError
from digram.pretokenizers.pretokenizer import resolve
from digram.training.counts.files import to_bytes as counts_to_bytes


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
    assert found.size == Corpus.of(found).size == 10
    assert list(found) == list(found) == [b"a.txt", b"b.txt"]
    with pytest.raises(AttributeError):
        found.separator = None  # type: ignore[misc]


def test_every_shape_of_source(folder: Path) -> None:
    a, b = folder / "a.txt", folder / "b.txt"
    both: list[str | bytes] = [b"a.txt", b"b.txt"]
    assert list(Corpus.of("text").documents()) == ["text"]
    assert list(Corpus.of(b"text").documents()) == [b"text"]
    assert list(Corpus.of("").documents()) == [""]
    assert list(Corpus.of(a).documents()) == [b"a.txt"]
    assert list(Corpus.of([b, a]).documents()) == [b"b.txt", b"a.txt"]
    assert list(Corpus.of(iter([a, b])).documents()) == both
    assert list(Corpus.of(files(a, b)).documents()) == both
    mixed: list[str | bytes] = ["x", b"y", ""]
    assert list(Corpus.of(mixed).documents()) == mixed
    assert list(Corpus.of(text for text in ("x", "y")).documents()) == ["x", "y"]
    assert list(Corpus.of([]).documents()) == []
    assert list(Corpus.of(folder / "sub" / "deep").documents()) == [b"sub/deep/d.txt"]


def test_an_iterator_is_read_as_it_is_asked_for() -> None:
    asked = 0

    def endless() -> Iterator[str]:
        nonlocal asked
        while True:
            asked += 1
            yield "text"

    stream = Corpus.of(endless()).documents()
    assert [next(stream), next(stream)] == ["text", "text"]
    assert asked == 2


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "a corpus must be a text, a Path"),
        (7, "of type int"),
        ({"en": "text"}, "of type dict"),
        (["a", 7], r"corpus\[1\] is of type int, expected str or bytes"),
        (["a", Path("b")], r"corpus\[1\] is of type PosixPath, expected str or bytes"),
        ([Path(__file__), "b"], r"corpus\[1\] is of type str, expected a Path"),
        ([["a"]], r"corpus\[0\] is of type list"),
        (bytearray(b"abc"), r"corpus\[0\] is of type int"),
        ([None], r"corpus\[0\] is of type NoneType"),
    ],
)
def test_a_wrong_item_is_named_by_its_index(source: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        list(Corpus.of(source).documents())


def test_missing_files_are_missed_before_the_first_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a")
    with pytest.raises(FileNotFoundError):
        Corpus.of([tmp_path / "a.txt", tmp_path / "b.txt"]).documents()


def test_separators(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\n\n\n\ntwo\n\n")
    for separator in ("\n\n", b"\n\n"):
        found = files(path, separator=separator)
        assert list(found) == list(Corpus.of(found).documents()) == [b"one", b"two"]
        assert Corpus.of(found).separator == b"\n\n"
    path.write_bytes("añb".encode() + b"\xff\xffc")
    assert list(files(path, separator="ñ")) == [b"a", b"b\xff\xffc"]
    assert list(files(path, separator=b"\xff")) == ["añb".encode(), b"c"]
    rows = pyarrow.table({"text": ["a--b", "c--", "--"]})
    column = digram.table(rows, separator="--")
    assert list(column) == list(Corpus.of(column).documents()) == [b"a", b"b", b"c"]
    assert Corpus.of(column).separator == b"--"
    for plain in (path, [path], files(path), digram.table(rows), "text", ["texts"]):
        assert Corpus.of(plain).separator is None
    makers: list[Callable[[Any], object]] = [
        lambda wrong: files(path, separator=wrong),
        lambda wrong: digram.table(rows, separator=wrong),
    ]
    for make in makers:
        with pytest.raises(OptionError, match="separator is empty"):
            make("")
        with pytest.raises(OptionError, match="lone surrogate"):
            make("\udc80")
        with pytest.raises(TypeError, match=r"separator must be .* of type int"):
            make(7)


def test_a_long_document_between_others_is_read_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    texts = ["one", "two words and more " * 200_000, "three", "four " * 300_000]
    path.write_text("--".join(texts))
    border = resolve("gpt2").splitter().last_border
    source = files(path, separator="--")
    found = [part for batch in Corpus.of(source).batches(border) for part in batch]
    begun = [part for part in found if not isinstance(part, Further)]
    assert (len(begun), len(found) > 8) == (4, True)
    assert b"".join(part for part in found if isinstance(part, bytes)) == "".join(texts).encode()
    assert max(map(len, found)) < 2 << 20
    counts = digram.count_pretokens(source)
    assert counts == digram.count_pretokens(texts)
    assert counts.documents == 4


def test_the_remedy_for_records_is_one_that_every_call_takes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("none\n")
    tok = digram.train("low lower", max_merges=1)
    for read in (
        lambda: digram.count_pretokens(path),
        lambda: digram.encode_files(tok, path, tmp_path / "out", format="npy", end_of_text=None),
    ):
        with pytest.raises(CorruptFileError, match=r'Pass digram.files\(path, on_error="skip"\)'):
            read()


def test_files_are_lossless(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf\x00\xff\r\n\r\xed\xa0\x80" + bytes(range(256))
    (tmp_path / "a").write_bytes(data)
    assert list(Corpus.of(tmp_path / "a").documents()) == [data]


def test_memory_is_bounded_by_a_document_and_a_block(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "big.txt"
    with path.open("wb") as file:
        for _ in range(64):
            file.write(b"x" * (1 << 18) + b"\n\n")
    tracemalloc.start()
    try:
        sizes = [len(document) for document in files(path, separator="\n\n")]
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
    assert Corpus.of("abc").size == Corpus.of(mixed).size == 3
    assert Corpus.of(folder / "a.txt").size == 5
    assert Corpus.of([folder / "a.txt", folder / "sub"]).size == 5 + 9 + 14 + 8
    assert Corpus.of(iter(["abc"])).size is None
    assert Corpus.of([]).size == 0


def test_settled_sources_name_their_files_once(folder: Path) -> None:
    settled_folder = Corpus.of(folder / "sub").source
    assert isinstance(settled_folder, Files)
    (folder / "sub" / "late.txt").write_bytes(b"late")
    assert list(Corpus.of(settled_folder).documents()) == [
        b"sub/c.txt",
        b"sub/deep/d.txt",
        b"sub/e.md",
    ]
    assert Corpus.of(settled_folder).size == 9 + 14 + 8
    stamps = Corpus.of(settled_folder).stamps
    assert stamps is not None
    assert stamps[0] == [9, 14, 8]
    # What is settled stays as it is.
    cut = files(folder / "sub", separator="\n")
    for source in (settled_folder, cut, "text", ["texts"], [], {"a": "text"}, iter(["text"])):
        assert Corpus.of(source).source is source
    mixed: list[Any] = [folder / "a.txt", "text"]
    assert Corpus.of(mixed).source is mixed


def test_files_are_shown_in_a_line(folder: Path) -> None:
    shown = repr(files(str(folder)))
    assert shown.startswith("<digram.Files: '")
    assert len(shown) < 400
    assert "in all" in shown or len(files(str(folder)).paths) <= 2


# --- all kinds of files alike

PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": zstd.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def write(texts: list[str], path: Path) -> None:
    """The texts as a file of the kind that its name tells, with a record separator in text."""
    form, packing = path.suffixes[0], "".join(path.suffixes[1:])
    sink = io.BytesIO()
    if form == ".txt":
        sink.write("\x1e".join(texts).encode())
    elif form == ".jsonl":
        for number, text in enumerate(texts):
            line = json.dumps({"id": number, "text": text}, ensure_ascii=number % 2 == 0)
            sink.write(line.encode() + b"\n")
    else:
        table = pyarrow.table({"text": pyarrow.array(texts, pyarrow.string())})
        if form == ".parquet":
            parquet.write_table(table, sink, row_group_size=3)
        else:
            feather.write_feather(table, sink)
    path.write_bytes(PACK[packing](sink.getvalue()))


KINDS = [
    f"a{form}{packing}" for form in (".txt", ".jsonl", ".parquet", ".arrow") for packing in PACK
]


@cases(20)
@given(st.lists(texts_of_any_kind, max_size=6), st.sampled_from(["\x1e", None]))
def test_all_kinds_give_the_texts_and_the_same_tokenizer(
    tmp_path_factory: pytest.TempPathFactory, given: list[str], separator: str | None
) -> None:
    folder = tmp_path_factory.mktemp("kinds")
    texts = [text for text in (text.replace("\x1e", "") for text in given) if text]
    expected = digram.train(texts, max_merges=5)
    for name in KINDS:
        path = folder / name
        write(texts, path)
        if separator is None and name.startswith("a.txt"):
            continue
        source = files(path, separator=separator)
        assert list(Corpus.of(source).documents()) == [text.encode() for text in texts]
        tok = digram.train(source, max_merges=5)
        assert tok == expected
        assert tok.training is not None
        assert expected.training is not None
        assert tok.training.documents == expected.training.documents == len(texts)
        assert tok.training.bytes == expected.training.bytes


def test_a_folder_of_all_kinds_is_one_source(tmp_path: Path) -> None:
    texts = [f"text {number} of some" for number in range(9)]
    for name in KINDS:
        write(texts, tmp_path / name.replace("a.", f"{KINDS.index(name):02}."))
    found = files(tmp_path, separator="\x1e")
    assert list(found) == [text.encode() for text in texts] * len(KINDS)
    counts = digram.count_pretokens(found)
    assert counts == digram.count_pretokens(texts * len(KINDS))
    again: dict[str, object] = {"checkpoint": tmp_path.parent / "run", "memory_limit": "24 MiB"}
    tok = digram.train(found, max_merges=9, **again)  # type: ignore[arg-type]
    assert tok == digram.train(counts, max_merges=9)
    assert digram.train(found, max_merges=12, **again) == digram.train(counts, max_merges=12)  # type: ignore[arg-type]
    named = {"json": files(tmp_path / "*.jsonl*"), "parquet": files(tmp_path / "*.parquet*")}
    assert digram.count_pretokens(named).documents == 9 * 10


def test_a_file_that_cannot_be_read_is_not_skipped(tmp_path: Path) -> None:
    write(["one"], tmp_path / "a.jsonl")
    write(["two"], tmp_path / "b.jsonl")
    found = files(tmp_path, on_error="skip")
    (tmp_path / "b.jsonl").unlink()
    with pytest.raises(FileNotFoundError):
        digram.count_pretokens(found)
    (tmp_path / "b.jsonl").mkdir()
    with pytest.raises(IsADirectoryError):
        list(found)
    if os.geteuid() != 0:
        (tmp_path / "b.jsonl").rmdir()
        write(["two"], tmp_path / "b.jsonl")
        (tmp_path / "b.jsonl").chmod(0)
        with pytest.raises(PermissionError):
            digram.count_pretokens(found)


def test_progress_is_told_in_bytes_on_the_disk(tmp_path: Path) -> None:
    texts = [f"text {number}" * 50 for number in range(200)]
    for name in KINDS:
        write(texts, tmp_path / name)
        reading = Corpus.of(files(tmp_path / name)).batches()
        assert reading.done == 0
        for _ in reading:
            assert 0 < reading.done <= (tmp_path / name).stat().st_size
        assert reading.done == (tmp_path / name).stat().st_size
        assert Corpus.of(files(tmp_path / name)).size == reading.done


def test_skipped_records_are_in_what_comes_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "low low"}\n{"text": 1}\n{"text": "lower"}\n{}\n')
    found = files(path, on_error="skip")
    with pytest.warns(UserWarning, match="2 records were skipped"):
        counts = digram.count_pretokens(found)
    clean = digram.count_pretokens(["low low", "lower"])
    assert (counts.skipped, clean.skipped) == (2, 0)
    assert counts != clean
    assert (counts + counts).skipped == counts.scale(3).skipped * 2 == 4
    assert (counts - clean).skipped == 2
    assert counts.filter(min_count=2).skipped == counts.without_first().skipped == 2
    for name in ("a.arrow", "a.parquet"):
        counts.save(tmp_path / name)
        assert digram.Counts.load(tmp_path / name) == counts
    assert digram.Counts.from_arrow(counts.to_arrow()) == counts
    assert pickle.loads(pickle.dumps(counts)) == counts
    assert b"skipped" not in b"".join(counts_to_bytes(clean))
    folder = tmp_path / "run"
    for source in (found, found, counts, {"a": found, "b": counts}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tok = digram.train(source, max_merges=2)
        assert tok.training is not None
        assert tok.training.skipped == (4 if isinstance(source, dict) else 2)
    for times in range(3):  # the third is noted, and reads nothing
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            tok = digram.train(found, max_merges=times, checkpoint=folder)
        assert tok.training is not None
        assert (tok.training.skipped, len(warned)) == (2, 1 if times == 0 else 0)
    tok.save(tmp_path / "tok.json")
    loaded = digram.load(tmp_path / "tok.json")
    assert loaded.training == tok.training
    assert digram.shrink(tok, 257).training.skipped == 2  # type: ignore[union-attr]
    digram.train(clean, max_merges=2).save(tmp_path / "clean.json")
    assert "skipped" not in (tmp_path / "clean.json").read_text()


def test_after_a_fault_the_same_call_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("digram.training.checkpoint.BETWEEN", 0.0)
    monkeypatch.setattr("digram.corpus.corpus.AHEAD", 1)
    path, folder = tmp_path / "a.jsonl.gz", tmp_path / "run"
    good = [b'{"text": "the cat %d"}' % number for number in range(20)]
    path.write_bytes(gzip.compress(b"\n".join([*good[:15], b"{", *good[15:]])))
    with pytest.raises(digram.CorruptFileError) as caught:
        digram.train(path, max_merges=5, checkpoint=folder)
    assert caught.value.record == 16
    # What was noted of the file may be counted, so nothing is said of that.
    assert "Nothing was counted" not in str(caught.value)
    with pytest.warns(UserWarning, match="1 record was skipped"):
        tok = digram.train(files(path, on_error="skip"), max_merges=5, checkpoint=folder)
    assert tok == digram.train([f"the cat {number}" for number in range(20)], max_merges=5)
    assert tok.training is not None
    assert (tok.training.documents, tok.training.skipped) == (20, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda corpus: digram.train(corpus, max_merges=0),
        digram.count_pretokens,
        lambda corpus: digram.evaluate(digram.train("low", max_merges=0), corpus),
        lambda corpus: digram.audit(digram.train("low", max_merges=0), corpus),
    ],
    ids=["train", "count_pretokens", "evaluate", "audit"],
)
def test_every_call_warns_of_texts_that_name_files(
    call: Callable[[object], object], tmp_path: Path
) -> None:
    names = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    for name in names:
        Path(name).write_text("low lower")
    with pytest.warns(UserWarning, match="the corpus is the text .*name of a file") as caught:
        call(names[0])
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=r"corpus\[0\] is the text .*name of a file"):
        call(names)


def test_a_warning_in_code_without_a_name(tmp_path: Path) -> None:
    """`exec` and programs that embed Python may have globals without `__name__`."""
    (tmp_path / "text").write_text("low lower lowest")
    code = f"digram.train({str(tmp_path / 'text')!r}, max_merges=0)"
    with pytest.warns(UserWarning, match="name of a file"):
        exec(code, {"digram": digram})
