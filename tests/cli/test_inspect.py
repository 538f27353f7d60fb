"""`digram inspect`: figures that add up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import digram
from digram.cli.inspect import _by_ranges, kind_of

Run = Callable[..., Result]


def test_the_page(run: Run, tok_path: str) -> None:
    result = run("inspect", "-t", tok_path)
    assert (result.exit_code, result.stderr) == (0, "")
    page = result.stdout
    for heading in (
        "300 tokens",
        "Training",
        "First merges",
        "Last merges",
        "Tokens by length",
        "Tokens by kind",
        "Longest tokens",
        "0 tokens that no text can reach",
    ):
        assert f"{heading}\n" in page
    assert "256 bytes, 43 merges, 1 special" in page
    assert "pretokenizer o200k" in page
    assert "<|end|> 299" in page
    assert "stopped by   vocab_size" in page
    assert max(map(len, page.splitlines())) <= 80
    assert "\n\nTraining\n" in page  # an empty line between the parts, and none at the end
    assert page.endswith("\n")
    assert not page.endswith("\n\n")


def test_the_record_of_an_extension_is_named_so(
    run: Run, tok: digram.Tokenizer, tmp_path: Path
) -> None:
    path = tmp_path / "tok.json"
    digram.extend(tok, "medical notes " * 3, add=3)[0].save(path)
    page = run("inspect", "-t", path).stdout
    assert "\n\nTraining of the last extension\n  documents    1 (42 bytes)\n" in page
    assert "stopped by   add\n" in page
    digram.extend(tok, "medical notes", add=30, min_frequency=2)[0].save(path)
    assert "stopped by   min_frequency\n" in run("inspect", "-t", path).stdout
    digram.replace_tokens(tok, "medical notes " * 3, 2)[0].save(path)
    page = run("inspect", "-t", path).stdout
    assert "\n\nTraining of the last replacement\n" in page
    assert "stopped by   number\n" in page


def test_what_stands_around_a_text(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "framed.json"
    tok = digram.train("ab", max_merges=1, special_tokens=["<s>", "<pad>"])
    tok = tok.with_special_roles(digram.SpecialRoles(bos="<s>", eos="<pad>"))
    tok = tok.with_chat_template({"default": "D", "rag": "R"})
    template = digram.Template("<s> $A", pair="<s> $A $B:1")
    tok = tok.with_template(template).with_context_size(1024).with_pad_token("<pad>")
    tok.save(path)
    page = run("inspect", "-t", str(path)).stdout
    assert "template     <s> $A\n" in page
    assert "pairs        <s> $A $B:1\n" in page
    assert "context      1,024\n" in page
    assert "padding      <pad>\n" in page
    assert "roles        bos <s>, eos <pad>\n" in page
    assert "chat         default, rag\n" in page
    facts = json.loads(run("inspect", "-t", str(path), "--json").stdout)
    assert facts["template"]["pair"] == [["<s>", 0], ["$A", 0], ["$B", 1]]
    assert (facts["context_size"], facts["pad_token"]) == (1024, "<pad>")
    assert facts["special_roles"] == {"bos": "<s>", "eos": "<pad>"}
    assert facts["chat_templates"] == {"default": "D", "rag": "R"}


def test_every_column_has_a_heading(run: Run, tok: digram.Tokenizer, tok_path: str) -> None:
    lines = run("inspect", "-t", tok_path).stdout.splitlines()

    def below(title: str) -> list[list[str]]:
        start = lines.index(title) + 1
        return [lines[start].split(), lines[start + 1].split()]

    first = tok.merge_log[0]
    left, right, token = (f"[{data.decode()}]" for data in (first.left, first.right, first.token))
    assert below("First merges") == [
        ["rank", "count", "id", "left", "+", "right", "→", "token"],
        ["0", str(first.count), "256", left, "+", right, "→", token],
    ]
    assert below("Last merges")[0] == ["rank", "count", "id", "left", "+", "right", "→", "token"]
    assert below("Tokens by length")[0] == ["bytes", "tokens"]
    assert below("Tokens by kind")[0] == ["kind", "tokens"]
    assert below("Longest tokens")[0] == ["id", "bytes", "token"]
    heads = [line for line in lines if line.split()[:2] == ["rank", "count"]]
    rows = [line for line in lines if " → [" in line]
    assert {line.index("→") for line in heads[:1]} == {line.index("→") for line in rows[:10]}


def test_the_figures_add_up(run: Run, tok: digram.Tokenizer, tok_path: str) -> None:
    facts = json.loads(run("inspect", "-t", tok_path, "--json", "--rows", "5").stdout)
    assert facts["tokens"] == facts["base"] + facts["merges"] + len(facts["special_tokens"])
    assert sum(facts["by_kind"].values()) == facts["tokens"] == len(tok)
    assert sum(facts["by_length"].values()) == 299
    assert len(facts["first_merges"]) == len(facts["last_merges"]) == len(facts["longest"]) == 5
    first = facts["first_merges"][0]
    assert bytes.fromhex(first["left"] + first["right"]) == bytes.fromhex(first["hex"])
    assert first["count"] == tok.merge_log[0].count
    assert facts["last_merges"][-1]["rank"] == 42
    assert facts["digest"] == tok.digest
    assert facts["training"]["bytes"] == tok.training.bytes if tok.training else False


def test_long_tokens_share_a_line() -> None:
    assert _by_ranges({1: 5, 16: 1, 17: 2, 32: 3, 33: 4, 200: 6}) == {
        " 1": 5,
        "16": 1,
        "17 to 32": 5,
        "33 to 64": 4,
        "129 to 256": 6,
    }


@pytest.mark.parametrize("rows", ["0", "1", "43", "100"])
def test_any_number_of_rows(run: Run, tok_path: str, rows: str) -> None:
    assert run("inspect", "-t", tok_path, "--rows", rows).exit_code == 0
    facts = json.loads(run("inspect", "-t", tok_path, "--json", "--rows", rows).stdout)
    ranks = [merge["rank"] for merge in facts["first_merges"] + facts["last_merges"]]
    assert ranks == sorted(set(ranks))


def test_without_merges_or_record(run: Run, tmp_path: Path) -> None:
    digram.train("ab", max_merges=0, unit="char", on_unknown="bytes").save(tmp_path / "t.json")
    page = run("inspect", "-t", tmp_path / "t.json").stdout
    assert "2 characters and 256 bytes, 0 merges" in page
    assert "First merges" not in page
    seed = digram.train("abab", max_merges=1, pretokenizer=None)
    seed.save(tmp_path / "seed", format="seed_pair")
    page = run("inspect", "-t", tmp_path / "seed").stdout
    assert "Training" not in page
    assert "pretokenizer none" in page
    assert "count" not in page
    assert "rank       id  left + right → token" in page


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        (b"\x80", "single_byte"),
        (b"a\xe4", "partial_character"),
        (b" ", "white_space"),
        (b"\r\n\t", "white_space"),
        (b" the", "word_after_space"),
        ("हिन्दी".encode(), "word"),
        ("中文".encode(), "word"),
        ("²3".encode(), "number"),
        (b" 3", "number"),
        (b"):", "punctuation"),
        (b" +=", "punctuation"),
        (b"\x00", "punctuation"),
        (b"a1", "mixed"),
        (b"a b", "mixed"),
        (b"  a", "mixed"),
    ],
)
def test_kinds(token: bytes, kind: str) -> None:
    assert kind_of(token) == kind


def test_events(run: Callable[..., Result], tmp_path: Path) -> None:
    text = "the hut, the the she; the then, he"
    tok = digram.train(text, max_merges=3, picky=0.7, pretokenizer="gpt2")
    tok.save(tmp_path / "tok.json")
    result = run("inspect", "-t", tmp_path / "tok.json", "--rows", "3")
    assert "256 bytes, 3 merges, 0 special" in result.stdout
    assert "3 merges and 2 dropped tokens, applied in order" in result.stdout
    assert "      1           5  [t] + [he] → [the]" in result.stdout
    assert "      4           1  [the] dropped, split into [t][h][e]" in result.stdout
    facts = json.loads(run("inspect", "-t", tmp_path / "tok.json", "--rows", "3", "--json").stdout)
    shown = facts["first_events"] + facts["last_events"]
    assert [event["number"] for event in shown] == [0, 1, 2, 3, 4]
    assert [event["kind"] for event in shown] == ["merge", "merge", "drop", "merge", "drop"]


def test_a_few_special_tokens_are_all_shown(run: Run, tmp_path: Path) -> None:
    for number, rest in ((3, ""), (11, ""), (12, " and 2 more"), (300, " and 290 more")):
        tokens = [f"<|special_{i}|>" for i in range(number)]
        digram.train("low", max_merges=0, special_tokens=tokens).save(tmp_path / "t.json")
        page = run("inspect", "-t", tmp_path / "t.json").stdout
        assert max(map(len, page.splitlines())) <= 80
        shown = [f"{token} {256 + i}" for i, token in enumerate(tokens[: 10 if rest else 11])]
        assert f"special {', '.join(shown)}{rest} digest " in " ".join(page.split())


def test_sides_are_shown_without_a_pad_token(run: Run, tmp_path: Path) -> None:
    tok = digram.train("low", max_merges=0).with_padding_side("left").with_truncation_side("left")
    tok.save(tmp_path / "t.json")
    page = run("inspect", "-t", tmp_path / "t.json").stdout
    assert "  padding      on the left\n  truncation   on the left\n" in page
