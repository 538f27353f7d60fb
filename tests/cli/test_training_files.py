"""`digram encode -o` and `digram decode` of what it wrote."""

from __future__ import annotations

import gzip
import json
import signal
import string
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

import digram
from digram.shards.formats import FORMATS

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
        "skipped": 0,
        "shards": 1,
    }
    assert done.stderr == ""
    assert np.load(out / "tokens-000000.npy").tolist() == ids


def test_binary_files_are_encoded_with_a_warning(run: Run, tok_path: str, tmp_path: Path) -> None:
    (tmp_path / "odd.bin").write_bytes(b"\0\1")
    arguments = ["-o", tmp_path / "out", "--format", "npy", "--end-of-text", "none", "-q"]
    done = run("encode", "-t", tok_path, tmp_path / "odd.bin", *arguments)
    assert done.exit_code == 0
    assert "looks binary: it contains NUL bytes.\n`digram encode` reads these" in done.stderr


def test_a_file_of_a_run_is_decoded_by_its_folder(
    run: Run, tok_path: str, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    arguments = ["-o", out, "--format", "nanogpt", "--end-of-text", "<|end|>"]
    assert run("encode", "-t", tok_path, corpus, *arguments).exit_code == 0
    done = run("decode", "-t", tok_path, out / "tokens-000000.bin")
    assert done.exit_code == 3
    assert "For a file of digram encode -o, pass its folder;" in done.stderr
    text = run("decode", "-t", tok_path, out).stdout_bytes
    raw = run("decode", "-t", tok_path, out / "tokens-000000.bin", "--raw", "u16")
    assert (raw.exit_code, raw.stdout_bytes) == (0, text)


def test_files_beside_stdin(run: Run, tok_path: str, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["encode", "-t", tok_path, "--format", "dolma", "--end-of-text", "none", "--json"]
    done = run(*arguments, corpus, "-", "-o", out, "-q", input=b"from stdin")
    assert json.loads(done.stdout)["documents"] == 3
    inputs = json.loads((out / "manifest.json").read_bytes())["inputs"]
    assert [one.get("path") for one in inputs] == [
        str(corpus / "a.txt"),
        str(corpus / "b.txt"),
        None,
    ]
    assert [one.get("bytes") for one in inputs] == [13, 7, None]
    assert all(len(one["blake3"]) == 64 for one in inputs)
    rows = gzip.decompress((out / "tokens-000000.csv.gz").read_bytes()).decode().splitlines()
    assert [row.split(",")[3] for row in rows] == [*map(str, sorted(corpus.iterdir())), "stdin"]
    inside = run(*arguments, corpus, "-", "-o", corpus / "out", input=b"from stdin")
    assert inside.exit_code == 3
    assert "shards would be written to" in inside.stderr
    dotted = run(*arguments, "-", "-o", tmp_path / "b", "--field", "a.", input=b"")
    assert dotted.exit_code == run(*arguments, corpus, "-o", out, "--field", "a.").exit_code == 2


def test_skipped_records_are_told(run: Run, tok_path: str, tmp_path: Path) -> None:
    arguments = ["encode", "-t", tok_path, "-o", tmp_path / "out", "--format", "npy", "--json"]
    arguments += ["--end-of-text", "none", "--source-format", "jsonl", "--on-error", "skip"]
    done = run(*arguments, input=b'{"text": "the cat"}\n{}\n{"text": "sat"}\n')
    said = json.loads(done.stdout)
    assert (done.exit_code, said["documents"], said["skipped"]) == (0, 2, 1)
    assert "Warning: 1 record was skipped: stdin, record 2 (byte 20)" in done.stderr


def test_ctrl_c_while_stdin_is_quiet(tok_path: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "digram", "encode", "-t", tok_path, "-", "-o", str(out)]
    command += ["--format", "npy", "--separator", r"\n", "--end-of-text", "none"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"the cat sat\n" * 16_000)
        process.stdin.flush()
        until = time.monotonic() + 20
        while not (out / "manifest.json").exists() and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        process.wait(20)
        took = time.monotonic() - begun
        assert (process.returncode, process.stderr.read()) == (130, b"Error: interrupted.\n")
        process.stdin.close()
    assert took < 5  # with the end of the interpreter, on a busy machine
    assert [path.name for path in out.iterdir()] == ["manifest.json"]


def test_resume(run: Run, tok_path: str, corpus: Path, tmp_path: Path) -> None:
    arguments = ["encode", "-t", tok_path, corpus, "-o", tmp_path / "out", "--format", "llmc"]
    arguments += ["--end-of-text", "<|end|>"]
    assert run(*arguments, "--shard-size", "10").exit_code == 0
    again = run(*arguments, "--shard-size", "10")
    assert (again.exit_code, again.stdout) == (3, "")
    assert "the run in this folder is finished already. Pass another" in again.stderr
    assert run(*arguments, "--shard-size", "10", "--resume").exit_code == 0
    other = run(*arguments, "--shard-tokens", "9", "--resume")
    assert other.exit_code == 3
    assert "another value of --shard-tokens: 5, not 9" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "out"], "give the format of the files with --format: megatron, "),
        (["--format", "npy"], "--format needs -o FOLDER."),
        (["--shard-tokens", "7"], "--shard-tokens needs -o FOLDER"),
        (["--shard-tokens", "0"], "--shard-tokens needs -o FOLDER"),
        (["--resume"], "--resume needs -o FOLDER"),
        (["-o", "out", "--format", "npy", "--lines"], "--lines applies to ids on stdout"),
        (["-o", "out", "--format", "npy", "--raw", "u16"], "--raw applies to ids on stdout"),
        (["-o", "out", "--format", "bin"], "'bin' is not one of 'megatron'"),
        (["-o", "out", "--format", "npy"], "Pass one as --end-of-text, or --end-of-text"),
        (
            ["-o", "out", "--format", "npy", "--end-of-text", "</s>"],
            "--end-of-text '</s>' is not a special token of this tokenizer.",
        ),
        (
            ["-o", "out", "--format", "npy", "--end-of-text", "none", "--dtype", "u8"],
            "--format npy does not support --dtype u8.",
        ),
    ],
)
def test_wrong_usage(run: Run, tok_path: str, arguments: list[str], message: str) -> None:
    done = run("encode", "-t", tok_path, *arguments, input=b"text")
    assert (done.exit_code, done.stdout) == (2, ""), done.stderr
    assert message in " ".join(done.stderr.split())
    assert not Path("out").exists()


@pytest.mark.parametrize("wrong", ["x", "1:x", "-1", "1:2:3", "", "2:2", "3:1", ":0"])
def test_ranges(run: Run, tok_path: str, corpus: Path, tmp_path: Path, wrong: str) -> None:
    done = run("decode", "-t", tok_path, corpus, "--documents", wrong)
    assert done.exit_code == 2
    every = run("decode", "-t", tok_path, corpus, "--documents", ":")
    assert (every.exit_code, every.stdout) == (4, "")  # which is well, but these hold no ids


def test_documents_that_are_not_there(run: Run, tok_path: str, tmp_path: Path) -> None:
    arguments = ["encode", "-t", tok_path, "--format", "npy", "--end-of-text", "<|end|>"]
    arguments += ["--separator", r"\n", "-o"]
    assert run(*arguments, tmp_path / "out", input=b"the\ncat\nsat\n").exit_code == 0
    for wrong in ("3", "99", "3:", "7:9"):
        done = run("decode", "-t", tok_path, tmp_path / "out", "--documents", wrong)
        assert (done.exit_code, done.stdout) == (2, "")
        assert f"there is no document {wrong[:2].strip(':')}: they are 0 to 2." in done.stderr
    some = run("decode", "-t", tok_path, tmp_path / "out", "--documents", "2:99")
    assert some.stdout == "sat<|end|>"
    assert run(*arguments, tmp_path / "none", input=b"").exit_code == 0
    nothing = run("decode", "-t", tok_path, tmp_path / "none", "--documents", "0:")
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    done = run("decode", "-t", tok_path, tmp_path / "none", "--documents", "0")
    assert (done.exit_code, "there is no document 0: there are none." in done.stderr) == (2, True)


def test_ids_of_another_tokenizer(run: Run, tok_path: str, tmp_path: Path) -> None:
    """With the same number of tokens, every id is one of its own, and the text another."""
    text = string.ascii_letters * 2
    other = digram.train(text, vocab_size=300, pretokenizer=None, special_tokens=["<|end|>"])
    assert len(other) == len(digram.load(tok_path))
    other.save(tmp_path / "other.json")
    out = tmp_path / "out"
    arguments = ["encode", "-t", tok_path, "--format", "npy", "--end-of-text", "<|end|>"]
    done = run(*arguments, "-o", out, input=b"the cat")
    assert done.exit_code == 0, done.stderr
    shard = out / "tokens-000000.npy"
    for given in ([out], [out, "--documents", "0"], [shard, "--documents", "0"]):
        back = run("decode", "-t", tmp_path / "other.json", *given)
        assert (back.exit_code, back.stdout) == (3, "")
        assert f"of the tokenizer with digest {digram.load(tok_path).digest[:16]}" in back.stderr
    (out / "manifest.json").unlink()
    assert run("decode", "-t", tmp_path / "other.json", out).exit_code == 0  # nobody can tell


def test_texts_that_hold_the_end_of_documents(run: Run, tok_path: str, tmp_path: Path) -> None:
    """Their text is that of all ids; which of them are a document, a bare format does not tell."""
    arguments = ["encode", "-t", tok_path, "--format", "npy", "--end-of-text", "<|end|>"]
    assert (
        run(*arguments, "--special", "parse", "-o", tmp_path, input=b"the<|end|>cat").exit_code == 0
    )
    assert run("decode", "-t", tok_path, tmp_path).stdout == "the<|end|>cat<|end|>"
    for apart in (["--lines"], ["--documents", "0"]):
        done = run("decode", "-t", tok_path, tmp_path, *apart)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "its documents cannot be separated" in done.stderr


def test_a_damaged_manifest(run: Run, tok_path: str, tmp_path: Path) -> None:
    arguments = ["encode", "-t", tok_path, "--format", "npy", "--end-of-text", "none"]
    assert run(*arguments, "-o", tmp_path, input=b"the cat").exit_code == 0
    path = tmp_path / "manifest.json"
    said = json.loads(path.read_bytes())
    said["shards"][0]["files"] = []
    path.write_text(json.dumps(said))
    done = run("decode", "-t", tok_path, tmp_path)
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.startswith(f"Error: {path}: a shard of npy has a .npy, but one here has no")
