"""`digram find-token`: the words and the places of a token in files and stdin."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import digram
from digram.display import columns

Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A text, and records."""
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("the cat sat\nthe bat and the rat too\n", encoding="utf-8")
    records = [json.dumps({"text": text}) for text in ("other cats", "the gat")]
    (folder / "b.jsonl").write_text("\n".join(records), encoding="utf-8")
    return folder


def test_where(run: Run, tok: digram.Tokenizer, tok_path: str, folder: Path) -> None:
    result = run("find-token", "-t", tok_path, "at", folder)
    assert (result.exit_code, result.stderr) == (0, "")
    found = digram.find_token(tok, "at", folder)
    assert result.stdout == f"{found}\n"
    told = json.loads(run("find-token", "-t", tok_path, "at", folder, "--json").stdout)
    assert told == found.to_dict()
    by_id = run("find-token", "-t", tok_path, "--by", "id", found.id, folder)
    assert by_id.stdout == result.stdout
    assert f"  {folder}/b.jsonl\n  record 2, byte 5  " in result.stdout


def test_stdin_and_separators(run: Run, tok_path: str) -> None:
    text = "the bat\nthe rat\n"
    whole = json.loads(run("find-token", "-t", tok_path, "at", "--json", input=text).stdout)
    assert (whole["documents"], whole["times"]) == (1, 2)
    asked = ["find-token", "-t", tok_path, "at", "-", "--separator", r"\n", "--json"]
    cut = json.loads(run(*asked, input=text).stdout)
    assert (cut["documents"], cut["times"]) == (2, 2)
    assert [one["document"] for one in cut["samples"]] == [0, 1]


def test_as_much_as_asked_for(run: Run, tok_path: str, folder: Path) -> None:
    little = run("find-token", "-t", tok_path, "at", folder, "-n", 1, "--samples", 0).stdout
    assert "and 2 words more" in little
    assert "byte" not in little.partition("count")[2]
    none = run("find-token", "-t", tok_path, "at", folder, "--rows", 0, "--samples", 0).stdout
    assert len(none.splitlines()) <= 3


def test_lines_are_as_wide_as_the_terminal(
    run: Run, tok_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("中文" * 60 + " bat " + "עברית " * 30, encoding="utf-8")
    for width in (50, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        shown = run("find-token", "-t", tok_path, "at", path).stdout.splitlines()
        assert columns(shown[-1]) <= width
        assert columns(shown[-1]) > width - 8


def test_what_is_wrong(run: Run, tok_path: str, folder: Path) -> None:
    assert run("find-token", "-t", tok_path, "xyzzy", folder).exit_code == 3
    assert run("find-token", "-t", tok_path, "at", folder / "none").exit_code == 4
    special = run("find-token", "-t", tok_path, "<|end|>", folder)
    assert special.exit_code == 2
    assert "is a special token" in special.stderr
