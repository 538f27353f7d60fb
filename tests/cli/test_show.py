"""`digram show`: colours where they are welcome, brackets elsewhere, ids where asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

import digram
from digram.terminal import render

Run = Callable[..., Result]


def test_brackets_off_a_terminal(run: Run, tok: digram.Tokenizer, tok_path: str) -> None:
    result = run("show", "-t", tok_path, "--text", "the cat 日")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "[the][·cat][·][⟨E6⟩][⟨97⟩][⟨A5⟩]\n"
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
