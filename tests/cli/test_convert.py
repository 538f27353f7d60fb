"""`digram convert`: from each format to each, refusing what would be lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import digram

Run = Callable[..., Result]


@pytest.fixture
def plain(tmp_path: Path, text: str) -> Path:
    """A tokenizer without special tokens, so that every format can carry its vocabulary."""
    path = tmp_path / "plain.json"
    digram.train(text, vocab_size=290, pretokenizer="gpt2").save(path)
    return path


@pytest.mark.parametrize(
    "format_", ["huggingface", "tiktoken", "gguf", "tekken", "minbpe", "vocab_merges"]
)
def test_there_and_back(run: Run, plain: Path, tmp_path: Path, format_: str) -> None:
    there, back = tmp_path / "there", tmp_path / "back.json"
    result = run("convert", "-t", plain, "-o", there, "--format", format_)
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    assert f"Saved {there}: 290 tokens" in result.stderr
    stores_none = format_ in ("tiktoken", "vocab_merges")
    name = ["--pretokenizer", "gpt2"] if stores_none else []
    assert run("convert", "-t", there, "-o", back, *name).exit_code == 0
    text = "the cat sat, naïve 中文"
    assert digram.load(back).encode(text) == digram.load(plain).encode(text)
    # The verbs that use a tokenizer take the same option.
    assert run("count", "-t", there, *name, input=text).exit_code == 0


def test_a_missing_pretokenizer_is_asked_for(run: Run, plain: Path, tmp_path: Path) -> None:
    assert (
        run("convert", "-t", plain, "-o", tmp_path / "v", "--format", "vocab_merges").exit_code == 0
    )
    for arguments in (
        ["convert", "-t", tmp_path / "v", "-o", tmp_path / "x.json"],
        ["count", "-t", tmp_path / "v"],
    ):
        result = run(*arguments, input="")
        assert result.exit_code == 2
        assert "pretokenizer" in result.stderr
    assert run("count", "-t", tmp_path / "v", "--pretokenizer", "none", input="a").exit_code == 0


def test_loss_is_refused_unless_allowed(run: Run, tok_path: str, tmp_path: Path) -> None:
    there = tmp_path / "t.tiktoken"
    refused = run("convert", "-t", tok_path, "-o", there)
    assert refused.exit_code == 3
    assert not there.exists()
    assert run("convert", "-t", tok_path, "-o", there, "--allow-loss").exit_code == 0
    assert there.exists()


def test_stdout(run: Run, plain: Path, tmp_path: Path) -> None:
    result = run("convert", "-t", plain, "-o", "-", "--format", "tiktoken")
    assert result.stdout.startswith("AA== 0\n")
    assert result.stderr == ""
    assert run("convert", "-t", plain, "-o", "-").stdout_bytes == plain.read_bytes()
    folder = run("convert", "-t", plain, "-o", "-", "--format", "vocab_merges")
    assert (folder.exit_code, folder.stdout) == (2, "")


def test_published_encodings(run: Run, shared_data: Callable[[str], Path], tmp_path: Path) -> None:
    source = shared_data("vocabs/r50k_base.tiktoken")
    out = tmp_path / "r50k.json"
    assert run("convert", "-t", source, "-o", out, "--encoding", "r50k_base", "-q").exit_code == 0
    assert digram.load(out).special_tokens == {"<|endoftext|>": 50256}
    shown = run("show", "-t", source, "--encoding", "r50k_base", "--ids", "--text", "Hello world")
    assert shown.stdout == "[Hello] [·world]\n15496   995\n"
