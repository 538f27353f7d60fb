"""`digram grow`: a history in a folder, changed by one call at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

import digram
from digram._util.folder_lock import lock_folder

Run = Callable[..., Result]

OLD = "low low lower lowest slow, low slower " * 4
NEW = "newest news, renewed newest, chills and news " * 4


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.txt"
    path.write_text(OLD, encoding="utf-8")
    return path


@pytest.fixture
def new(tmp_path: Path) -> Path:
    path = tmp_path / "new.txt"
    path.write_text(NEW, encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "words"


def test_it_does_what_the_library_does(
    run: Run, old: Path, new: Path, folder: Path, tmp_path: Path
) -> None:
    out, change = tmp_path / "tok.json", tmp_path / "change.npz"
    result = run("grow", "add", folder, old, "--name", "old", "--pretokenizer", "gpt2")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"Began {folder}: add 'old': 1 document, {len(OLD)} bytes.\n"
    result = run("grow", "next", folder, "--vocab-size", 262, "--special-token", "<s>", "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines()[1] == f"Saved {out}"
    run("grow", "add", folder, new, "--name", "new", "--decay", "0.5", "--weight", "2", "-q")
    result = run("grow", "next", folder, "--add", 3, "-o", out, "--change", change, "-q")
    assert (result.exit_code, result.output) == (0, "")
    expected = digram.VocabularyHistory(pretokenizer="gpt2").add(OLD, name="old")
    expected = expected.next(vocab_size=262, special_tokens=["<s>"]).decay(0.5)
    expected = expected.add(NEW, name="new", weight=2).next(add=3)
    found = digram.VocabularyHistory.load(folder)
    assert (found, found.log) == (expected, expected.log)
    assert digram.load(out) == expected.tokenizer
    with np.load(change) as arrays:
        assert arrays["id_map"].tolist() == expected.map(1, 2).id_map.tolist()
    assert run("grow", "forget", folder, old, "--name", "old").exit_code == 0
    assert run("grow", "forget", folder, "--name", "new", "-q").output == ""
    assert digram.VocabularyHistory.load(folder).parts == {}


def test_it_begins_with_a_tokenizer(run: Run, old: Path, folder: Path, tmp_path: Path) -> None:
    tok = digram.train(OLD, vocab_size=260, pretokenizer="whitespace")
    tok.save(tmp_path / "tok.json")
    assert run("grow", "add", folder, old, "-t", tmp_path / "tok.json", "-q").exit_code == 0
    assert digram.VocabularyHistory.load(folder) == digram.VocabularyHistory.of(tok).add(OLD)
    for options in (["-t", tmp_path / "tok.json"], ["--pretokenizer", "gpt2"], ["--unit", "byte"]):
        result = run("grow", "add", folder, old, *options)
        assert result.exit_code == 2
        assert "already contains a history" in result.stderr
    counts = tmp_path / "counts.arrow"
    digram.count_pretokens(NEW, pretokenizer="whitespace").save(counts)
    assert run("grow", "add", folder, counts, "--name", "b", "-q").exit_code == 0
    assert digram.VocabularyHistory.load(folder).counts["newest"] == 1
    assert run("grow", "add", tmp_path / "b", counts, "-q").exit_code == 0
    assert digram.VocabularyHistory.load(tmp_path / "b").pretokenizer.name == "whitespace"


def test_drift(run: Run, old: Path, new: Path, folder: Path) -> None:
    run("grow", "add", folder, old, "-q")
    run("grow", "next", folder, "--vocab-size", 265, "-q")
    history = digram.VocabularyHistory.load(folder)
    result = run("grow", "drift", folder, new, "--add", 9)
    assert (result.exit_code, result.stdout) == (0, f"{history.drift(NEW, add=9)}\n")
    run("grow", "add", folder, new, "-q")
    options = ("--add", 9, "--on", old, "--parameters", "350M", "--width", 64, "--json")
    result = run("grow", "drift", folder, *options)
    expected = history.add(NEW).drift(add=9, on=OLD, parameters="350M", width=64)
    assert json.loads(result.stdout) == expected.to_dict()
    assert run("grow", "drift", folder, "--add", 9, "--check").exit_code == 1
    assert run("grow", "drift", folder, "--add", 9, "--check", "--horizon", 0.1).exit_code == 0


def test_versions_are_saved_with_the_change_between_any_two(
    run: Run, old: Path, folder: Path, tmp_path: Path
) -> None:
    run("grow", "add", folder, old, "-q")
    for options in (["--vocab-size", 260], ["--add", 2], ["--remove", 1]):
        run("grow", "next", folder, *options, "-q")
    history = digram.VocabularyHistory.load(folder)
    out, change = tmp_path / "tok.json", tmp_path / "change.npz"
    result = run("grow", "save", folder, "-o", out)
    assert result.stderr.splitlines() == [f"{history.versions[2]}.", f"Saved {out}"]
    assert digram.load(out) == history.tokenizer
    for number, since in ((3, 1), (2, 2), (1, 3), (2, None)):
        told = ["--since", since] if since else []
        result = run(
            "grow", "save", folder, "-o", out, "--number", number, "--change", change, *told
        )
        assert result.exit_code == 0
        assert digram.load(out) == history.versions[number - 1].tokenizer
        with np.load(change) as arrays:
            expected = history.map(since or number - 1, number)
            assert arrays["id_map"].tolist() == expected.id_map.tolist()
    result = run("grow", "save", folder, "-o", out, "--number", 9)
    assert "there is no version 9" in result.stderr
    assert run("grow", "save", folder, "-o", out, "--since", 1).exit_code == 2
    result = run("grow", "next", folder, "--add", 1, "-o", tmp_path / "none" / "tok.json")
    assert (result.exit_code, len(digram.VocabularyHistory.load(folder).versions)) == (4, 3)


def test_log(run: Run, old: Path, folder: Path) -> None:
    run("grow", "add", folder, old, "--weight", "2/3", "-q")
    run("grow", "next", folder, "--vocab-size", 260, "-q")
    history = digram.VocabularyHistory.load(folder)
    lines = run("grow", "log", folder).stdout.splitlines()
    assert lines[:2] == ["Versions", f"  {history.versions[0]}"]
    assert lines[-2:] == [f"  {entry}" for entry in history.log]
    told = json.loads(run("grow", "log", folder, "--json").stdout)
    assert told["versions"][0]["digest"] == history.tokenizer.digest
    assert told["parts"]["text"]["bytes"] == history.counts.bytes
    assert [entry["event"] for entry in told["log"]] == ["add", "version"]
    assert told["log"][0]["weight"] == "2/3"


def test_faults(run: Run, old: Path, folder: Path, tmp_path: Path) -> None:
    calls: dict[str, list[str | Path]] = {
        "next": ["--add", "1"],
        "forget": ["--name", "x"],
        "save": ["-o", old],
        "drift": [],
        "log": [],
    }
    for verb, options in calls.items():
        result = run("grow", verb, folder, *options)
        assert result.exit_code == 4, verb
        assert "there is no history here; digram grow add begins one." in result.stderr
        assert not folder.exists()
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"\xff")
    assert run("grow", "add", folder, bad, "--unit", "char").exit_code == 3
    assert not folder.exists(), "what failed leaves no folder behind"
    run("grow", "add", folder, old, "-q")
    result = run("grow", "next", folder, "--add", 1)
    assert "Pass --vocab-size for the first version" in result.stderr
    result = run("grow", "next", folder)
    assert "one of --vocab-size, --add, --swap and --remove" in result.stderr
    result = run("grow", "next", folder, "--vocab-size", 260, "--change", tmp_path / "c.npz")
    assert (result.exit_code, digram.VocabularyHistory.load(folder).versions) == (2, ())
    assert "name the files to remove" in run("grow", "forget", folder).stderr
    assert "is not a number" in run("grow", "add", folder, old, "--weight", "many").stderr
    assert run("grow", "add", folder, old, "--decay", "2").exit_code == 2
    with lock_folder(folder):
        result = run("grow", "add", folder, old)
        assert "is being saved to this folder" in result.stderr
    assert len(digram.VocabularyHistory.load(folder).log) == 1
