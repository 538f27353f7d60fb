"""`digram train-fair`: languages by name, and for whom merges were made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import digram

Run = Callable[..., Any]

TEXTS = {"en": "the cat and the dog and the cow and the hen", "sw": "paka na mbwa na kuku"}
DEV = {"en": "the cat and the hen", "sw": "paka na kuku"}
NAMED = ["--language", "en=en.txt", "--language", "sw=sw.txt"]
STEERED = [*NAMED, "--dev", "en=en.dev.txt", "--dev", "sw=sw.dev.txt"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the texts, in which the verb runs."""
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text(text)
        (tmp_path / f"{name}.dev.txt").write_text(DEV[name])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_is_the_call(run: Run) -> None:
    result = run("train-fair", *STEERED, "--max-merges", 8, "-o", "t.json")
    assert (result.exit_code, result.stdout) == (0, "")
    said = result.stderr.splitlines()
    assert said[0].startswith("Learned 8 merges, 264 tokens in all, from 63 B in 2 documents, in ")
    assert said[1:] == [
        "Stopped because the requested number of merges is made.",
        "Merges made for: en 6, sw 2.",
        "Saved t.json",
    ]
    tok, expected = digram.load("t.json"), digram.train_fair(TEXTS, dev=DEV, max_merges=8)
    assert tok.merge_log == expected.merge_log
    assert tok.training == expected.training


@pytest.mark.parametrize(
    ("options", "pretokenizer"),
    [
        (["--regex", r"\p{L}+|\P{L}+"], digram.Regex(r"\p{L}+|\P{L}+")),
        (
            ["--regex", r"\p{L}+|\P{L}+", "--digits", "individual"],
            digram.Pretokenizer(digram.Regex(r"\p{L}+|\P{L}+"), digits="individual"),
        ),
        (["--digits", "individual"], digram.Pretokenizer("o200k", digits="individual")),
        (["--pretokenizer", "gpt2"], "gpt2"),
    ],
)
def test_pretokenizers(run: Run, options: list[str], pretokenizer: Any) -> None:
    result = run("train-fair", *STEERED, *options, "--max-merges", 8, "-o", "t.json", "-q")
    assert (result.exit_code, result.stderr) == (0, "")
    expected = digram.train_fair(TEXTS, dev=DEV, max_merges=8, pretokenizer=pretokenizer)
    assert digram.load("t.json") == expected


def test_all_options(run: Run) -> None:
    options = ["--global-merges", 2, "--window", 4, "--alpha", 1.5, "--ties", "printable"]
    more = ["--special-token", "<s>", "--vocab-size", 264, "--byte-order", "gpt2"]
    result = run("train-fair", *STEERED, *options, *more, "-o", "t.json", "-q", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    expected = digram.train_fair(
        TEXTS,
        dev=DEV,
        global_merges=2,
        window=4,
        alpha=1.5,
        ties="printable",
        special_tokens=["<s>"],
        vocab_size=264,
        byte_order="gpt2",
    )
    assert digram.load("t.json") == expected
    found = json.loads(result.stdout)
    assert found["digest"] == expected.digest
    made = [merge.language for merge in expected.merge_log]
    assert found["made_for"] == {name: made.count(name) for name in TEXTS}
    assert made.count(None) == 2


def test_ratios_and_counts(run: Run) -> None:
    digram.count_pretokens(TEXTS["sw"]).save("sw.counts")
    options = ["--ratio", "en=1", "--ratio", "sw=1.5", "--max-merges", 9]
    named = ["--language", "en=en.txt", "--language", "sw=sw.counts"]
    result = run("train-fair", *named, *options, "--global-merges", 1, "-o", "t.json")
    assert result.exit_code == 0, result.stderr
    assert "Merges made for: all 1, en " in result.stderr
    ratios = {"en": 1.0, "sw": 1.5}
    expected = digram.train_fair(TEXTS, ratios=ratios, max_merges=9, global_merges=1)
    assert digram.load("t.json").merge_log == expected.merge_log


def test_inspect_says_for_whom(run: Run) -> None:
    run("train-fair", *STEERED, "--max-merges", 8, "-o", "t.json")
    assert "  made for     en 6, sw 2\n" in run("inspect", "-t", "t.json").stdout
    found = json.loads(run("inspect", "-t", "t.json", "--json").stdout)
    assert found["training"]["made_for"] == {"en": 6, "sw": 2}
    run("train-fair", *STEERED, "--max-merges", 2, "--global-merges", 2, "-o", "t.json")
    assert "  made for     all\n" in run("inspect", "-t", "t.json").stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([*NAMED], "give a limit"),
        ([*NAMED, "--max-merges", 1, "--dev", "en=en.txt"], "--dev lacks the language 'sw'."),
        (
            [*NAMED, "--max-merges", 1, "--ratio", "en"],
            "--ratio 'en' is not NAME=N, such as en=1.5.",
        ),
        ([*NAMED, "--max-merges", 1, "--ratio", "en=x"], "--ratio en=x: this is not a number."),
        ([*STEERED, "--max-merges", 1, "--ratio", "en=1"], "cannot be combined"),
        ([*NAMED, *NAMED, "--max-merges", 1], "--language 'en' is given twice"),
        ([*NAMED, "--max-merges", 1, "--alpha", 1], "Pass --window too; 100 is usual."),
        ([*NAMED, "--max-merges", 1, "--window", 0], "--window 0 is not at least 1."),
        (
            ["--language", "en=-", "--max-merges", 1],
            "a language cannot be read from stdin; name files.",
        ),
        (["--language", "en=none.txt", "--max-merges", 1], "none.txt"),
    ],
)
def test_faults(run: Run, folder: Path, arguments: list[Any], problem: str) -> None:
    result = run("train-fair", *arguments, "-o", "t.json")
    assert result.exit_code != 0
    assert problem in result.stderr
    assert not (folder / "t.json").exists()
