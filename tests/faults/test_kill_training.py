"""A short campaign of `kill_training.py`: training that is killed goes on, and ends the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from training.test_determinism import SEPARATOR, invented

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    ("ties", "more"),
    [
        ("ids", {}),
        ("first_seen", {"memory_limit": "24 MiB"}),
        ("lexicographic", {"memory_limit": "24 MiB", "weights": {"first": 2}}),
    ],
)
def test_a_few_kills(tmp_path: Path, ties: str, more: dict[str, object]) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(SEPARATOR.join(invented(4.0)), encoding="utf-8", newline="")
    options = {"vocab_size": 8_000, "ties": ties, "pretokenizer": "gpt2", **more}
    command = [sys.executable, str(HERE / "kill_training.py"), "--kills", "4"]
    command += ["--corpus", str(corpus), "--options", json.dumps(options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kills"] == 4
    assert told["ended"] >= 1
    assert told["resumed"] >= 1, "no run found a checkpoint; the text is too short to make one"
