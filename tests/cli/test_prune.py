"""`digram prune`: files or counts in, a smaller tokenizer out, and what becomes of the ids."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import digram

Run = Callable[..., Any]
TOK = digram.train("low low low lower lowest slow", vocab_size=262, pretokenizer="gpt2")


@pytest.mark.parametrize(
    "how", [["--remove", 3], ["--vocab-size", 259], ["--remove", 3, "--holes"]]
)
@pytest.mark.parametrize("counted", [False, True])
def test_prune(run: Run, tmp_path: Path, how: list[Any], counted: bool) -> None:
    source, text, out = tmp_path / "tok.json", tmp_path / "text", tmp_path / "new.json"
    TOK.save(source)
    if counted:
        digram.count_pretokens("low lower", pretokenizer="gpt2").save(text)
    else:
        text.write_text("low lower")
    result = run("prune", "-t", source, text, *how, "-o", out, "--change", tmp_path / "change.npz")
    expected, change = digram.prune(TOK, "low lower", remove=3, compact="--holes" not in how)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"{change}.\nSaved {out}\n"
    assert digram.load(out) == expected
    with np.load(tmp_path / "change.npz") as arrays:
        assert arrays["id_map"].tolist() == change.id_map.tolist()


def test_faults(run: Run, tmp_path: Path) -> None:
    source, text, out = tmp_path / "tok.json", tmp_path / "text", tmp_path / "new.json"
    TOK.save(source)
    text.write_text("low lower")
    result = run("prune", "-t", source, text, "-o", out)
    assert result.exit_code == 2
    assert "give either --remove or --vocab-size." in result.stderr
    result = run("prune", "-t", source, text, "--remove", 99, "-o", out)
    assert result.exit_code != 0
    assert "99 tokens cannot be removed: only 6 are neither" in result.stderr
    result = run("prune", "-t", source, text, "--remove", 6, "--keep", "low", "-o", out, "-q")
    assert "cannot be removed" in result.stderr
    result = run("prune", "-t", source, text, "--remove", 1, "--keep", "zebra", "-o", out, "-q")
    assert "zebra" in result.stderr
    assert not out.exists()
