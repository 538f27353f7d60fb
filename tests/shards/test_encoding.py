"""What is written is what `encode` gives, in order, in shards that depend on the texts alone."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import os
import random
from collections.abc import Callable, Iterator
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
from digram.shards import encoding, formats

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
    source = digram.files(*paths, separator="\n")
    found = []
    for threads, batch in ((1, 1), (2, 300), (7, 1 << 20)):
        monkeypatch.setattr(encoding, "MIN_BATCH", batch)
        monkeypatch.setattr(encoding, "BATCH", batch)
        out = tmp_path / f"out-{threads}"
        digram.encode_files(TOK, source, out, format=format, threads=threads, shard_tokens=200)
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
        out = tmp_path / f"whole {number}"
        uncut = digram.encode_files(TOK, source, out, format="npy")
        assert [TOK.decode(ids[:-1]) for ids in uncut] == ["one--two", "three"]
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
        ({"special": "maybe"}, "maybe"),
    ],
)
def test_options_that_are_wrong(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        digram.encode_files(TOK, ["a"], tmp_path / "out", **{"format": "npy", **options})
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("special", [None, 5])
def test_special_is_a_word_or_a_set(tmp_path: Path, special: Any) -> None:
    told = f'special is "text", "parse", "raise" or a set of str, not {special}'
    with pytest.raises(TypeError, match=told):
        digram.encode_files(TOK, ["a"], tmp_path / "out", format="npy", special=special)
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
    source = digram.files(tmp_path / "a.txt", tmp_path / "b.txt", separator="--")
    place = r"b\.txt, record 2 \(byte 3\): the text holds"
    with pytest.raises(digram.SpecialTokenError, match=place) as special:
        digram.encode_files(TOK, source, tmp_path / "b", format="npy", special="raise")
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


@pytest.mark.parametrize("kind", ["file", "packed", "paths", "texts", "table", "iterator"])
def test_progress(tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str) -> None:
    """It is that of the disk for files, and of the text for texts, from 0 to all."""
    data = b"low\n" * 5_000
    name = "a.txt.gz" if kind == "packed" else "a.txt"
    path = tmp_path / name
    path.write_bytes(gzip.compress(os.urandom(30_000).hex().encode()) if name != "a.txt" else data)
    texts = data.decode().splitlines()
    lines = digram.files(path, separator="\n")
    source: Any = {
        "paths": [path],
        "texts": texts,
        "table": digram.table(pyarrow.table({"text": texts})),
        "iterator": iter(texts),
    }.get(kind, lines)
    with pytest.MonkeyPatch.context() as patch:
        moved = list[int]()
        totals = list[int | None]()

        @contextlib.contextmanager
        def bar(_: str, total: int | None, **_more: Any) -> Iterator[Callable[[int], None]]:
            totals.append(total)
            yield moved.append

        patch.setattr(encoding, "progress_bar", bar)
        digram.encode_files(TOK, source, tmp_path / "bar", format="npy")
    size = path.stat().st_size if kind in ("file", "packed", "paths") else 15_000
    assert totals == [None if kind in ("table", "iterator") else size]
    assert sum(moved) == size
    digram.encode_files(TOK, lines, tmp_path / "out", format="npy", progress=True)
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
