"""`digram encode -o` and `digram decode` of what it wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

import digram
from digram.cli import training_files
from digram.sinks import FORMATS

Run = Callable[..., Result]
Process = Callable[..., object]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two files, of three documents with `--`."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"the cat--sat\n")
    (folder / "b.txt").write_bytes(b"\xff there")
    return folder


def test_formats_are_those_of_the_library() -> None:
    assert tuple(FORMATS) == training_files.FORMATS


@pytest.mark.parametrize("format", FORMATS)
def test_there_and_back(run: Run, tok_path: str, corpus: Path, tmp_path: Path, format: str) -> None:
    out = tmp_path / "out"
    arguments = ["encode", "-t", tok_path, corpus, "-o", out, "--format", format]
    done = run(*arguments, "--separator", "--", "--end-of-text", "<|end|>")
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    assert "tokens of 3 documents, in 1 shard, in " in done.stderr
    assert done.stderr.endswith(f"Saved {out}\n")
    back = run("decode", "-t", tok_path, out, "--lines")
    assert back.stdout_bytes == b"the cat<|end|>\nsat\n<|end|>\n\xff there<|end|>\n"
    some = run("decode", "-t", tok_path, out, "--documents", "1:")
    assert some.stdout_bytes == b"sat\n<|end|>\xff there<|end|>"
    file = next(
        path for path in sorted(out.glob("tokens-*")) if path.suffix == FORMATS[format].suffix
    )
    one = run("decode", "-t", tok_path, file, "--documents", "2")
    assert one.stdout_bytes == b"\xff there<|end|>"


def test_stdin_and_json(run: Run, tok: digram.Tokenizer, tok_path: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["encode", "-t", tok_path, "-o", out, "--format", "npy", "--end-of-text", "none"]
    done = run(*arguments, "--separator", r"\n", "--json", "-q", input=b"the cat\nsat\n")
    said = json.loads(done.stdout)
    assert said.pop("seconds") >= 0
    ids = tok.encode("the cat") + tok.encode("sat")
    assert said == {
        "path": str(out),
        "format": "npy",
        "dtype": "uint16",
        "documents": 2,
        "tokens": len(ids),
        "shards": 1,
    }
    assert done.stderr == ""
    assert np.load(out / "tokens-000000.npy").tolist() == ids


def test_resume(run: Run, tok_path: str, corpus: Path, tmp_path: Path) -> None:
    arguments = ["encode", "-t", tok_path, corpus, "-o", tmp_path / "out", "--format", "llmc"]
    arguments += ["--end-of-text", "<|end|>"]
    assert run(*arguments, "--shard-size", "10").exit_code == 0
    again = run(*arguments, "--shard-size", "10")
    assert (again.exit_code, again.stdout) == (3, "")
    assert "Pass --resume to go on with it" in again.stderr
    assert run(*arguments, "--shard-size", "10", "--resume").exit_code == 0
    other = run(*arguments, "--shard-tokens", "9", "--resume")
    assert other.exit_code == 3
    assert "another value of --shard-tokens: 5, not 9" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "out"], "say which files with --format: megatron, "),
        (["--format", "npy"], "--format is for files; say where with -o FOLDER."),
        (["--shard-tokens", "7"], "--shard-tokens is for files"),
        (["--resume"], "--resume is for files"),
        (["-o", "out", "--format", "npy", "--lines"], "--lines is for ids on stdout"),
        (["-o", "out", "--format", "npy", "--raw", "u16"], "--raw is for ids on stdout"),
        (["-o", "out", "--format", "bin"], "'bin' is not one of 'megatron'"),
        (["-o", "out", "--format", "npy"], "Name one with --end-of-text, or pass --end-of-text"),
        (
            ["-o", "out", "--format", "npy", "--end-of-text", "</s>"],
            "--end-of-text '</s>' is no special token of this tokenizer.",
        ),
        (
            ["-o", "out", "--format", "npy", "--end-of-text", "none", "--dtype", "u8"],
            "--dtype u8 is none that --format npy can have.",
        ),
    ],
)
def test_wrong_usage(run: Run, tok_path: str, arguments: list[str], message: str) -> None:
    done = run("encode", "-t", tok_path, *arguments, input=b"text")
    assert (done.exit_code, done.stdout) == (2, ""), done.stderr
    assert message in " ".join(done.stderr.split())
    assert not Path("out").exists()


@pytest.mark.parametrize("wrong", ["x", "1:x", "-1", "1:2:3", ":", ""])
def test_ranges(run: Run, tok_path: str, corpus: Path, tmp_path: Path, wrong: str) -> None:
    done = run("decode", "-t", tok_path, corpus, "--documents", wrong)
    assert done.exit_code == (4 if wrong == ":" else 2)
