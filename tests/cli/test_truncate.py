"""`digram truncate`: what `Tokenizer.truncate` gives, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import digram

Run = Callable[..., Result]

TEXT = "the cat sat on the mat, 中文 and naïve foxes\r\n\n".encode() + b"\xff\x00 end"


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("n", [0, 1, 7, 12, 1000])
def test_it_is_what_the_library_gives(
    run: Run, tok: digram.Tokenizer, tok_path: str, tmp_path: Path, side: str, n: int
) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT)
    asked = ["truncate", "-t", tok_path, "-n", str(n), "--side", side]
    result = run(*asked, path)
    assert (result.exit_code, result.stderr) == (0, "")
    expected = tok.truncate(TEXT, n, side="left" if side == "left" else "right")
    assert result.stdout_bytes == expected
    assert run(*asked, input=TEXT).stdout_bytes == expected
    assert run(*asked, "-", input=TEXT).stdout_bytes == expected
    assert tok.count(expected) <= n


def test_special_tokens(run: Run, tok_path: str) -> None:
    asked = ["truncate", "-t", tok_path, "--max-length", "2"]
    assert run(*asked, input="<|end|> the cat").stdout != "<|end|> the"
    assert run(*asked, "--special", "parse", input="<|end|> the cat").stdout.startswith("<|end|> ")


def test_faults(run: Run, tok_path: str, tmp_path: Path) -> None:
    missing = run("truncate", "-t", tok_path, "-n", "3", tmp_path / "none.txt")
    assert (missing.exit_code, missing.stdout) == (4, "")
    negative = run("truncate", "-t", tok_path, "-n", "-1", input="a")
    assert (negative.exit_code, negative.stdout) == (2, "")
    assert "--max-length -1 is not at least 0." in negative.stderr
    assert run("truncate", "-t", tok_path, input="a").exit_code == 2
