"""What the verbs read a corpus from: files of every kind, stdin, and records that hold no text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest
from backports import zstd
from click.testing import Result
from pyarrow import parquet

import digram

Run = Callable[..., Result]
TEXTS = [f"the cat {number} sat on the mat\n" for number in range(50)]
LINES = "".join(json.dumps({"meta": {"body": text}}) + "\n" for text in TEXTS).encode()
PACKED = zstd.compress("|".join(TEXTS).encode())
FIELD = ["--field", "meta.body"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of records."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    (folder / "a.jsonl.zst").write_bytes(zstd.compress(LINES))
    table = pyarrow.table({"meta": [{"body": text} for text in TEXTS]})
    parquet.write_table(table, folder / "b.parquet")
    return folder


def test_a_folder_of_records(run: Run, folder: Path, tmp_path: Path) -> None:
    result = run("train", folder, *FIELD, "--vocab-size", "270", "-o", "tok.json")
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    assert "in 100 documents" in result.stderr
    assert digram.load(tmp_path / "tok.json") == digram.train(TEXTS * 2, vocab_size=270)
    made = run("counts", "make", folder, *FIELD, "-o", "counts.arrow")
    assert made.exit_code == 0, made.stderr
    counts = digram.Counts.load(tmp_path / "counts.arrow")
    assert counts == digram.count_pretokens(TEXTS * 2)


def test_a_sample_of_records(run: Run, tmp_path: Path) -> None:
    texts = [" ".join(str(n * n) for n in range(at, at + 400)) for at in range(0, 400_000, 400)]
    (tmp_path / "all.txt").write_text("\x1e".join(texts))
    lines = "".join(json.dumps({"meta": {"body": text}}) + "\n" for text in texts)
    (tmp_path / "all.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    sample = ["estimate-training", "1 GB", "--vocab-size", "500", "--json", "--sample"]
    estimated = run(*sample, tmp_path / "all.jsonl.gz", *FIELD)
    expected = run(*sample, tmp_path / "all.txt", "--separator", r"\x1e")
    assert estimated.exit_code == expected.exit_code == 0, estimated.stderr
    assert json.loads(estimated.stdout) == json.loads(expected.stdout)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (LINES, ["--source-format", "jsonl", *FIELD]),
        (gzip.compress(LINES), ["--source-format", "jsonl.gz", *FIELD]),
        (
            zstd.compress("|".join(TEXTS).encode()),
            ["--source-format", "text.zst", "--separator", "|"],
        ),
    ],
)
def test_stdin_and_files_in_their_order(
    run: Run, folder: Path, tmp_path: Path, data: bytes, told: list[str]
) -> None:
    options = [*told, "--ties", "first_seen", "--max-merges", "20", "-o", "tok.json"]
    result = run("train", "-", *options, input=data)
    assert result.exit_code == 0, result.stderr
    assert "in 50 documents" in result.stderr
    expected = digram.train(TEXTS, max_merges=20, ties="first_seen")
    assert digram.load(tmp_path / "tok.json") == expected
    if told[1] == "jsonl":
        plain = tmp_path / "more.data"
        plain.write_bytes(LINES.replace(b"cat", b"dog"))
        assert run("train", plain, "-", *options, input=data).exit_code == 0
        texts = [text.replace("cat", "dog") for text in TEXTS] + TEXTS
        expected = digram.train(texts, max_merges=20, ties="first_seen")
        assert digram.load(tmp_path / "tok.json") == expected


def test_encode_gives_a_line_for_each_record(
    run: Run, folder: Path, tok: digram.Tokenizer, tok_path: str
) -> None:
    expected = "".join(" ".join(map(str, tok.encode(text))) + "\n" for text in TEXTS)
    for told in (
        [folder / "a.jsonl.zst", *FIELD],
        [folder / "b.parquet", *FIELD],
        ["-", "--source-format", "jsonl", *FIELD],
    ):
        result = run("encode", "-t", tok_path, *told, input=LINES)
        assert (result.exit_code, result.stdout) == (0, expected), result.stderr
    whole = run("encode", "-t", tok_path, "-", "--separator", "|", input="|".join(TEXTS).encode())
    assert whole.stdout == expected
    # Text is unpacked, and else stays what it was: one text.
    packed = folder.parent / "a.txt.gz"
    packed.write_bytes(gzip.compress(TEXTS[0].encode()))
    for given in ([packed], ["-", "--source-format", "text.gz"]):
        result = run("encode", "-t", tok_path, *given, input=packed.read_bytes())
        assert result.stdout == expected.splitlines(keepends=True)[0]
    counted = run("count", "-t", tok_path, packed)
    assert counted.stdout.split()[:2] == [str(tok.count(TEXTS[0])), str(len(TEXTS[0]))]


def test_records_without_a_text(run: Run, folder: Path, tok_path: str) -> None:
    bad = folder / "c.jsonl"
    bad.write_bytes(LINES + b'{"meta": {}}\n' + LINES)
    options = [*FIELD, "--max-merges", "3", "-o", "tok.json"]
    refused = run("train", folder, *options)
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert refused.stderr == (
        f'Error: {bad}, record 51 (byte {len(LINES)}): there is no field "meta.body". Nothing was '
        "counted from this file. Pass --on-error skip to skip and count bad records.\n"
    )
    assert not Path("tok.json").exists()
    warning = (
        f"Warning: 1 record was skipped: {bad}, record 51 (byte {len(LINES)}): there is no field "
        '"meta.body".\n'
    )
    # Also where nothing else is said.
    skipped = run("train", folder, *options, "--on-error", "skip", "--quiet")
    assert (skipped.exit_code, skipped.stdout, skipped.stderr) == (0, "", warning)
    encoded = run("encode", "-t", tok_path, bad, *FIELD, "--on-error", "skip")
    assert (encoded.stderr, encoded.stdout.count("\n")) == (warning, 100)


def test_packed_text_that_looks_binary_is_warned_of(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.bin.gz"
    path.write_bytes(gzip.compress(b"\x7fELF\0\0"))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"text"))
    result = run("train", tmp_path, "--max-merges", "1", "-o", tmp_path / "tok.json")
    assert f"Warning: {path} looks binary: it contains NUL bytes." in result.stderr
    assert result.stderr.count("Warning") == 1
