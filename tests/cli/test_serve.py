"""`digram serve` before it serves; what it serves is tested in tests/web."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from click.testing import Result

Run = Callable[..., Result]


def test_without_its_extra(run: Run, tok_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    monkeypatch.setitem(sys.modules, "starlette", None)
    result = run("serve", tok_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "starlette" in result.stderr
    assert "Install it with `pip install 'digram[web]'`." in result.stderr


def test_a_tokenizer_named_twice(run: Run, tok_path: str) -> None:
    result = run("serve", tok_path, tok_path)
    assert result.exit_code == 2
    assert f"{tok_path} is named twice." in result.stderr


def test_no_tokenizer(run: Run) -> None:
    result = run("serve")
    assert result.exit_code == 2
    assert "Missing argument" in result.stderr
