"""The demo, on a small corpus: it ends well, is narrow, and fails when a check does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import digram

DEMO = Path(__file__).parents[1] / "examples" / "demo.py"


def demo(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, DEMO, *arguments],
        cwd=folder,
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    for name, lines in (("a.txt", 300), ("b.txt", 100)):
        (tmp_path / name).write_text(
            "".join(f"line {n} of {name} has {n * n} in it\n" for n in range(lines)),
            encoding="utf-8",
        )
    return str(tmp_path / "*.txt")


@pytest.mark.usefixtures("corpus")
def test_it_shows_five_steps_and_checks_itself(tmp_path: Path) -> None:
    result = demo(tmp_path, "*.txt")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count("✓") == 2
    assert "every check passed" in result.stdout
    assert "bytes per token" in result.stdout
    assert "\x1b" not in result.stdout
    for step in ("1 Read", "2 Train", "3 Save", "4 Encode", "5 Look"):
        assert step in result.stdout
    assert all(
        len(line) <= 80 for line in result.stdout.splitlines() if "tokenizer.json" not in line
    )
    tok = digram.load(tmp_path / "demo-output" / "tokenizer.json")
    assert tok.decode(tok.encode("line 7")) == "line 7"


def test_one_tiny_file(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("aa", encoding="utf-8")
    assert demo(tmp_path, "one.txt").returncode == 0


def test_a_missing_corpus_is_a_message(tmp_path: Path) -> None:
    result = demo(tmp_path, "none")
    assert result.returncode == 1
    assert result.stderr.startswith("demo: ")
    assert "Traceback" not in result.stderr


def test_a_failed_check_is_a_failure(tmp_path: Path, corpus: str) -> None:
    code = (
        f"import sys, runpy, digram; sys.argv = ['demo', {corpus!r}]\n"
        "digram.Tokenizer.decode_bytes = lambda self, ids: b'other'\n"
        f"runpy.run_path({str(DEMO)!r}, run_name='__main__')"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False
    )
    assert result.returncode == 1
    assert b"A CHECK FAILED" in result.stdout
