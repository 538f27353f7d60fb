"""`digram show`: colours where they are welcome, brackets elsewhere, ids where asked for."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

import digram
from digram.display.terminal import render

Run = Callable[..., Result]


def test_brackets_off_a_terminal(run: Run, tok: digram.Tokenizer, tok_path: str) -> None:
    result = run("show", "-t", tok_path, "--text", "the cat 日")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "[the][·cat][·][⟨E6…⟩][⟨…97…⟩][⟨…A5=日⟩]\n"
    assert run("show", "-t", tok_path, input="the cat 日").stdout == result.stdout


def test_each_line_of_brackets_is_balanced(run: Run, tok_path: str) -> None:
    tricky = "the\n cat\tsat\r\n\n\n  \x00there.\n"
    for text in (tricky, tricky + "\n \n ", "\n", "a"):
        shown = run("show", "-t", tok_path, input=text).stdout
        assert shown.endswith("]\n")
        for line in shown.splitlines():
            assert (line[0], line[-1]) == ("[", "]")
            assert line.count("[") == line.count("]")
            assert " " not in line
        assert {"→", "␀", "·"} <= {*shown} or text != tricky


def test_colours_when_asked_for(run: Run, tok: digram.Tokenizer, tok_path: str) -> None:
    result = run("show", "-t", tok_path, "--color", "--text", "the cat\n")
    assert result.stdout == render(tok.tokens(tok.encode("the cat\n")))


def test_ids(run: Run, tok: digram.Tokenizer, tok_path: str) -> None:
    ids = tok.encode("the cat")
    result = run("show", "-t", tok_path, "--ids", "--text", "the cat")
    assert result.stdout == render(tok.tokens(ids), ids, color=False)


def test_json(run: Run, tok: digram.Tokenizer, tok_path: str) -> None:
    shown = json.loads(run("show", "-t", tok_path, "--json", input=b"the \xff").stdout)
    assert [entry["id"] for entry in shown] == tok.encode(b"the \xff")
    assert shown[-1] == {"id": 255, "text": "\ufffd", "hex": "ff"}


def test_files_special_tokens_and_nothing(run: Run, tok_path: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("<|end|>", encoding="utf-8")
    assert run("show", "-t", tok_path, path, "--special", "parse").stdout == "[<|end|>]\n"
    assert run("show", "-t", tok_path, input="").stdout == "\n"
    both = run("show", "-t", tok_path, path, "--text", "a")
    assert both.exit_code == 2


def test_documents_one_after_the_other(run: Run, tok_path: str, tmp_path: Path) -> None:
    lines = b'{"body": "the cat"}\n{"body": "a\\n"}\n{"body": 7}\n'
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(lines))
    asked = ["show", "-t", tok_path, "--field", "body", "--on-error", "skip"]
    shown = run(*asked, path)
    assert (shown.exit_code, shown.stdout) == (0, "[the][·cat]\n[a][↵]\n")
    assert "Warning: 1 record was skipped: " in shown.stderr
    assert run(*asked, "--source-format", "jsonl", input=lines).stdout == shown.stdout
    told = run(*asked, "--json", path).stdout.splitlines()
    assert [len(json.loads(line)) for line in told] == [2, 2]
    cut = run("show", "-t", tok_path, "--separator", "--", input="the--cat")
    assert cut.stdout == "[the]\n[c][at]\n"
    refused = run("show", "-t", tok_path, "--field", "body", path)
    assert refused.exit_code == 3
    assert "record 3 (byte 36): " in refused.stderr
    typed = run(*asked, "--text", "a")
    assert (typed.exit_code, typed.stdout) == (2, "")
