"""`digram check-rules`, and `--rules` where text is learned from or counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import digram

Run = Callable[..., Result]

NOTES = "iron 5 mg, then iron 10mg\n" * 5
RULES = digram.Rules(["iron"], units=["mg"], numbers="individual")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.txt"
    path.write_text(NOTES, encoding="utf-8")
    RULES.save(tmp_path / "rules.json")
    return path


def test_training_with_rules_and_checking_them(run: Run, notes: Path) -> None:
    saved, rules = notes.parent / "ruled.json", notes.parent / "rules.json"
    result = run("train", notes, "--rules", rules, "--max-merges", "5", "-q", "-o", saved)
    assert (result.exit_code, result.stderr) == (0, "")
    tok = digram.load(saved)
    assert tok == digram.train(NOTES, max_merges=5, rules=RULES)
    result = run("check-rules", "-t", saved, notes)
    assert (result.exit_code, result.stdout) == (0, f"{digram.check_rules(tok, notes)}\n")
    told = json.loads(run("check-rules", "-t", saved, notes, "--json").stdout)
    assert told == digram.check_rules(tok, notes).to_dict()
    assert "1 protect, 1 units" in run("inspect", "-t", saved).stdout


def test_a_violation_is_exit_code_1(run: Run, notes: Path, tok_path: str) -> None:
    result = run("check-rules", "-t", tok_path, "--rules", notes.parent / "rules.json", notes)
    assert result.exit_code == 1
    assert '"mg"' in result.stdout


def test_counts_are_made_with_rules(run: Run, notes: Path) -> None:
    counts, rules = notes.parent / "counts.arrow", notes.parent / "rules.json"
    assert run("counts", "make", notes, "--rules", rules, "-q", "-o", counts).exit_code == 0
    assert digram.Counts.load(counts).pretokenizer.rules == RULES
    saved = notes.parent / "ruled.json"
    assert run("train", counts, "--max-merges", "5", "-q", "-o", saved).exit_code == 0
    assert digram.load(saved) == digram.train(NOTES, max_merges=5, rules=RULES)


def test_files_that_are_no_rules(run: Run, notes: Path, tok_path: str) -> None:
    assert run("check-rules", "-t", tok_path, notes).exit_code != 0
    for text, told in (("{", "not valid JSON"), ('{"protected": []}', "not a kind of rule")):
        (notes.parent / "bad.json").write_text(text, encoding="utf-8")
        result = run("check-rules", "-t", tok_path, "--rules", notes.parent / "bad.json", notes)
        assert result.exit_code not in (0, 1)
        assert told in result.stderr
        assert "bad.json" in result.stderr
