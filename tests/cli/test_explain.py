"""`digram explain` and `digram merge-tree`: what Python prints, in a shell's words; JSON."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

import digram

Run = Callable[..., Result]


def test_explain(run: Run, tok: digram.Tokenizer, tok_path: str) -> None:
    result = run("explain", "-t", tok_path, "--text", "the cats 日")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{digram.explain(tok, 'the cats 日')}\n"
    assert run("explain", "-t", tok_path, input="the cats 日").stdout == result.stdout
    told = json.loads(run("explain", "-t", tok_path, "--json", "--text", "the cats 日").stdout)
    assert told == digram.explain(tok, "the cats 日").to_dict()


def test_explain_special_tokens_and_bytes(run: Run, tok_path: str) -> None:
    parsed = run("explain", "-t", tok_path, "--text", "a<|end|>", "--special", "parse").stdout
    assert "A special token, which takes part in no merge." in parsed
    refused = run("explain", "-t", tok_path, "--text", "a<|end|>", "--special", "raise")
    assert refused.exit_code == 3
    told = json.loads(run("explain", "-t", tok_path, "--json", input=b"a\xff").stdout)
    assert told["hex"] == "61ff"


def test_explain_in_colour_on_wide_and_narrow_terminals(
    run: Run, tok_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "the cats sat on the mats"
    assert "\x1b[48;5;" in run("explain", "-t", tok_path, "--color", "--text", text).stdout
    for width in (40, 60):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = run("explain", "-t", tok_path, "--text", text).stdout.splitlines()
        steps = [line for line in lines if line.startswith("  [")]
        assert max(map(len, steps)) <= width


def test_tree(run: Run, tok: digram.Tokenizer, tok_path: str) -> None:
    result = run("merge-tree", "-t", tok_path, " the")
    assert (result.exit_code, result.stdout) == (0, f"{digram.merge_tree(tok, ' the')}\n")
    id = str(tok.token_to_id(" the"))
    assert run("merge-tree", "-t", tok_path, id, "--by", "id").stdout == result.stdout
    assert run("merge-tree", "-t", tok_path, "20746865", "--by", "hex").stdout == result.stdout
    assert json.loads(run("merge-tree", "-t", tok_path, " the", "--json").stdout) == (
        digram.merge_tree(tok, " the").to_dict()
    )
    assert "\x1b[48;5;" in run("merge-tree", "-t", tok_path, " the", "--color").stdout


def test_no_such_token(run: Run, tok_path: str) -> None:
    missing = run("merge-tree", "-t", tok_path, "xyzzy")
    assert missing.exit_code == 3
    assert (
        "'xyzzy' is not a token of this vocabulary. See how it is encoded with digram explain."
        in (missing.stderr)
    )
    assert run("merge-tree", "-t", tok_path, "--by", "id", "9999").exit_code == 3
    for by, token in (("id", "the"), ("hex", "xy")):
        wrong = run("merge-tree", "-t", tok_path, "--by", by, token)
        assert wrong.exit_code == 2
        assert f"with --by {by} TOKEN is" in wrong.stderr
