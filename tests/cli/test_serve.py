"""`digram serve` before it serves; what it serves is tested in tests/web."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from click.testing import Result

Run = Callable[..., Result]


def test_without_its_extra(run: Run, tok_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "digram.web.listening", raising=False)
    result = run("serve", "-t", tok_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "uvicorn" in result.stderr
    assert 'pip install ".[web]"' in result.stderr


def test_a_tokenizer_named_twice(run: Run, tok_path: str) -> None:
    result = run("serve", "-t", tok_path, "-t", tok_path)
    assert result.exit_code == 2
    assert f"{tok_path} is given twice." in result.stderr


def test_no_tokenizer(run: Run) -> None:
    result = run("serve")
    assert result.exit_code == 2
    assert "Missing option '-t' / '--tokenizer'. Name a tokenizer with it" in result.stderr


@pytest.mark.parametrize("host", ["http://localhost:9000", "", "*", "a b", "box:port", "a/b"])
def test_what_is_no_host(run: Run, tok_path: str, host: str) -> None:
    result = run("serve", "-t", tok_path, "--allow-host", host)
    assert result.exit_code == 2
    assert "is not the name of a host. Write it as" in result.stderr


def test_an_encoding_that_is_none(run: Run, tok_path: str) -> None:
    result = run("serve", "-t", f"{tok_path}:cl100k")
    assert result.exit_code == 2
    assert "'cl100k', after" in result.stderr
    assert "cl100k_base" in result.stderr
    result = run("serve", "-t", f"nowhere{tok_path}:cl100k")
    assert result.exit_code == 4
