"""`digram verify`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import digram
from digram.analysis.verification import peers
from digram.cli.verify import LIBRARIES

Run = Callable[..., Result]


def test_a_file_against_another_library(run: Run, tok_path: str) -> None:
    done = run("verify", "-t", tok_path, "--against", "tokenizers", "--fuzz", "0.3k", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["equal"], told["texts"], told["counterexample"]) == (True, 300, None)
    assert told["names"][0] == f"digram, {tok_path}"
    assert told["names"][1].startswith("tokenizers ")


def test_two_files(run: Run, tok: digram.Tokenizer, tok_path: str, tmp_path: Path) -> None:
    small = str(tmp_path / "small.json")
    digram.shrink(tok, 290).save(small)
    both = ("verify", "-t", tok_path, "--against", small)
    for command in (both, (*both[:-1], f"tokenizers={small}")):
        done = run(*command, "--fuzz", "500", "--seed", "3")
        assert done.exit_code == 1, done.output
        assert done.stdout.startswith("Different: ids, found after ")
        assert max(map(len, done.stdout.splitlines())) < 80 + 2 * len(small)
    corpus = tmp_path / "a.txt"
    corpus.write_text("the cat")
    done = run(*both, corpus, "--fuzz", "0", "--json")
    told = json.loads(done.stdout)
    assert (told["texts"], done.exit_code) == (1, 0 if told["equal"] else 1)
    assert run(*both, "-", "--fuzz", "0", "--json", input="the cat").exit_code == done.exit_code


def test_names_and_files_that_need_an_encoding(
    run: Run,
    shared_data: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    published = shared_data("vocabs/cl100k_base.tiktoken")
    monkeypatch.setenv("DIGRAM_TOKENIZERS", str(published.parent))
    for name in ("gpt-4", "cl100k_base", str(published)):
        done = run("verify", "-t", name, "--against", "tiktoken", "--fuzz", "50")
        assert done.exit_code == 0, done.output
        assert ", cl100k_base, " in done.stdout
    copy = tmp_path / "copy.tiktoken"
    copy.write_bytes(published.read_bytes().replace(b"\n", b"\r\n"))
    refused = run("verify", "-t", copy, "--pretokenizer", "cl100k", "--against", "tiktoken")
    assert "Name it, as in --encoding cl100k_base: one of gpt2," in refused.stderr
    done = run("verify", "-t", f"{copy}:cl100k_base", "--against", "tiktoken", "--fuzz", "50")
    assert done.exit_code == 0, done.output


def test_a_vocab_txt_against_another_library(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    bert = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "low", "##er", "!", "E"]
    path.write_text("".join(f"{token}\n" for token in bert))
    for encoding in ("bert-uncased", "bert-cased"):
        named = ("verify", "-t", path, "--encoding", encoding, "--against", "tokenizers")
        done = run(*named, "--fuzz", "300")
        assert done.exit_code == 0, done.output
    both = ("-t", f"{path}:bert-uncased", "--against", f"tokenizers={path}:bert-cased")
    assert run("verify", *both, "--fuzz", "300").exit_code == 1
    refused = run("verify", "-t", f"{path}:bert-cased", "--against", f"tokenizers={path}")
    assert refused.exit_code == 2
    assert "no encoding was named. Pass --encoding bert-uncased or" in refused.stderr


def test_wrong_usage(run: Run, tok_path: str, tmp_path: Path) -> None:
    for arguments, code, told in (
        (["-t", tok_path], 2, "Name the other tokenizer with --against, as in -t old.json --aga"),
        (["-t", tok_path] * 2 + ["--against", tok_path], 2, "-t is given 2 times. Name the other"),
        (["-t", tok_path, "--against", "none.json"], 4, "--against none.json: there is no such"),
        (["-t", tok_path, "--against", "tokenizers=none"], 4, "none: there is no such"),
        (["-t", tok_path, "--against", "tokenizers="], 2, "is not LIBRARY=PATH."),
        (["-t", tok_path, "--against", "tiktoken"], 2, "tiktoken reads only .tiktoken files"),
        (
            ["-t", tok_path, "--against", f"tokenizers={__file__}"],
            3,
            "tokenizers does not load",
        ),
        (
            ["-t", tok_path, "--against", tok_path, "--fuzz", "-1"],
            2,
            "--fuzz -1 is not at least 0.",
        ),
    ):
        done = run("verify", *arguments)
        assert (done.exit_code, done.stdout) == (code, ""), arguments
        assert told in done.stderr, arguments
    assert set(LIBRARIES) == set(peers.LIBRARIES)


def test_ctrl_c_stops_it(tok_path: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "digram", "verify", "-t", tok_path, "--against", "tokenizers"]
    with subprocess.Popen(
        [*command, "--fuzz", "100M"], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        time.sleep(3)
        running.send_signal(signal.SIGINT)
        out, told = running.communicate(timeout=60)
    assert (running.returncode, out, told) == (130, b"", b"Error: interrupted.\n")
