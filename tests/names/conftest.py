"""A machine without any tokenizers, in folders that the tests fill."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import digram


class Machine(NamedTuple):
    """Where tokenizers are looked for."""

    own: Path
    tiktoken: Path
    hub: Path

    def variables(self) -> dict[str, str]:
        return {
            "DIGRAM_TOKENIZERS": str(self.own),
            "TIKTOKEN_CACHE_DIR": str(self.tiktoken),
            "HF_HUB_CACHE": str(self.hub),
        }


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Empty folders, and a current folder with nothing in it."""
    found = Machine(tmp_path / "own", tmp_path / "tiktoken", tmp_path / "hub")
    for name, value in found.variables().items():
        monkeypatch.setenv(name, value)
    for folder in found:
        folder.mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return found


@pytest.fixture(scope="session")
def tok() -> digram.Tokenizer:
    """A small tokenizer."""
    return digram.train("low low lower", vocab_size=259, special_tokens=["<|end|>"])
