"""A short campaign of `kill_encoding.py`: what is killed goes on, and ends the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from kill_encoding import FORMATS
from test_determinism import SEPARATOR, invented

import digram.sinks

HERE = Path(__file__).parents[1]


def test_a_few_kills(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(SEPARATOR.join(invented(1.5)), encoding="utf-8", newline="")
    command = [sys.executable, str(HERE / "kill_encoding.py"), "--kills", "4"]
    command += ["--corpus", str(corpus), "--formats", "dolma"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kills"] == 4
    assert told["ended"] >= 1
    assert told["resumed"] >= 1, "no run found a shard; the text is too short to make one"


def test_the_long_campaign_takes_all_formats() -> None:
    assert set(digram.sinks.FORMATS) == set(FORMATS)
