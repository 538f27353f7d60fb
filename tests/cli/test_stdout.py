"""Every verb with nobody at the other end: stdout that was closed, and a reader that has gone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from io import TextIOWrapper
from pathlib import Path

import pytest

import digram
from digram.cli import VERBS, main
from digram.cli.counts import VERBS as COUNTS
from digram.cli.grow import VERBS as GROW

# What prints nothing on stdout is done; what does, cannot be.
SILENT = {
    "train a.txt --max-merges 5 -q -o new.json": 0,
    "train-fair --language en=a.txt --language sw=a.txt --max-merges 5 -q -o fair.json": 0,
    "counts make a.txt -q -o new.arrow": 0,
    "counts merge c.arrow -q -o merged.arrow": 0,
    "grow add grown a.txt -q": 0,
    "grow next grown --vocab-size 262": 0,
    "grow forget grown --name text": 0,
    "grow save g -o saved.json": 0,
    "extend -t t.json a.txt --add 1 -o e.json": 0,
    "prune -t t.json a.txt --remove 1 -o p.json": 0,
    "shrink -t t.json -o s.json --vocab-size 258": 0,
    "convert -t t.json -o back.tiktoken": 0,
    "report -t t.json a.txt -o r.html": 0,
    "serve -t t.json --port 70000": 2,
}
PRINTING = [
    "train a.txt --max-merges 5 -q -o -",
    "encode -t t.json a.txt",
    "decode -t t.json ids.txt",
    "count -t t.json a.txt",
    "truncate -t t.json -n 5 a.txt",
    "chunks -t t.json --max-length 5 a.txt",
    "show -t t.json a.txt",
    "show -t t.json a.txt --json",
    "explain -t t.json --text abc",
    "replay -t t.json a.txt",
    "replay -t t.json a.txt --json",
    "merge-tree -t t.json the",
    "find-token -t t.json the a.txt",
    "inspect -t t.json",
    "evaluate -t t.json a.txt",
    "audit -t t.json a.txt",
    "check-rules -t t.json --rules r.json a.txt",
    "compare -t t.json --against t.json a.txt",
    "verify -t t.json --against t.json --fuzz 100 a.txt",
    "advise --parameters 7B",
    "counts show c.arrow",
    "grow log g",
    "grow drift g a.txt",
    "estimate-training 1GB --vocab-size 3000",
    "convert -t t.json -o -",
    "report -t t.json a.txt -o -",
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer, a text, and what else verbs read."""
    folder = tmp_path_factory.mktemp("stdout")
    text = "the cat sat there on the mat, and the other cats too\n" * 9
    (folder / "a.txt").write_text(text)
    (folder / "ids.txt").write_text("65 66")
    (folder / "r.json").write_text('{"protect": ["cat"]}')
    digram.train(text, max_merges=9).save(folder / "t.json")
    digram.count_pretokens(text).save(folder / "c.arrow")
    grown = digram.VocabularyHistory().add(text).next(vocab_size=260).add("new").next(add=1)
    grown.save(folder / "g")
    return folder


def run(command: str, home: Path, stdout: str) -> tuple[int, str]:
    """The exit code of a command in a process of its own, and what it says on stderr."""
    if " grown" in command:
        shutil.rmtree(home / "grown", ignore_errors=True)
        shutil.copytree(home / "g", home / "grown")
    said = home / "stderr"
    if command.startswith("report"):
        return started(command, home, stdout)
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.chdir(home)
            error = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(error, 2)
            sys.stderr = TextIOWrapper(os.fdopen(2, "wb", 0), write_through=True)
            if stdout == "closed":
                os.close(1)
                sys.stdout = None
            else:
                reading, writing = os.pipe()
                os.close(reading)
                writing = writing if stdout == "gone" else os.open(stdout, os.O_WRONLY)
                os.dup2(writing, 1)
                sys.stdout = TextIOWrapper(os.fdopen(1, "wb"))
            sys.stdin = TextIOWrapper(os.fdopen(os.open(os.devnull, os.O_RDONLY), "rb"))
            sys.argv = ["digram", *command.split()]
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 98
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), said.read_text()


def started(command: str, home: Path, stdout: str) -> tuple[int, str]:
    """The same in a process that is started: what draws figures hangs in the child of a fork."""
    reading, writing = os.pipe()
    os.close(reading)
    line = [sys.executable, "-m", "digram", *command.split()]
    if stdout == "closed":
        line = ["sh", "-c", 'exec "$@" >&-', "sh", *line]
    with os.fdopen(writing, "wb") as gone:
        done = subprocess.run(
            line,
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=gone,
            stderr=subprocess.PIPE,
            check=False,
        )
    return done.returncode, done.stderr.decode()


def test_every_verb_is_tried() -> None:
    verbs = [*VERBS, *(f"counts {verb}" for verb in COUNTS), *(f"grow {verb}" for verb in GROW)]
    tried = [*SILENT, *PRINTING]
    assert [v for v in verbs if not any(f"{one} ".startswith(f"{v} ") for one in tried)] == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs verbs in forked processes")
@pytest.mark.parametrize("command", [*SILENT, *PRINTING])
def test_nobody_reads(home: Path, command: str) -> None:
    code, said = run(command, home, "closed")
    if command in SILENT:
        assert code == SILENT[command], said
    else:
        assert (code, said) == (4, "Error: stdout is closed.\n")
    code, said = run(command, home, "gone")
    whole = command.endswith(" -")  # a part of a tokenizer or of a page is none
    assert code == SILENT.get(command, 4 if whole else 0), said
    assert "fault" not in said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs verbs in forked processes")
@pytest.mark.parametrize("command", ["--help", "--version", "show --help", "counts --help"])
def test_nobody_reads_a_help_page(home: Path, command: str) -> None:
    assert run(command, home, "closed") == (0, "")
    assert run(command, home, "gone") == (0, "")
    if os.path.exists("/dev/full"):
        assert run(command, home, "/dev/full") == (4, "Error: No space left on device.\n")
