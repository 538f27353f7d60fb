"""Kills savers with SIGKILL at random moments and looks at what they leave behind.

`python tests/faults/kill_saves.py --kills 100000` runs a long campaign; the suite runs a short one.
A saver writes two versions of a file, or of a pair of files, in turn and without pause, until it is
killed. Each time the reader must find one of the two versions, bit for bit, and after the next save
nothing else may be there. Prints one line of JSON and fails at the first loss.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import statistics
import tempfile
import time
from pathlib import Path

from digram._util import storage

VERSIONS = [random.Random(seed).randbytes(size) for seed, size in ((1, 150_000), (2, 90_000))]
PAIRS = [(version[:60_000], version[60_000:]) for version in VERSIONS]
# The same first file in both versions: then only the second tells them apart.
TWINS = [(VERSIONS[0], b"one"), (VERSIONS[0], b"two")]


FILE, FIRST, SECOND = "tokenizer.json", "vocab.json", "merges.txt"


def save(kind: str, folder: Path, version: int) -> None:
    """One save of one version."""
    if kind in ("file", "named"):
        storage.atomic_write(folder / FILE, VERSIONS[version])
    else:
        one, two = (PAIRS if kind == "pair" else TWINS)[version]
        storage.write_pair(folder, (FIRST, one), (SECOND, two))


def timed_save(kind: str, folder: Path, version: int) -> float:
    """The seconds that one save takes."""
    start = time.perf_counter()
    save(kind, folder, version)
    return time.perf_counter() - start


def intact(kind: str, folder: Path) -> bool:
    """Whether the reader finds one of the two versions."""
    if kind in ("file", "named"):
        return storage.read_file(folder / FILE) in VERSIONS
    return storage.read_pair(folder, FIRST, SECOND) in (PAIRS if kind == "pair" else TWINS)


def kill_one(kind: str, folder: Path, longest: float, rng: random.Random) -> None:
    """Starts a saver and kills it at a random moment."""
    readable, ready = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(ready, b".")
            for i in itertools.count():
                save(kind, folder, i % 2)
        finally:
            os._exit(1)  # only an error ends the loop
    os.close(ready)
    try:
        os.read(readable, 1)
        time.sleep(rng.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    finally:
        os.close(readable)
    if not os.WIFSIGNALED(status):
        raise SystemExit("a saver ended by itself: a save failed")


def campaign(kind: str, kills: int, seed: int) -> dict[str, object]:
    """Kills `kills` savers of one kind; says how many left something for the next save."""
    rng = random.Random(seed)
    if kind == "named":  # as where no file can be without a name
        del os.O_TMPFILE
    left = stale = 0
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        usual = statistics.median(timed_save(kind, folder, i % 2) for i in range(9))
        longest = min(3 * usual, 0.02)  # a busy disk should not make a campaign long
        expected = {path.name for path in folder.iterdir()}
        for kill in range(kills):
            kill_one(kind, folder, longest, rng)
            if not intact(kind, folder):
                raise SystemExit(f"{kind}: kill {kill} of seed {seed} left neither version")
            left += any(folder.glob(storage.LEFT_BEHIND))
            save(kind, folder, kill % 2)
            stale += {path.name for path in folder.iterdir()} != expected
    seconds = round(time.perf_counter() - began, 1)
    if stale:
        raise SystemExit(f"{kind}: {stale} of {kills} kills left files behind for good")
    told = {"left until the next save": left, "left for good": stale}
    return {"kind": kind, "kills": kills, **told, "seconds": seconds}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    share = {"file": arguments.kills // 2, "pair": arguments.kills // 5}
    share["twins"] = arguments.kills // 5
    share["named"] = arguments.kills - sum(share.values())
    for number, (kind, kills) in enumerate(share.items()):
        print(json.dumps(campaign(kind, kills, arguments.seed + number)), flush=True)
