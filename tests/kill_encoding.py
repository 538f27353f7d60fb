"""Kills bulk encoding with SIGKILL at random moments, and goes on with `resume=True`.

`python tests/kill_encoding.py --kills 100` runs a long campaign; the suite runs a short one. A
process encodes into a folder and is killed; the next makes the same call with the same folder, and
every second time with another number of threads. When one comes to its end, all files of the folder
must be those of a run that nobody killed, bit for bit; then all begins anew with the next format.
Prints one line of JSON and fails at the first difference.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

READY = "ready"
FORMATS = ("megatron", "nanogpt", "llmc", "datatrove", "dolma", "npy", "parquet", "arrow")
LONGEST = 600
"""Seconds after which a run that nobody kills is taken to hang."""


def encode(corpus: str, folder: str, format: str, threads: int) -> None:
    """In a process of its own: says when it begins, and encodes in many small steps."""
    import digram
    from digram.bulk import encoding

    encoding.LEAST = encoding.BATCH = 1 << 16
    tok = digram.train("the quick brown fox, the dog", max_merges=20, special_tokens=["</s>"])
    print(READY, flush=True)
    tok.encode_files(
        Path(corpus),
        folder,
        format=format,
        separator="<|endoftext|>",
        shard_tokens=50_000,
        threads=threads,
        resume=True,
    )


def digest(folder: Path) -> str:
    """Of the names and contents of all files."""
    sha = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        sha.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return sha.hexdigest()


@dataclass
class Campaign:
    """What is encoded, and what became of it."""

    corpus: Path
    kills: int
    seed: int = 0
    formats: tuple[str, ...] = FORMATS
    killed: int = 0
    resumed: int = 0  # runs that found shards in the folder
    ended: int = 0  # runs that came to an end after kills
    seconds: list[float] = field(default_factory=list)  # of runs that nobody killed

    def run(self) -> dict[str, object]:
        """All the kills; a summary, or `SystemExit` at the first difference."""
        began = time.perf_counter()
        rng = random.Random(self.seed)
        with tempfile.TemporaryDirectory() as name:
            expected = {}
            for format in self.formats:
                whole = Path(name) / f"whole-{format}"
                self.seconds.append(self._one(whole, format, 2, None))
                expected[format] = digest(whole)
            number = 0
            while self.killed < self.kills:
                format = self.formats[number % len(self.formats)]
                folder = Path(name) / str(number)
                self._until_it_ends(folder, format, rng)
                if digest(folder) != expected[format]:
                    raise SystemExit(f"seed {self.seed}, {format}, run {number}: other files")
                number += 1
        return {
            "kills": self.killed,
            "resumed": self.resumed,
            "ended": self.ended,
            "undisturbed": round(statistics.median(self.seconds), 2),
            "seconds": round(time.perf_counter() - began, 1),
        }

    def _until_it_ends(self, folder: Path, format: str, rng: random.Random) -> None:
        """Up to five kills, each at a random moment of what a run takes."""
        usual = statistics.median(self.seconds)
        kills = 0
        while True:
            alive = rng.uniform(0, usual) if kills < 5 and self.killed < self.kills else None
            self.resumed += any(folder.glob("tokens-*"))
            if self._one(folder, format, 1 + kills % 2, alive) >= 0:
                self.ended += kills > 0
                return
            kills += 1
            self.killed += 1

    def _one(self, folder: Path, format: str, threads: int, alive: float | None) -> float:
        """The seconds of a run; -1 where it was killed before it ended."""
        what = {
            "corpus": str(self.corpus),
            "folder": str(folder),
            "format": format,
            "threads": threads,
        }
        process = subprocess.Popen(
            [sys.executable, __file__, "--encode", json.dumps(what)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # so that nothing is read past the line
        )
        assert process.stdout is not None
        process.stdout.readline()  # where it could not begin, its end will tell
        began = time.perf_counter()
        try:
            process.wait(LONGEST if alive is None else alive)
        except subprocess.TimeoutExpired:
            if alive is None:
                process.kill()
                raise SystemExit(f"a run did not end in {LONGEST} s") from None
            process.send_signal(signal.SIGKILL)
        _, err = process.communicate()
        if process.returncode == -signal.SIGKILL:
            return -1
        if process.returncode:
            raise SystemExit(f"seed {self.seed}, {format}: a run failed: {err.decode()[-2000:]}")
        return time.perf_counter() - began


def main() -> None:
    """A campaign, or one run of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpus", type=Path, help="documents joined by <|endoftext|>")
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--encode", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.encode:
        encode(**json.loads(arguments.encode))
        return
    if arguments.corpus is None:
        parser.error("say what to encode: --corpus corpora/en.txt")
    formats = tuple(arguments.formats.split(","))
    campaign = Campaign(arguments.corpus, arguments.kills, arguments.seed, formats)
    print(json.dumps(campaign.run()), flush=True)


if __name__ == "__main__":
    main()
