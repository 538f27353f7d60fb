"""What is written is what `encode` gives, in order, in shards that depend on the texts alone."""

from __future__ import annotations

import contextlib
import errno
import gzip
import itertools
import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_tokenizers, cases, texts

import digram
from digram._util.progress import amount
from digram.shards import encoding, formats, pipeline

END = "<|endoftext|>"
TOK = digram.train("low lower lowest newer", vocab_size=270, special_tokens=[END])
FORMATS = sorted(formats.FORMATS)
STORED = {"megatron", "datatrove", "dolma", "parquet", "arrow"}
"""Formats that store where documents end."""

inputs = st.lists(texts | texts.map(str.encode), max_size=12)


def content(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def expected_shards(lengths: list[int], limit: int) -> list[int]:
    """How many documents each shard has: it ends with the one that reaches the limit."""
    found, documents, tokens = [], 0, 0
    for length in lengths:
        documents, tokens = documents + 1, tokens + length
        if tokens >= limit:
            found.append(documents)
            documents = tokens = 0
    return [*found, documents] if documents else found


@cases(100)
@given(
    tok=any_tokenizers,
    corpus=inputs,
    format=st.sampled_from(FORMATS),
    end=st.booleans(),
    limit=st.integers(1, 60),
    batch=st.sampled_from([1, 20, 200, 1 << 20]),
    threads=st.sampled_from([1, 2, 5]),
)
def test_what_is_written_is_what_encode_gives(
    *,
    tok: digram.Tokenizer,
    corpus: list[str | bytes],
    format: str,
    end: bool,
    limit: int,
    batch: int,
    threads: int,
    memory: Path,
) -> None:
    tok = tok.with_special_tokens([END])
    tail = [tok.special_tokens[END]] if end else []
    expected = [tok.encode(text) + tail for text in corpus]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "MIN_BATCH", batch)
        patch.setattr(encoding, "BATCH", batch)
        found = digram.encode_files(
            tok,
            iter(corpus),
            memory / str(len([*memory.iterdir()])),
            format=format,
            end_of_text=END if end else None,
            shard_tokens=limit,
            threads=threads,
        )
        assert found.ids.tolist() == list(itertools.chain.from_iterable(expected))
        assert (found.tokens, len(found)) == (sum(map(len, expected)), len(expected))
        shards = expected_shards([len(ids) for ids in expected], limit)
        assert len(found.paths) == len(shards)
        if end or format in STORED:
            assert [ids.tolist() for ids in found] == expected
            assert [found[n].tolist() for n in range(len(found))] == expected
        begins = itertools.pairwise(itertools.accumulate(shards, initial=0))
        for number, (first, last) in enumerate(begins):
            flat = list(itertools.chain.from_iterable(expected[first:last]))
            assert found.shard(number).tolist() == flat
        found.verify()


@pytest.mark.parametrize("format", FORMATS)
def test_bytes_do_not_depend_on_threads_or_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    paths = []
    for number in range(7):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text("\n".join(f"low {n} newest" for n in range(number * 9)))
    found = []
    for threads, batch in ((1, 1), (2, 300), (7, 1 << 20)):
        monkeypatch.setattr(encoding, "MIN_BATCH", batch)
        monkeypatch.setattr(encoding, "BATCH", batch)
        out = tmp_path / f"out-{threads}"
        digram.encode_files(
            TOK, paths, out, format=format, separator="\n", threads=threads, shard_tokens=200
        )
        found.append(content(out))
    assert found[0] == found[1] == found[2]
    assert len([name for name in found[0] if name.startswith("tokens-")]) >= 5


def test_sources(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"one--two")
    (folder / "b.txt").write_bytes(b"three")
    kinds: list[Any] = [
        ["one", b"two", "three"],
        (text for text in ["one", "two", "three"]),
        digram.files(folder, separator="--"),
    ]
    for number, source in enumerate(kinds):
        found = digram.encode_files(TOK, source, tmp_path / str(number), format="megatron")
        assert [TOK.decode(ids[:-1]) for ids in found] == ["one", "two", "three"]
    files: list[Any] = [folder, [folder / "a.txt", folder / "b.txt"]]
    for number, source in enumerate(files):
        out = tmp_path / f"cut {number}"
        cut = digram.encode_files(TOK, source, out, format="npy", separator=b"--")
        assert [TOK.decode(ids[:-1]) for ids in cut] == ["one", "two", "three"]
    whole = digram.encode_files(TOK, "one text", tmp_path / "text", format="arrow")
    assert [TOK.decode(ids[:-1]) for ids in whole] == ["one text"]
    wrong: Any
    for wrong in (7, {"a": 7}, {7: "b"}, [7], None):
        with pytest.raises(TypeError, match="corpus"):
            digram.encode_files(TOK, wrong, tmp_path / "wrong", format="npy")
    with pytest.raises(FileNotFoundError):
        digram.encode_files(TOK, tmp_path / "none", tmp_path / "wrong", format="npy")


@pytest.mark.parametrize("format", FORMATS)
def test_no_documents(tmp_path: Path, format: str) -> None:
    found = digram.encode_files(TOK, [], tmp_path / "out", format=format)
    assert (len(found), found.tokens, list(found), found.ids.tolist()) == (0, 0, [], [])
    assert found.documents == 0
    assert repr(found).endswith("0 shards>")
    empty = digram.encode_files(TOK, ["", ""], tmp_path / "empty", format=format, end_of_text=None)
    assert (len(empty), empty.tokens) == (2, 0)
    if format in STORED:
        assert [ids.tolist() for ids in empty] == [[], []]


def test_special_tokens_of_the_text(tmp_path: Path) -> None:
    text = f"low{END}low"
    plain = digram.encode_files(TOK, [text], tmp_path / "plain", format="npy")
    assert [TOK.decode(ids) for ids in plain] == [text + END]
    parsed = digram.encode_files(
        TOK, [text], tmp_path / "parsed", format="megatron", special="parse"
    )
    assert [TOK.decode(ids) for ids in parsed] == [text + END]
    bare = digram.encode_files(TOK, [text], tmp_path / "bare", format="npy", special="parse")
    assert bare.ids.tolist() == parsed.ids.tolist()
    with pytest.raises(digram.OptionError, match="its documents cannot be separated"):
        bare[0]
    chosen = digram.encode_files(TOK, [text], tmp_path / "chosen", format="arrow", special={END})
    assert [TOK.decode(ids) for ids in chosen] == [text + END]
    assert chosen[0].tolist().count(TOK.special_tokens[END]) == 2


@pytest.mark.parametrize(
    ("format", "size", "dtype"),
    [
        ("megatron", 65_499, "uint16"),
        ("megatron", 65_500, "int32"),
        ("nanogpt", 65_536, "uint16"),
        ("llmc", 65_536, "uint16"),
        ("llmc", 65_537, "uint32"),
        ("datatrove", 65_536, "uint16"),
        ("datatrove", 65_537, "uint32"),
        ("dolma", 65_537, "uint32"),
        ("npy", 65_536, "uint16"),
        ("npy", 65_537, "uint32"),
        ("parquet", 300, "uint32"),
        ("arrow", 300, "uint32"),
    ],
)
def test_dtype_by_vocabulary(tmp_path: Path, format: str, size: int, dtype: str) -> None:
    tok = TOK.with_special_tokens({"<|far|>": size - 1})
    found = digram.encode_files(tok, ["a<|far|>"], tmp_path / "out", format=format, special="parse")
    assert found.dtype == dtype
    assert found.ids.tolist() == [97, size - 1, TOK.special_tokens[END]]


def test_dtypes_that_do_not_fit(tmp_path: Path) -> None:
    wide = TOK.with_special_tokens({"<|far|>": 65_536})
    with pytest.raises(
        digram.OptionError, match=r"too small for the 65,537.*megatron, llmc"
    ) as bad:
        digram.encode_files(wide, [], tmp_path / "out", format="nanogpt")
    assert "nanogpt" not in (bad.value.hint or "")
    with pytest.raises(digram.OptionError, match="holds ids up to 65,535, but this vocabulary"):
        digram.encode_files(wide, [], tmp_path / "out", format="npy", dtype="uint16")
    with pytest.raises(digram.OptionError, match="format='megatron' does not support"):
        digram.encode_files(wide, [], tmp_path / "out", format="megatron", dtype="uint32")
    asked = digram.encode_files(TOK, ["a"], tmp_path / "out", format="npy", dtype="int64")
    assert asked.dtype == "int64"


def test_which_token_ends_a_document(tmp_path: Path) -> None:
    plain = digram.train("a", max_merges=0)
    for tok, what in (
        (plain, "has none with a known name.*It has no special tokens"),
        (plain.with_special_tokens(["<x>", "<pad>"]), "Its special tokens: '<x>', '<pad>'"),
        (plain.with_special_tokens(["</s>", END]), "has .* and .*end_of_text=None for none"),
    ):
        with pytest.raises(digram.OptionError, match=what):
            digram.encode_files(tok, ["a"], tmp_path / "out", format="npy")
    assert not (tmp_path / "out").exists()
    with pytest.raises(digram.OptionError, match="end_of_text='<y>' is not a special token"):
        digram.encode_files(plain, ["a"], tmp_path / "out", format="npy", end_of_text="<y>")
    with pytest.raises(digram.TokenIdError):
        digram.encode_files(plain, ["a"], tmp_path / "out", format="npy", end_of_text=256)
    for number, end in enumerate((0, None)):
        found = digram.encode_files(
            plain, ["a"], tmp_path / str(number), format="arrow", end_of_text=end
        )
        assert found[0].tolist() == ([97] if end is None else [97, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "bin"}, "format='bin' is not known. Formats: megatron, "),
        ({"shard_tokens": 0}, "shard_tokens=0 is not at least 1"),
        ({"shard_tokens": 5, "shard_size": 5}, "pass one of them"),
        ({"shard_size": "many"}, "not a size"),
        ({"threads": 0}, "threads=0"),
        ({"separator": ""}, "separator is empty"),
        ({"special": "maybe"}, "maybe"),
    ],
)
def test_options_that_are_wrong(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        digram.encode_files(TOK, ["a"], tmp_path / "out", **{"format": "npy", **options})
    assert not (tmp_path / "out").exists()


def test_shard_size_is_in_bytes_of_ids(tmp_path: Path) -> None:
    source = ["abc"] * 10  # 4 ids each
    by_size = digram.encode_files(TOK, source, tmp_path / "a", format="npy", shard_size=16)
    by_tokens = digram.encode_files(TOK, source, tmp_path / "b", format="npy", shard_tokens=8)
    assert content(tmp_path / "a") == content(tmp_path / "b")
    assert len(by_size.paths) == len(by_tokens.paths) == 5


def test_a_shard_never_has_more_than_the_format_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(formats.FORMATS, "llmc", replace(formats.FORMATS["llmc"], max_tokens=10))
    found = digram.encode_files(
        TOK, ["abc", "abcde", "abcdefghi", "a"], tmp_path / "a", format="llmc"
    )
    assert [len(found.shard(n)) for n in range(3)] == [10, 10, 2]
    assert [len(ids) for ids in found] == [4, 6, 10, 2]
    with pytest.raises(
        digram.LimitExceededError, match=r"corpus\[1\]: the document has 11"
    ) as caught:
        digram.encode_files(TOK, ["a", "abcdefghij"], tmp_path / "b", format="llmc")
    assert caught.value.index == 1


def test_errors_say_where_in_the_source(tmp_path: Path) -> None:
    with pytest.raises(
        digram.InvalidTextError, match=r"^corpus\[5\]: the text has a lone"
    ) as caught:
        digram.encode_files(TOK, ["a"] * 5 + ["b\ud800"], tmp_path / "a", format="npy")
    assert caught.value.index == 1  # in the text, as from `encode`
    for name, text in (("a.txt", "x--y"), ("b.txt", f"x--{END}--")):
        (tmp_path / name).write_text(text)
    source = [tmp_path / "a.txt", tmp_path / "b.txt"]
    place = r"b\.txt, record 2 \(byte 3\): the text holds"
    with pytest.raises(digram.SpecialTokenError, match=place) as special:
        digram.encode_files(
            TOK, source, tmp_path / "b", format="npy", separator="--", special="raise"
        )
    assert special.value.path == str(tmp_path / "b.txt")
    mixed: list[Any] = ["a", "b", 7]
    with pytest.raises(TypeError, match=r"corpus\[2\]"):
        digram.encode_files(TOK, mixed, tmp_path / "c", format="npy")

    def failing() -> Iterator[str]:
        yield from ["a"] * 10
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        digram.encode_files(TOK, failing(), tmp_path / "d", format="npy")


def test_outputs_are_no_inputs(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low")
    digram.encode_files(TOK, tmp_path / "a.txt", tmp_path / "out", format="npy")
    with pytest.raises(digram.CheckpointError, match="is in the folder") as caught:
        digram.encode_files(TOK, tmp_path, tmp_path / "out", format="npy", resume=True)
    assert caught.value.path == str(tmp_path / "out" / "manifest.json")


FULL = """
import resource, sys
import digram
from digram.shards import encoding
from digram.shards.formats import FORMATS
encoding.MIN_BATCH = encoding.BATCH = 4000
tok = digram.train("low lower", max_merges=0, special_tokens=["<|endoftext|>"])
texts = [f"{n * 2654435761 % 2**32:x} low" for n in range(4000)]

def encode(format, folder, **options):
    out = f"{sys.argv[1]}/{folder}-{format}"
    digram.encode_files(tok, texts, out, format=format, shard_tokens=15_000, **options)

for format in FORMATS:
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, -1))
    try:
        encode(format, "full")
    except OSError as error:
        print(error.errno, error.filename, *error.__notes__)
    resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
    encode(format, "full", resume=True)
    encode(format, "whole")
"""


def test_a_full_disk_keeps_what_is_done(tmp_path: Path) -> None:
    """A limit on the size of a file lets what is smaller through: the manifest, some indexes."""
    command = [sys.executable, "-c", FULL, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = done.stdout.splitlines()
    for line, format in zip(told, formats.FORMATS, strict=True):
        number, name, note = line.split(maxsplit=2)
        assert (int(number), Path(name).parent) == (errno.EFBIG, tmp_path / f"full-{format}")
        assert "resume=True" in note
        assert content(tmp_path / f"full-{format}") == content(tmp_path / f"whole-{format}")


@pytest.mark.parametrize(
    ("format", "call"),
    [(format, "write") for format in FORMATS]
    + [("datatrove", call) for call in ("open", "fsync", "replace")],
)
def test_no_space_at_any_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, call: str
) -> None:
    """Each of these calls of a run fails in turn; what goes on after it ends in the same bytes."""
    options: dict[str, Any] = {"corpus": ["low lower"] * 9, "format": format, "shard_tokens": 40}
    digram.encode_files(TOK, folder=tmp_path / "whole", **options)
    real = getattr(os, call)
    for number in itertools.count():
        calls = itertools.count()

        def full(*args: Any, at: int = number, counted: Iterator[int] = calls) -> Any:
            ours = call in ("write", "fsync") or ".digram-" in str(args[0])
            unnamed = getattr(os, "O_TMPFILE", -1)  # a new file, which has no name yet
            ours |= call == "open" and args[1] & unnamed == unnamed
            if ours and next(counted) == at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*args)

        out = tmp_path / str(number)
        error = None
        with monkeypatch.context() as patch:
            patch.setattr(os, call, full)
            try:
                digram.encode_files(TOK, folder=out, **options)
            except OSError as raised:
                error = raised
        if error is None:
            break
        assert error.errno == errno.ENOSPC
        assert "resume=True" in " ".join(error.__notes__)
        assert Path(error.filename).parent in (out, tmp_path)
        digram.encode_files(TOK, folder=out, **options, resume=True)
        assert content(out) == content(tmp_path / "whole")
    assert number >= 3


def test_ctrl_c(tmp_path: Path) -> None:
    """In the middle of endless texts, and of a source that gives none."""

    def endless() -> Iterator[str]:
        ends = time.perf_counter() + 30  # or a failure would fill the disk
        while time.perf_counter() < ends:
            yield "low lower newest " * 100

    released = threading.Event()

    def stuck() -> Iterator[str]:
        yield "low"
        released.wait(60)

    for number, source in enumerate((endless, stuck)):
        out = tmp_path / str(number)
        to = threading.main_thread().ident
        assert to is not None
        timer = threading.Timer(0.3, signal.pthread_kill, [to, signal.SIGINT])
        began = time.perf_counter()
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            digram.encode_files(TOK, source(), out, format="megatron", shard_tokens=1_000_000)
        assert time.perf_counter() - began < 20  # 0.2 are promised, on a machine with time
        deadline = time.perf_counter() + 5
        while [*out.glob("*.tmp")] and time.perf_counter() < deadline:
            time.sleep(0.01)  # the thread that writes ends with what it is at
        assert not [*out.glob("*.tmp")]
    released.set()
    assert TOK.decode(TOK.encode("low")) == "low"


def test_ctrl_c_leaves_a_callers_iterator_alone(tmp_path: Path) -> None:
    """Also while what is done is read again."""
    taken = 0

    def slow(delay: float) -> Generator[str, None, None]:
        nonlocal taken
        for number in range(1000):
            time.sleep(delay)
            taken = number
            yield f"low {number}"

    def broken() -> Iterator[str]:
        yield from itertools.islice(slow(0), 150)
        raise ZeroDivisionError

    options: dict[str, Any] = {"format": "megatron", "shard_tokens": 5}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "MIN_BATCH", 1000)
        patch.setattr(encoding, "BATCH", 1000)
        with pytest.raises(ZeroDivisionError):
            digram.encode_files(TOK, broken(), tmp_path / "out", **options)
    again = slow(0.02)
    to = threading.main_thread().ident
    assert to is not None
    timer = threading.Timer(0.15, signal.pthread_kill, [to, signal.SIGINT])
    began = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        digram.encode_files(TOK, again, tmp_path / "out", **options, resume=True)
    assert time.perf_counter() - began < 10  # 0.2 are promised, on a machine with time
    then = taken
    time.sleep(0.1)
    assert then == taken < 100
    assert not {one.name for one in threading.enumerate()} & {"digram-reader", "digram-writes"}
    again.close()
    digram.encode_files(TOK, slow(0), tmp_path / "out", **options, resume=True)
    digram.encode_files(TOK, slow(0), tmp_path / "whole", **options)
    assert content(tmp_path / "out") == content(tmp_path / "whole")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_while_files_are_written(tmp_path: Path) -> None:
    """The child cannot go on with the run, harms nothing of it, and does not hold the folder."""
    out = tmp_path / "out"
    readable, writable = os.pipe()
    parent, child = os.getpid(), 0

    def texts() -> Iterator[str]:
        nonlocal child
        for number in range(50):
            if number == 25:
                child = os.fork()
            yield f"low {number}"

    options: dict[str, Any] = {"format": "megatron", "shard_tokens": 50}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "MIN_BATCH", 100)
        patch.setattr(encoding, "BATCH", 100)
        try:
            found = digram.encode_files(TOK, texts(), out, **options)
        except BaseException as error:
            if os.getpid() == parent:
                raise
            os.write(writable, str(error).encode())
            signal.pause()
        finally:
            if os.getpid() != parent:
                os._exit(1)
    try:
        assert select.select([readable], [], [], 10)[0], "the child hangs"
        assert os.read(readable, 1000).startswith(b"the process was forked during")
        assert [TOK.decode(ids[:-1]) for ids in found] == [f"low {n}" for n in range(50)]
        again = (f"low {n}" for n in range(50))  # the child lives, and the folder is free
        assert len(digram.encode_files(TOK, again, out, **options, resume=True)) == 50
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(readable)
        os.close(writable)


def test_two_runs_in_one_folder(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> Iterator[str]:
        yield "low"
        begun.set()
        go_on.wait(10)

    first = threading.Thread(
        target=digram.encode_files, args=(TOK, slow(), tmp_path / "out"), kwargs={"format": "npy"}
    )
    first.start()
    begun.wait(10)
    with pytest.raises(digram.CheckpointError, match="another run writes"):
        digram.encode_files(TOK, ["low"], tmp_path / "out", format="npy", resume=True)
    go_on.set()
    first.join()
    assert len(digram.read_tokens(tmp_path / "out")) == 1


def test_an_error_of_the_writer_reaches_the_caller() -> None:
    def fail(_: int) -> None:
        raise ZeroDivisionError

    closed = list[int]()

    def put_all() -> None:
        with pipeline.Behind(fail, lambda: None, lambda: closed.append(1)) as behind:
            while True:
                behind.put(1)

    with pytest.raises(ZeroDivisionError):
        put_all()
    assert closed == [1]


@pytest.mark.parametrize("kind", ["file", "packed", "paths", "texts", "table", "iterator"])
def test_progress(tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str) -> None:
    """It is that of the disk for files, and of the text for texts, from 0 to all."""
    data = b"low\n" * 5_000
    name = "a.txt.gz" if kind == "packed" else "a.txt"
    path = tmp_path / name
    path.write_bytes(gzip.compress(os.urandom(30_000).hex().encode()) if name != "a.txt" else data)
    texts = data.decode().splitlines()
    source: Any = {
        "paths": [path],
        "texts": texts,
        "table": digram.table(pyarrow.table({"text": texts})),
        "iterator": iter(texts),
    }.get(kind, path)
    with pytest.MonkeyPatch.context() as patch:
        moved = list[int]()
        totals = list[int | None]()

        @contextlib.contextmanager
        def bar(_: str, total: int | None, **_more: Any) -> Iterator[Callable[[int], None]]:
            totals.append(total)
            yield moved.append

        patch.setattr(encoding, "progress_bar", bar)
        digram.encode_files(TOK, source, tmp_path / "bar", format="npy", separator="\n")
    size = path.stat().st_size if kind in ("file", "packed", "paths") else 15_000
    assert totals == [None if kind in ("table", "iterator") else size]
    assert sum(moved) == size
    digram.encode_files(TOK, path, tmp_path / "out", format="npy", separator="\n", progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "Encoding" in err
    size = path.stat().st_size
    assert f"{amount(size)} of {amount(size)}" in err


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("end", [None, 269])
def test_ids_are_gathered_from_the_parts_of_threads(threads: int, end: int | None) -> None:
    """Long documents are cut among threads, empty ones have no part, and some are unfinished."""
    draw = random.Random(threads)
    words = ["low", " lower", " newest", "\n", "é", " "]
    sizes = [0, 1, 0, 70_000, 3, 200_000, 0, 0, 40, 5, 90_000, 0]
    for dtype in ("uint16", "int32", "uint32", "int64"):
        draw.shuffle(sizes)
        texts = ["".join(draw.choices(words, k=size)) for size in sizes]
        unfinished = sorted(draw.sample(range(len(texts)), draw.randrange(len(texts))))
        held = TOK._encode_documents(texts, unfinished, None, threads)
        ids, ends = held.gather(end, dtype)
        expected: list[int] = []
        borders = []
        for number, text in enumerate(texts):
            expected += TOK.encode(text)
            if number not in unfinished:
                expected += [] if end is None else [end]
                borders.append(len(expected))
        assert ids.dtype == dtype
        assert ids.tolist() == expected
        assert ends.tolist() == borders
        with pytest.raises(digram.InternalError, match="already been gathered"):
            held.gather(end, dtype)
    with pytest.raises(digram.OptionError, match="float32"):
        TOK._encode_documents([], []).gather(None, "float32")
