"""Tokenizers by name, where a verb takes a path."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import digram

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def named(tok: digram.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tokenizers by name, and a text in the current folder."""
    own = tmp_path / "own"
    own.mkdir()
    tok.save(own / "mine-4.1.json")
    digram.shrink(tok, 270).save_pretrained(own / "mine-4")
    for variable in ("DIGRAM_TOKENIZERS", "TIKTOKEN_CACHE_DIR", "HF_HUB_CACHE"):
        monkeypatch.setenv(variable, str(own))
    (tmp_path / "a.txt").write_text("the cat sat")
    monkeypatch.chdir(tmp_path)


def test_a_name_stands_for_a_path(run: Run, tok: digram.Tokenizer) -> None:
    found = run("count", "-t", "mine-4.1", "a.txt", "--json")
    assert json.loads(found.stdout)["total"]["tokens"] == tok.count("the cat sat")
    assert run("count", "-t", "mine-4.1", "--download", "a.txt").exit_code == 0
    missing = run("count", "-t", "mine", "a.txt")
    assert missing.exit_code == 4
    assert missing.stderr.startswith("Error: -t mine: there is no such file or folder, and no tok")
    options = ("--pretokenizer", "gpt2")
    assert run("count", "-t", "mine-4.1", "a.txt", *options).exit_code == 2


def test_names_are_titles(run: Run, tmp_path: Path) -> None:
    compared = run(
        "compare", "-t", "mine-4", "--against", "mine-4.1", "a.txt", "--pretokenizer", "gpt2"
    )
    assert compared.exit_code == 0, compared.output
    assert "mine-4.1" in compared.stdout
    assert run("report", "-t", "mine-4.1", "a.txt", "--json").exit_code == 0
    assert run("evaluate", "-t", "mine-4", "-t", "mine-4.1", "a.txt").exit_code == 0


def test_a_published_file_needs_no_encoding(
    run: Run, shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    path = shared_data("vocabs/o200k_base.tiktoken")
    (tmp_path / "own" / path.name).symlink_to(path)
    counts = [
        run("count", "-t", name, "a.txt", "--json").stdout
        for name in ("gpt-4o", "o200k_base", path, f"{path}:o200k_harmony")
    ]
    assert len({json.loads(one)["total"]["tokens"] for one in counts}) == 1
    refused = run("count", "-t", "gpt-4o:cl100k_base", "a.txt")
    assert refused.exit_code == 2
    assert "stands for the encoding o200k_base, so --encoding cl100k_base" in refused.stderr


def test_a_history_starts_from_a_name(run: Run) -> None:
    begun = run("grow", "add", "history", "a.txt", "-t", "mine-4.1", "--download")
    assert begun.exit_code == 0, begun.output
    alone = run("grow", "add", "other", "a.txt", "--download")
    assert alone.exit_code == 2
    assert "--download applies to --tokenizer" in alone.stderr
