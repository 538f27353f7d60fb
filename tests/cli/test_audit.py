"""`digram audit`: findings as a table and as JSON, and limits with an exit code."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import digram
from digram.analysis.audit import KINDS
from digram.cli.audit import LIMITS

Run = Callable[..., Result]
Process = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def corpus(text: str, tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_table_is_that_of_the_library(
    run: Run, tok: digram.Tokenizer, tok_path: str, corpus: Path
) -> None:
    for files in ([], [corpus]):
        result = run("audit", "-t", tok_path, *files)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout == f"{digram.audit(tok, *files)}\n"
    told = json.loads(run("audit", "-t", tok_path, corpus, "--json", "--rare", "3").stdout)
    assert told == {**digram.audit(tok, corpus, rare=3).to_dict(), "breaches": []}


def test_stdin(run: Run, tok: digram.Tokenizer, tok_path: str) -> None:
    result = run("audit", "-t", tok_path, "-", "--long", "2", input="the cat")
    assert result.stdout == f"{digram.audit(tok, 'the cat', long=2)}\n"


def test_limits_that_hold(process: Process, tok_path: str, corpus: Path) -> None:
    limits = ["--max-unreachable", "0", "--max-unused", "50%", "--max-round-trip", "0"]
    result = process("audit", "-t", tok_path, corpus, *limits)
    assert (result.returncode, result.stderr) == (0, b"")


def test_a_limit_that_does_not_hold_is_exit_code_1(
    process: Process, tok_path: str, corpus: Path
) -> None:
    limits = ["--max-partial", "0", "--max-unused", "0.1%", "--max-unreachable", "0"]
    result = process("audit", "-t", tok_path, corpus, *limits)
    assert result.returncode == 1
    told = result.stderr.decode().splitlines()
    assert [line.split(":")[1].strip() for line in told] == ["unused", "partial"]
    assert b"partial" in result.stdout
    as_json = process("audit", "-t", tok_path, corpus, *limits, "--json")
    assert as_json.returncode == 1
    breaches = json.loads(as_json.stdout)["breaches"]
    assert [(one["kind"], one["limit"]) for one in breaches] == [("unused", 0.001), ("partial", 0)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max-unused", "0"], "--max-unused needs a corpus"),
        (["--max-special-in-text", "0"], "--max-special-in-text needs a corpus"),
        (["--max-partial", "5.5"], "'5.5' is not a limit"),
        (["--max-partial", "101%"], "'101%' is not a limit"),
        (["--max-partial", "-1"], "'-1' is not a limit"),
        (["--rare", "0"], "0 is not in the range"),
    ],
)
def test_wrong_usage(run: Run, tok_path: str, arguments: list[str], message: str) -> None:
    result = run("audit", "-t", tok_path, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in " ".join(result.stderr.split())


def test_what_is_not_there(run: Run, tok_path: str, tmp_path: Path) -> None:
    result = run("audit", "-t", tok_path, tmp_path / "none.txt")
    assert (result.exit_code, result.stdout) == (4, "")


def test_there_is_a_limit_for_each_kind() -> None:
    from digram.cli import audit

    assert {*LIMITS} == {*KINDS, "junk"}
    assert {*audit._NEED_FILES} == {kind for kind, one in KINDS.items() if one.needs_corpus}
