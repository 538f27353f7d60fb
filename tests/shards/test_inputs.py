"""What is encoded: files of every kind, tables, iterators and several of these, in parts too."""

from __future__ import annotations

import bz2
import errno
import gzip
import json
import lzma
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from backports import zstd
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import ipc, parquet
from strategies import any_tokenizers, cases, texts

import digram
from digram._util import storage
from digram.corpus import file_source
from digram.shards import encoding, long, pieces
from digram.shards.borders import border_of
from digram.shards.inputs import Inputs
from digram.shards.tally import Tally

END = "<|endoftext|>"
TOK = digram.train("low lower lowest newer", vocab_size=270, special_tokens=[END])
TEXTS = [f"lower {n} newer" * (n % 3) for n in range(40)]


def decoded(found: digram.TokenFiles) -> list[str]:
    """The documents, without the tokens that end them."""
    return [TOK.decode(ids[:-1]) for ids in found]


def digest(texts: list[str]) -> str:
    """What a manifest says of these documents, by its definition."""
    found = blake3()
    for text in texts:
        found.update(text.encode() + len(text.encode()).to_bytes(8, "little"))
    return found.hexdigest()


def manifest(folder: Path) -> Any:
    """What a folder says of itself."""
    return json.loads((folder / "manifest.json").read_bytes())


def save_lines(path: Path) -> None:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))


def save_parquet(path: Path) -> None:
    parquet.write_table(pyarrow.table({"text": TEXTS}), path, row_group_size=7)


def save_arrow(path: Path) -> None:
    table = pyarrow.table({"text": TEXTS})
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, 9)


SAVED: dict[str, Callable[[Path], None]] = {
    "jsonl": save_lines,
    "parquet": save_parquet,
    "arrow": save_arrow,
}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": zstd.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.mark.parametrize("packing", [None, *PACKED])
@pytest.mark.parametrize("form", SAVED)
def test_files_of_every_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, packing: str | None
) -> None:
    path = tmp_path / f"a.{form}"
    SAVED[form](path)
    if packing is not None:
        data = PACKED[packing](path.read_bytes())
        path.unlink()
        path = tmp_path / f"a.{form}.{packing}"
        path.write_bytes(data)
    monkeypatch.setattr(encoding, "MIN_BATCH", 100)
    monkeypatch.setattr(encoding, "BATCH", 100)
    found = digram.encode_files(TOK, path, tmp_path / "out", format="arrow", shard_tokens=50)
    assert decoded(found) == TEXTS
    assert len(found.paths) > 3
    assert manifest(tmp_path / "out")["inputs"] == [
        {
            "path": str(path),
            "bytes": path.stat().st_size,
            "documents": len(TEXTS),
            "blake3": digest(TEXTS),
            "skipped": 0,
        }
    ]


def test_a_table_an_iterator_and_a_dictionary_of_all(tmp_path: Path) -> None:
    save_lines(tmp_path / "a.jsonl")
    table = digram.table(pyarrow.table({"body": TEXTS}), "body")
    found = digram.encode_files(TOK, table, tmp_path / "table", format="arrow")
    assert decoded(found) == TEXTS
    [only] = manifest(tmp_path / "table")["inputs"]
    assert only == {"documents": len(TEXTS), "blake3": digest(TEXTS), "skipped": 0}
    source: dict[str, Any] = {
        "web": digram.files(tmp_path / "a.jsonl", separator="--"),
        "table": digram.table(pyarrow.table({"body": TEXTS}), "body", separator="--"),
        "own": iter(["one", "two", "three"]),
        "no": [],
        "paths": iter([tmp_path / "a.jsonl"]),
    }
    found = digram.encode_files(TOK, source, tmp_path / "all", format="arrow")
    kept = [text for text in TEXTS if text]  # as with every separator
    assert decoded(found) == [*kept, *kept, "one", "two", "three", *TEXTS]
    said = manifest(tmp_path / "all")
    assert [one["corpus"] for one in said["inputs"]] == [*source]
    assert [one["documents"] for one in said["inputs"]] == [26, 26, 3, 0, len(TEXTS)]
    assert said["inputs"][2]["blake3"] == digest(["one", "two", "three"])
    options = said["options"]["corpora"]
    assert options["table"]["field"] == ["body"]
    assert [one["separator"] for one in options.values()] == ["--", "--", None, None, None]
    with pytest.raises(TypeError, match=r"corpus\['a'\]: corpus\[1\] is of type int"):
        digram.encode_files(TOK, {"a": ["b", 7]}, tmp_path / "wrong", format="npy")


def test_empty_documents_and_borders_are_in_the_digest() -> None:
    sources: tuple[list[str], ...] = (
        ["a", "", "b", ""],
        ["", "", "a", "b"],
        ["ab"],
        ["a", "b"],
        ["b", "a"],
        [""],
        [],
    )
    found = set()
    for source in sources:
        inputs = Inputs(source)
        for batch in inputs.batches(1 << 20):
            tally = Tally(inputs.files)
            tally.add(batch.texts)
            found.add(tally.place().blake3)
            assert tally.place().blake3 == digest(source)
    assert len(found) == len(sources)


def test_a_callers_iterator_runs_in_the_callers_thread(tmp_path: Path) -> None:
    with sqlite3.connect(":memory:") as rows:  # refuses any other thread
        rows.execute("create table t (text)")
        rows.executemany("insert into t values (?)", [(text,) for text in TEXTS])
        cursor = rows.execute("select text from t")
        found = digram.encode_files(
            TOK, (row[0] for row in cursor), tmp_path / "out", format="arrow"
        )
    rows.close()
    assert decoded(found) == TEXTS
    assert manifest(tmp_path / "out")["inputs"][0]["blake3"] == digest(TEXTS)


def test_bad_records_are_skipped_and_counted_once(tmp_path: Path) -> None:
    for number in range(8):
        bad = '{"text": 1}\n' if number % 2 else ""
        (tmp_path / f"{number}.jsonl").write_text(f'{{"text": "low {number}"}}\n{bad}')
    source = digram.files(tmp_path / "*.jsonl", on_error="skip")
    with pytest.raises(digram.CorruptFileError, match=r"1\.jsonl, record 2 \(byte 18\)"):
        digram.encode_files(
            TOK, digram.files(tmp_path / "*.jsonl"), tmp_path / "out", format="npy", shard_tokens=1
        )
    with pytest.warns(UserWarning, match=r"^4 records were skipped: .*1\.jsonl, record 2") as told:
        # A run that stopped at a bad record may go on without it.
        found = digram.encode_files(
            TOK, source, tmp_path / "out", format="npy", shard_tokens=1, resume=True
        )
    assert len(told) == 1
    assert (found.skipped, len(found)) == (4, 8)
    said = manifest(tmp_path / "out")
    assert said["skipped"] == 4
    assert said["options"]["on_error"] == "skip"
    assert [one["skipped"] for one in said["inputs"]] == [0, 1] * 4
    with pytest.raises(digram.CheckpointError, match="on_error: 'skip', not 'raise'"):
        digram.encode_files(
            TOK,
            digram.files(tmp_path / "*.jsonl"),
            tmp_path / "out",
            format="npy",
            shard_tokens=1,
            resume=True,
        )
    with pytest.raises(digram.CheckpointError, match="another value of field"):
        digram.encode_files(
            TOK,
            digram.files(tmp_path / "*.jsonl", on_error="skip", field="body"),
            tmp_path / "out",
            format="npy",
            shard_tokens=1,
            resume=True,
        )


def test_errors_name_file_record_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    last = json.dumps({"text": f"low--{END} low"})
    lines = ['\ufeff{"text": "low"}', "", '{"no": 1}', last]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    (tmp_path / "b.txt").write_bytes(b"----low--" + END.encode())
    rows = {"text": [None, "low", f"a {END}"]}
    parquet.write_table(pyarrow.table(rows), tmp_path / "c.parquet")
    skip: dict[str, Any] = {"on_error": "skip"}
    table = pyarrow.table(rows)
    text, cells = tmp_path / "b.txt", tmp_path / "c.parquet"
    wrong: list[tuple[Any, tuple[Any, ...]]] = [
        (digram.files(path, separator="--", **skip), (str(path), 3, 30)),
        (digram.files(text, separator="--"), (str(text), 2, 9)),
        (text, (str(text), None, None)),
        (digram.files(cells, **skip), (str(cells), 3, None)),
        (digram.files(cells, separator=" ", **skip), (str(cells), 3, None)),
        (digram.table(table, **skip), ("the table", 3, None)),
        (digram.table(table, separator=" ", **skip), ("the table", 3, None)),
        (["a", f"c--{END}"], (None, None, None)),
        ({"x": [f"c--{END}"]}, (None, None, None)),
    ]
    for number, (source, place) in enumerate(wrong):
        with pytest.raises(digram.SpecialTokenError, match="the text holds") as caught:
            digram.encode_files(
                TOK,
                source,
                tmp_path / str(number),
                format="npy",
                special="raise",
            )
        assert (caught.value.path, caught.value.record, caught.value.offset) == place
    assert str(caught.value).startswith("corpus['x'][0]: the text holds")


def test_a_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for changed in (100_000, 900_000):
        path.write_bytes(b"low\n" * 200_000)
        texts = iter(digram.files(path, separator="\n"))
        next(texts)
        os.truncate(path, changed)
        with pytest.raises(digram.CorruptFileError, match="changed while it was read: it had 800,"):
            list(texts)
    path.write_bytes(b"low\n" * 200)
    (tmp_path / "b.txt").write_bytes(b"low\n" * 200)
    inputs = Inputs(digram.files(path, tmp_path / "b.txt", separator="\n"))
    batches = inputs.batches(100)
    next(batches)
    (tmp_path / "b.txt").write_bytes(b"low\n")
    with pytest.raises(digram.CorruptFileError, match=r"b\.txt: the file changed"):
        list(batches)


def test_the_name_of_a_file_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "a.txt").write_text("low")
    for name, what in (("corpus/", "folder"), ("a.txt", "file")):
        with pytest.raises(digram.OptionError, match=f"the name of a {what}") as caught:
            digram.encode_files(TOK, name, tmp_path / "out", format="npy")
        assert f"pathlib.Path({name!r})" in (caught.value.hint or "")
    assert decoded(digram.encode_files(TOK, ["a.txt"], tmp_path / "out", format="arrow")) == [
        "a.txt"
    ]
    for number, text in enumerate(("", "a\0b", "low " * 9999, "x" * 300)):
        assert decoded(digram.encode_files(TOK, text, tmp_path / str(number), format="arrow")) == [
            text
        ]


def test_shards_do_not_lie_in_the_source(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("low")
    wrong: list[Any] = [folder, digram.files(folder), digram.files(folder / "**" / "*.txt")]
    wrong += [[folder], {"a": folder}]
    for source in wrong:
        for out in (folder / "out", folder / "deep" / "out", folder):
            with pytest.raises(
                digram.CheckpointError, match=r"is in the folder|would be written to "
            ):
                digram.encode_files(TOK, source, out, format="npy")
            assert not (folder / "out").exists()
    for source in (folder / "a.txt", digram.files(folder / "*.txt")):
        digram.encode_files(TOK, source, folder / "out", format="npy", resume=True)


@pytest.mark.parametrize("in_corpus", [True, False])
def test_a_file_where_a_folder_is_needed(tmp_path: Path, in_corpus: bool) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("low")
    source = digram.files(tmp_path / ("*.txt" if in_corpus else "b.txt"))
    with pytest.raises(NotADirectoryError, match=r"a\.txt: .*this is a file; name a folder"):
        digram.encode_files(TOK, source, tmp_path / "a.txt", format="npy")
    assert (tmp_path / "a.txt").read_text() == "low"


@cases(60)
@given(
    tok=any_tokenizers,
    parts=st.lists(texts | st.sampled_from([END, "<|", "end", " ", "<|end of"]), max_size=30),
    block=st.integers(1, 40),
    special=st.sampled_from(["text", "parse", {END}]),
)
def test_a_document_in_parts_has_the_same_ids(
    *, tok: digram.Tokenizer, parts: list[str], block: int, special: Any, memory: Path
) -> None:
    tok = tok.with_special_tokens([END, "<|end of"])
    data = "".join(parts).encode("utf-8", "surrogatepass")
    number = len([*memory.iterdir()])
    paths = [memory / f"{number}.txt", memory / f"{number}-more.txt"]
    for path in paths:
        path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("MIN_BATCH", "BATCH"):
            patch.setattr(encoding, name, block)
        patch.setattr(file_source, "PART", block)
        patch.setattr(long, "HELD", block)
        found = digram.encode_files(
            tok, paths, memory / f"{number}-out", format="datatrove", special=special
        )
    whole = [*tok.encode(data, special=special), tok.special_tokens[END]]
    assert [ids.tolist() for ids in found] == [whole, whole]


def test_where_a_special_token_may_have_begun_nothing_is_cut() -> None:
    tok = TOK.with_special_tokens(["<end of>"])
    last = border_of(tok, "parse")
    text = b"low " * 4
    assert last(text + b"<end of", 0) == 15
    assert last(text + b"<end of> low", 0) == 24
    assert last(b"<end " * 10_000, 0) == last(b" <" * 50_000, 0) == 0
    assert last(text + b" <end" * 10_000, 0) == 15


@pytest.mark.parametrize("special", ["text", "parse", {"<end of>"}])
def test_a_special_token_is_never_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, special: Any
) -> None:
    tok = TOK.with_special_tokens(["<end of>"])
    path = tmp_path / "a.txt"
    path.write_text("low <end of> lower, <end " * 20)
    for block in range(1, 30):
        monkeypatch.setattr(file_source, "PART", block)
        found = digram.encode_files(
            tok, path, tmp_path / str(block), format="arrow", special=special
        )
        assert found[0].tolist() == [
            *tok.encode(path.read_text(), special=special),
            tok.special_tokens[END],
        ]


def test_errors_in_a_part_count_from_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_source, "PART", 64)
    path = tmp_path / "a.txt"
    path.write_bytes(b"low " * 100 + END.encode())
    with pytest.raises(digram.SpecialTokenError, match="in the text from byte") as caught:
        digram.encode_files(TOK, path, tmp_path / "out", format="npy", special="raise")
    assert (caught.value.path, caught.value.index) == (str(path), 400)


# Prints by how much encoding a file made memory grow, in MB: that which is not a map of a file.
GROWTH = """
import sys, threading, time
from pathlib import Path
import digram
from digram.shards import encoding, long

def held():
    for line in open("/proc/self/status"):
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024

encoding.MIN_BATCH = encoding.BATCH = 1 << 18
long.HELD = 1 << 20
tok = digram.train("low lower", max_merges=3, special_tokens=["</s>"])
digram.encode_files(tok, ["low"], sys.argv[2] + "-first", format="nanogpt")
most = before = held()
def watch():
    global most
    while True:
        most = max(most, held())
        time.sleep(0.002)
threading.Thread(target=watch, daemon=True).start()
found = digram.encode_files(tok, Path(sys.argv[1]), sys.argv[2], format="nanogpt", threads=2)
print(found.tokens, (most - before) // 10**6)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="tells its memory")
def test_memory_does_not_grow_with_a_text(tmp_path: Path) -> None:
    """158 MB of text in 0.9 MB of gz: memory grows by as much as for 10 MB."""
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"low lowest " * 100_000, 1) * 144)
    command = [sys.executable, "-c", GROWTH, str(path), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    tokens, grown = map(int, done.stdout.split())
    print(f"\n158 MB of text in one file made memory grow by {grown} MB")
    assert tokens == 72_000_002
    assert grown < 64


def test_no_thread_descriptor_or_lock_stays(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_bytes(b"low\n" * 100_000 + END.encode())

    def failing() -> Iterator[str]:
        yield "low"
        raise ZeroDivisionError

    def held() -> list[str]:
        names = os.listdir("/proc/self/fd")
        paths = [os.path.realpath(f"/proc/self/fd/{name}") for name in names]
        return [path for path in paths if path.startswith(str(tmp_path))]

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    lines = digram.files(source, separator="\n")
    calls: list[tuple[Any, type[BaseException], dict[str, Any]]] = [
        (failing(), ZeroDivisionError, {}),
        (lines, digram.SpecialTokenError, {"special": "raise"}),
        (lines, OSError, {"shard_tokens": 1000}),
    ]
    for number, (wrong, kind, options) in enumerate(calls):
        out = tmp_path / str(number)
        with pytest.MonkeyPatch.context() as patch:
            if kind is OSError:
                patch.setattr(storage.NewFile, "finish", full)
            with pytest.raises(kind):
                digram.encode_files(TOK, wrong, out, format="nanogpt", **options)
        until = time.monotonic() + 2
        while (names := threads()) and time.monotonic() < until:
            time.sleep(0.01)
        assert not names
        assert held() == []


def threads() -> set[str]:
    """Those of ours that run."""
    found = {thread.name for thread in threading.enumerate()}
    return found & {"digram-reader", "digram-writes"}


def test_a_piece_says_how_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low")
    found = pieces.Pieces(digram.files(tmp_path, separator=b"\xff"))
    assert found.options["separator"] == "\udcff"
    assert found.size == 3
    assert pieces.Pieces(iter(["a"])).size is None
