"""Kills training with SIGKILL at random moments, and goes on from its checkpoints.

With `weights`, which name a `first` and a `second` source, the corpus is both.
`python tests/faults/kill_training.py --kills 200` runs a long campaign; the suite runs a short one.
A process trains with `checkpoint=folder` and is killed; the next makes the same call with the same
folder. When one comes to its end, the file that it saves must be that of a run without checkpoints
and without kills, bit for bit; then all begins anew. Prints one line of JSON and fails at the first
difference.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

READY = "ready"
LONGEST = 600
"""Seconds after which a run that nobody kills is taken to hang."""


def train(corpus: str, checkpoint: str | None, options: dict[str, Any]) -> None:
    """In a process of its own: says when it begins, trains, prints the digest of what it saves."""
    import digram
    import digram.training.checkpoint

    # So often that kills meet all that is done for it, on a corpus this small.
    digram.training.checkpoint.BETWEEN = 0.05
    print(READY, flush=True)
    if checkpoint is not None:
        options["checkpoint"] = Path(checkpoint)
    source = digram.files(corpus, separator="<|endoftext|>")
    named = {"first": source, "second": source} if "weights" in options else source
    tokenizer = digram.train(named, **options)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "tokenizer.json"
        tokenizer.save(path)
        print(hashlib.sha256(path.read_bytes()).hexdigest(), flush=True)


@dataclass
class Campaign:
    """What is trained, and what became of it."""

    corpus: Path
    options: dict[str, Any]
    kills: int
    seed: int = 0
    resumed: int = 0  # runs that found something in the folder
    ended: int = 0  # runs that came to an end after kills
    seconds: list[float] = field(default_factory=list)  # what those runs still took

    def run(self) -> dict[str, object]:
        """All the kills; a summary, or `SystemExit` at the first difference."""
        began = time.perf_counter()
        times, digests = zip(*(self._undisturbed() for _ in range(3)), strict=True)
        if len(set(digests)) != 1:
            raise SystemExit("two runs that nobody disturbed differ")
        usual = statistics.median(times)
        self._kill_all(usual, digests[0])
        return {
            "kills": self.kills,
            "resumed": self.resumed,
            "ended": self.ended,
            "undisturbed": round(usual, 2),
            "after the last kill": round(statistics.median(self.seconds), 2),
            "seconds": round(time.perf_counter() - began, 1),
        }

    def _kill_all(self, usual: float, expected: str) -> None:
        """Up to the last kill at random moments; the run after that one comes to its end."""
        rng = random.Random(self.seed)
        killed, since_the_start = 0, 0
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "checkpoint"
            while killed < self.kills or since_the_start:
                # A run is killed up to five times, so that many come to their end.
                alive = rng.uniform(0, 1.1 * usual)
                last = killed == self.kills or since_the_start == 5
                self.resumed += any(folder.rglob("*.digram-run"))
                began = time.perf_counter()
                digest = self._one(folder, None if last else alive)
                if digest is None:
                    killed, since_the_start = killed + 1, since_the_start + 1
                    continue
                if digest != expected:
                    raise SystemExit(f"seed {self.seed}, after kill {killed}: another tokenizer")
                if since_the_start:
                    self.ended += 1
                    self.seconds.append(time.perf_counter() - began)
                shutil.rmtree(folder, ignore_errors=True)
                since_the_start = 0

    def _undisturbed(self) -> tuple[float, str]:
        """The seconds from the start of training, and the digest."""
        process = self._start(None)
        return self._finish(process, time.perf_counter())

    def _one(self, folder: Path, alive: float | None) -> str | None:
        """The digest, or None where the run was killed before it ended."""
        process = self._start(folder)
        if alive is None:
            return self._finish(process, 0.0)[1]
        try:
            process.wait(alive)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        if process.returncode == -signal.SIGKILL:
            return None
        return self._digest(process, out, err)

    def _start(self, folder: Path | None) -> subprocess.Popen[bytes]:
        what = {
            "corpus": str(self.corpus),
            "checkpoint": None if folder is None else str(folder),
            "options": self.options,
        }
        process = subprocess.Popen(
            [sys.executable, __file__, "--train", json.dumps(what)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # so that nothing is read past the line
        )
        assert process.stdout is not None
        process.stdout.readline()  # where it could not begin, its end will tell
        return process

    def _finish(self, process: subprocess.Popen[bytes], began: float) -> tuple[float, str]:
        """Wait for the end: the seconds since, and the digest."""
        try:
            out, err = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            raise SystemExit(f"a run did not end in {LONGEST} s") from None
        return time.perf_counter() - began, self._digest(process, out, err)

    def _digest(self, process: subprocess.Popen[bytes], out: bytes, err: bytes) -> str:
        if process.returncode:
            raise SystemExit(f"seed {self.seed}: a run failed: {err.decode()[-2000:]}")
        return out.decode().split()[-1]


def main() -> None:
    """A campaign, or one run of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpus", type=Path, help="documents joined by <|endoftext|>")
    parser.add_argument("--options", default='{"vocab_size": 32000}', help="of train, as JSON")
    parser.add_argument("--train", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.train:
        train(**json.loads(arguments.train))
        return
    if arguments.corpus is None:
        parser.error("say what to train on: --corpus corpora/en.txt")
    options = json.loads(arguments.options)
    campaign = Campaign(arguments.corpus, options, arguments.kills, arguments.seed)
    print(json.dumps(campaign.run()), flush=True)


if __name__ == "__main__":
    main()
