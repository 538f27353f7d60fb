"""`digram count`: `wc` for tokens."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import digram

Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("the cat\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("中文 naïve\n", encoding="utf-8")
    (tmp_path / "c.txt").write_bytes(b"")
    return tmp_path


def numbers(line: str) -> list[int]:
    return [int(word) for word in line.split()[:3]]


def test_files_and_a_total(run: Run, tok: digram.Tokenizer, tok_path: str, folder: Path) -> None:
    result = run("count", "-t", tok_path, folder)
    assert (result.exit_code, result.stderr) == (0, "")
    a, b, c, total = result.stdout.splitlines()
    assert numbers(a) == [tok.count("the cat\n"), 8, 8]
    assert numbers(b) == [tok.count("中文 naïve\n"), 14, 9]
    assert numbers(c) == [0, 0, 0]
    assert numbers(total) == [x + y for x, y in zip(numbers(a), numbers(b), strict=True)]
    assert a.endswith(str(folder / "a.txt"))
    assert total.endswith("total")
    assert {line.index(str(folder)) for line in (a, b, c)} == {total.index("total")}


def test_one_file_has_no_total_and_stdin_a_dash(run: Run, tok_path: str, folder: Path) -> None:
    assert len(run("count", "-t", tok_path, folder / "a.txt").stdout.splitlines()) == 1
    piped = run("count", "-t", tok_path, input="the cat\n").stdout
    assert piped == run("count", "-t", tok_path, "-", input="the cat\n").stdout
    assert piped.endswith("  -\n")


def test_a_line_says_tokens_bytes_and_characters_in_this_order(
    run: Run, tok: digram.Tokenizer, tok_path: str
) -> None:
    line = run("count", "-t", tok_path, input="naïve 日本").stdout
    assert numbers(line) == [tok.count("naïve 日本"), 13, 8]
    page = " ".join(run("count", "--help").stdout.split())
    assert "columns are tokens, bytes, characters and the name, in this order" in page


def test_json(run: Run, tok: digram.Tokenizer, tok_path: str, folder: Path) -> None:
    counted = json.loads(run("count", "-t", tok_path, "--json", folder).stdout)
    assert counted["files"][0] == {
        "tokens": tok.count("the cat\n"),
        "bytes": 8,
        "characters": 8,
        "path": str(folder / "a.txt"),
    }
    assert counted["total"]["bytes"] == 22
    assert sorted(counted["total"]) == ["bytes", "characters", "tokens"]


def test_special_tokens(run: Run, tok_path: str) -> None:
    assert numbers(run("count", "-t", tok_path, input="<|end|>").stdout)[0] > 1
    parsed = run("count", "-t", tok_path, "--special", "parse", input="<|end|>")
    assert numbers(parsed.stdout)[0] == 1


def test_faults(run: Run, tok_path: str, folder: Path) -> None:
    missing = run("count", "-t", tok_path, folder / "a.txt", folder / "none.txt")
    assert (missing.exit_code, missing.stdout) == (4, "")
    assert "none.txt: there is no such file or folder" in missing.stderr
    assert run("count", folder / "a.txt").exit_code == 2
