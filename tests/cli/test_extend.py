"""`digram extend`: the next merges, from files or counts, and what becomes of the ids."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import digram

Run = Callable[..., Any]


def test_extend(run: Run, tmp_path: Path) -> None:
    tok = digram.train("low low lower lowest", vocab_size=259, pretokenizer="whitespace")
    tok.save(tmp_path / "tok.json")
    text = tmp_path / "text.txt"
    text.write_text("slowly slower slow")
    new, change = tmp_path / "new.json", tmp_path / "change.npz"
    result = run(
        "extend", "-t", tmp_path / "tok.json", text, "--add", 2, "-o", new, "--change", change
    )
    assert (result.exit_code, result.stdout) == (0, "")
    said = result.stderr.splitlines()
    assert said[0].startswith("259 ids became 261, 2 tokens added, 0 removed, in ")
    assert said[1] == f"Saved {new}"
    grown, expected = digram.extend(tok, "slowly slower slow", add=2)
    assert digram.load(new) == grown
    plan = expected.embedding_plan()
    with np.load(change) as arrays:
        assert arrays["id_map"].tolist() == expected.id_map.tolist()
        for name in ("starts", "ids", "weights"):
            assert arrays[name].tolist() == getattr(plan, name).tolist()


def test_from_counts(run: Run, tmp_path: Path) -> None:
    tok = digram.train("low low lower lowest", vocab_size=259, pretokenizer="whitespace")
    tok.save(tmp_path / "tok.json")
    counts = digram.count_pretokens("slowly slower slow", pretokenizer="whitespace")
    counts.save(tmp_path / "text.counts")
    new = tmp_path / "new.json"
    result = run(
        "extend", "-t", tmp_path / "tok.json", tmp_path / "text.counts", "--add", 2, "-o", new, "-q"
    )
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert digram.load(new) == digram.extend(tok, "slowly slower slow", add=2)[0]


def test_faults(run: Run, tmp_path: Path) -> None:
    digram.train("low", max_merges=1).save(tmp_path / "tok.json")
    text = tmp_path / "text.txt"
    text.write_text("slow")
    result = run(
        "extend", "-t", tmp_path / "tok.json", text, "--add", 0, "-o", tmp_path / "new.json"
    )
    assert result.exit_code != 0
    assert "--add 0 is not at least 1." in result.stderr
    result = run("extend", "-t", tmp_path / "tok.json", text, "--add", 1, "-o", text)
    assert result.exit_code != 0
    assert "is one of the files to learn from" in result.stderr
    assert text.read_text() == "slow"


def test_what_would_be_replaced(run: Run, tmp_path: Path) -> None:
    tok, text, out = tmp_path / "tok.json", tmp_path / "text.txt", tmp_path / "out.json"
    digram.train("low", max_merges=1).save(tok)
    text.write_text("slow slow")
    counts = tmp_path / "counts"
    digram.count_pretokens("slow slow").save(counts)
    arguments = ("extend", "-t", tok, text, "--add", 1, "-o", out)
    for change in (tok, text, out, tmp_path / "." / "text.txt"):
        result = run(*arguments, "--change", change)
        assert result.exit_code == 2
        assert "would overwrite another file of this command" in result.stderr
    assert "--change writes a file" in run(*arguments, "--change", "-").stderr
    result = run(*arguments, "--change", tmp_path / "none" / "a.npz")
    assert "there is no such folder" in result.stderr
    result = run("extend", "-t", tok, counts, "--add", 1, "-o", counts)
    assert "is one of the files to learn from" in result.stderr
    assert text.read_text() == "slow slow"
    assert not out.exists()
