"""A tokenizer on disk, and two ways to run a verb: in this process, and in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import digram
from digram.cli import cli

TEXT = (
    "the cat sat on the mat, and the other cats sat there too.\n" * 40
    + "中文 naïve: quick brown foxes jump over lazy dogs\n"
)

Run = Callable[..., Result]
Process = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(scope="session")
def text() -> str:
    """What the tokenizer of these tests was trained on."""
    return TEXT


@pytest.fixture(scope="session")
def tok() -> digram.Tokenizer:
    """A small tokenizer."""
    return digram.train(TEXT, vocab_size=300, special_tokens=["<|end|>"])


@pytest.fixture(scope="session")
def tok_path(tok: digram.Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """That tokenizer in a file."""
    path = tmp_path_factory.mktemp("cli") / "tokenizer.json"
    tok.save(path)
    return str(path)


@pytest.fixture
def run() -> Run:
    """Run a verb in this process: `run("count", ..., input=b"...")`."""

    def invoke(*arguments: str | Path, **options: Any) -> Result:
        return CliRunner().invoke(cli, [str(a) for a in arguments], **options)

    return invoke


@pytest.fixture
def process(tmp_path: Path) -> Process:
    """Run a verb in a process of its own, in an empty folder."""

    def start(*arguments: str | bytes | Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
        env = {**os.environ, **options.pop("env", {})}
        command = [sys.executable, "-m", "digram", *map(os.fsdecode, arguments)]
        defaults: dict[str, Any] = {"cwd": tmp_path, "timeout": 60}
        defaults |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.run(command, env=env, check=False, **{**defaults, **options})

    return start
