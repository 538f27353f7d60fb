"""Kills bulk encoding with SIGKILL at random moments, and goes on with `resume=True`.

`python tests/faults/kill_encoding.py --kills 100` runs a long campaign; the suite runs a short one.
A process encodes into a folder and is killed; the next makes the same call with the same folder,
and every second time with another number of threads. When one comes to its end, all files of the
folder must be those of a run that nobody killed, bit for bit; then all begins anew with the next
format. Prints one line of JSON and fails at the first difference.
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

from digram.shards import formats

READY = "ready"
FORMATS = tuple(formats.FORMATS)
LONGEST = 600
"""Seconds after which a run that nobody kills is taken to hang."""


def encode(corpus: str, folders: dict[str, str], threads: int) -> None:
    """In a process of its own: says when it begins, and encodes in many small steps.

    `folders` are by their formats. Says how long each took.
    """
    import digram
    from digram.shards import encoding

    encoding.MIN_BATCH = encoding.BATCH = 1 << 16
    tok = digram.train("the quick brown fox, the dog", max_merges=20, special_tokens=["</s>"])
    print(READY, flush=True)
    for format, folder in folders.items():
        began = time.perf_counter()
        digram.encode_files(
            tok,
            digram.files(corpus, separator="<|endoftext|>"),
            folder,
            format=format,
            shard_tokens=50_000,
            threads=threads,
            resume=True,
        )
        print(time.perf_counter() - began, flush=True)


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
    in_a_row: int = 5  # kills before a run comes to its end
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
            wholes = {format: Path(name) / f"whole-{format}" for format in self.formats}
            self.seconds = self._one(wholes, 2, None) or []
            expected = {format: digest(whole) for format, whole in wholes.items()}
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
        """Some kills, each at a random moment of what a run takes."""
        usual = statistics.median(self.seconds)
        kills = 0
        while True:
            again = kills < self.in_a_row and self.killed < self.kills
            alive = rng.uniform(0, usual) if again else None
            self.resumed += any(folder.glob("tokens-*"))
            if self._one({format: folder}, 1 + kills % 2, alive) is not None:
                self.ended += kills > 0
                return
            kills += 1
            self.killed += 1

    def _one(
        self, folders: dict[str, Path], threads: int, alive: float | None
    ) -> list[float] | None:
        """The seconds of runs; None where the process was killed before it ended."""
        what = {
            "corpus": str(self.corpus),
            "folders": {format: str(folder) for format, folder in folders.items()},
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
        try:
            process.wait(LONGEST if alive is None else alive)
        except subprocess.TimeoutExpired:
            if alive is None:
                process.kill()
                raise SystemExit(f"a run did not end in {LONGEST} s") from None
            process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        if process.returncode == -signal.SIGKILL:
            return None
        if process.returncode:
            formats = ", ".join(folders)
            raise SystemExit(f"seed {self.seed}, {formats}: a run failed: {err.decode()[-2000:]}")
        return [float(line) for line in out.split()]


def main() -> None:
    """A campaign, or one run of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--in-a-row", type=int, default=5, help="kills before a run ends")
    parser.add_argument(
        "--corpus", type=Path, help="a file of documents joined by <|endoftext|>, or a folder"
    )
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--encode", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.encode:
        encode(**json.loads(arguments.encode))
        return
    if arguments.corpus is None:
        parser.error("say what to encode: --corpus corpora/en.txt")
    formats = tuple(arguments.formats.split(","))
    campaign = Campaign(
        arguments.corpus, arguments.kills, arguments.in_a_row, arguments.seed, formats
    )
    print(json.dumps(campaign.run()), flush=True)


if __name__ == "__main__":
    main()
