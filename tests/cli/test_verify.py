"""`digram verify`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

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
    both = ("verify", "-t", tok_path, "-t", small)
    for more in ((), ("--against", "tokenizers")):
        done = run(*both, *more, "--fuzz", "500", "--seed", "3")
        assert done.exit_code == 1, done.output
        assert done.stdout.startswith("Different: ids, found after ")
        assert max(map(len, done.stdout.splitlines())) < 80 + 2 * len(small)
    corpus = tmp_path / "a.txt"
    corpus.write_text("the cat")
    done = run(*both, corpus, "--fuzz", "0", "--json")
    told = json.loads(done.stdout)
    assert (told["texts"], done.exit_code) == (1, 0 if told["equal"] else 1)
    assert run(*both, "-", "--fuzz", "0", "--json", input="the cat").exit_code == done.exit_code


def test_wrong_usage(run: Run, tok_path: str, tmp_path: Path) -> None:
    for arguments, code, told in (
        (["-t", tok_path], 2, "verify needs two tokenizers, not 1; give each with -t, or one"),
        (["-t", tok_path] * 3, 2, "verify needs two tokenizers, not 3"),
        (["-t", tok_path, "-t", "none.json"], 4, "-t none.json: there is no such file or folder."),
        (["-t", tok_path, "-t", "none", "--against", "tokenizers"], 4, "none: there is no such"),
        (["-t", tok_path, "--against", "tiktoken"], 2, "stores no pattern, and no encoding"),
        (
            ["-t", tok_path, "-t", __file__, "--against", "tokenizers"],
            3,
            "tokenizers does not load",
        ),
        (["-t", tok_path, "-t", tok_path, "--fuzz", "-1"], 2, "--fuzz -1 is not at least 0."),
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
