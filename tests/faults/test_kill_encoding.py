"""A short campaign of `kill_encoding.py`: what is killed goes on, and ends the same."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

from faults.kill_encoding import FORMATS
from training.test_determinism import SEPARATOR, invented

import digram.shards.formats

HERE = Path(__file__).parent


def test_a_few_kills(tmp_path: Path) -> None:
    """Of several files of several kinds, in shards of several files, in formats by turns."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    texts = invented(0.6)
    third = len(texts) // 3
    (corpus / "a.txt").write_bytes(SEPARATOR.join(texts[:third]).encode())
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts[third : 2 * third])
    (corpus / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode(), 1))
    (corpus / "c.txt").write_bytes(b"")
    (corpus / "d.txt").write_bytes(SEPARATOR.join(texts[2 * third :]).encode())
    command = [sys.executable, str(HERE / "kill_encoding.py"), "--kills", "4", "--in-a-row", "1"]
    command += ["--corpus", str(corpus), "--formats", "megatron,dolma,parquet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kills"] == 4
    assert told["ended"] >= 1
    assert told["resumed"] >= 1, "no run found a shard; the text is too short to make one"


def test_the_long_campaign_takes_all_formats() -> None:
    assert set(digram.shards.formats.FORMATS) == set(FORMATS)
