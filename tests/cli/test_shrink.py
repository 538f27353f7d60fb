"""`digram shrink`: a smaller file from a larger one, as training would have written it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import Result

import digram

Run = Callable[..., Result]


def test_it_writes_what_training_writes(run: Run, text: str, tmp_path: Path) -> None:
    corpus, large, small = (tmp_path / name for name in ("corpus.txt", "large.json", "small.json"))
    corpus.write_text(text, encoding="utf-8")
    more = ["--special-token", "<s>", "--reserve", "image=4", "--pad-to-multiple", "32"]
    trained = run("train", corpus, "--vocab-size", "300", "-o", large, *more)
    assert trained.exit_code == 0, trained.stderr
    result = run("shrink", "-t", large, "-o", small, "--vocab-size", "280")
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    assert result.stderr == f"Saved {small}: 288 tokens, 19 merges\n"
    again = tmp_path / "again.json"
    assert run("train", corpus, "--vocab-size", "280", "-o", again, *more).exit_code == 0
    assert small.read_bytes() == again.read_bytes()
    assert (
        run("shrink", "-t", large, "-o", "-", "--vocab-size", "280").stdout_bytes
        == again.read_bytes()
    )


def test_sizes_that_make_no_sense(run: Run, text: str, tmp_path: Path) -> None:
    source = tmp_path / "t.json"
    digram.train(text, vocab_size=300).save(source)
    result = run("shrink", "-t", source, "-o", tmp_path / "small.json", "--vocab-size", "301")
    assert result.exit_code == 2
    assert "--vocab-size 301 is more than the size 300 of this vocabulary" in result.stderr
    assert not (tmp_path / "small.json").exists()
    assert run("shrink", "-t", source, "-o", tmp_path / "small.json").exit_code == 2


def test_a_published_vocabulary(
    run: Run, shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    source, small = shared_data("vocabs/cl100k_base.tiktoken"), tmp_path / "small.tiktoken"
    result = run(
        "shrink",
        "-t",
        source,
        "-o",
        small,
        "--vocab-size",
        "8000",
        "--pretokenizer",
        "cl100k",
        "-q",
    )
    assert (result.exit_code, result.stderr) == (0, "")
    assert small.read_bytes() == b"".join(source.read_bytes().splitlines(True)[:8000])
