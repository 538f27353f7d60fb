"""Damages files of every kind, reads each in a process of its own, and says what became of them.

`python tests/faults/mutate_files.py --cases 20000` takes minutes; the suite takes a share. A case
is identified by its kind and number, and is the same each time: `--kind history.json --only 17`
shows one. Fails where a process crashed, panicked, aborted, hung or took too much memory, where an
error is none of `DigramError`, and where files are read as what they do not say.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import struct
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from file_kinds import Kind, all_kinds, put
from forked import Ended, forked
from mutants import mutate_bytes, mutate_json, mutate_lines

from digram import DigramError

NUMBERS = [
    0,
    1,
    -1,
    2,
    5,
    127,
    255,
    65536,
    (1 << 31) - 1,
    -(1 << 31),
    1 << 30,
    10**15,
    (1 << 63) - 1,
]


def mutate_numbers(data: bytes, rng: random.Random) -> bytes:
    """Another number in place of one of 4 or 8 bytes, mostly one near it."""
    size = rng.choice([1, 2, 4, 4, 8])
    if len(data) < size:
        return data + b"\0"
    at = rng.randrange(0, len(data) - size + 1)
    at -= at % size if rng.random() < 0.8 else 0
    old = int.from_bytes(data[at : at + size], "little", signed=True)
    new = rng.choice([*NUMBERS, old + 1, old - 1, old * 2, -old, old + 8, old - 8, len(data)])
    return data[:at] + (new % (1 << 8 * size)).to_bytes(size, "little") + data[at + size :]


def mutate_parts(data: bytes, rng: random.Random) -> bytes:
    """Two stretches of eight bytes and more change places, or one takes that of the other."""
    size = 8 * rng.choice([1, 1, 2, 4, 16])
    if len(data) < 2 * size:
        return data[::-1]
    one, other = (8 * rng.randrange((len(data) - size) // 8 + 1) for _ in range(2))
    found = bytearray(data)
    found[one : one + size] = data[other : other + size]
    if rng.random() < 0.5:
        found[other : other + size] = data[one : one + size]
    return bytes(found)


WAYS = {
    "bytes": [mutate_bytes, mutate_numbers, mutate_parts],
    "lines": [mutate_bytes, mutate_lines],
    "json": [mutate_bytes, mutate_json, mutate_json],
}


def damaged(kind: Kind, number: int) -> dict[str, bytes]:
    """The files of one case."""
    rng = random.Random(f"{kind.name} {number}")
    files = dict(kind.files)
    name = rng.choice([*files])
    if len(files) > 1 and rng.random() < 0.02:
        del files[name]
        return files
    form = "bytes" if kind.form == "json" and not name.endswith(".json") else kind.form
    form = "json" if name.endswith(".json") else form
    data = files[name]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        try:
            data = rng.choice(WAYS[form])(data, rng)
        except (ValueError, IndexError, struct.error):  # no longer of the form that this one needs
            data = mutate_bytes(data, rng)
    files[name] = data
    return files


def tried(kind: Kind, number: int, folder: Path, expected: Any) -> Ended:
    """What becomes of a case: "refused", or "value" with "equal" or "other" as what was said."""
    files = damaged(kind, number)
    put(files, folder)

    def read() -> str:
        found = plain(kind.read(folder))
        if found == expected:
            return "equal"
        assert not kind.sealed, f"read as {shown(found, expected)}"
        if kind.says is not None:
            put(files, folder)
            try:
                said = kind.says(folder)
                said = found if said is NotImplemented else plain(said)
            except Exception as error:
                raise AssertionError(
                    f"read, where others say {error!r}: {shown(found, expected)}"
                ) from None
            assert found == said, f"read as {shown(found, said)}"
        return "other"

    missing = (FileNotFoundError,) if len(files) < len(kind.files) else ()
    return forked(read, allowed=(DigramError, *missing))


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=lambda found: found.tolist()))


def shown(found: Any, expected: Any) -> str:
    """The first place where two values differ."""
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for one, other in zip(found, expected, strict=True):
            if one != other:
                return shown(one, other)
    return f"{json.dumps(found)[:300]}, not {json.dumps(expected)[:300]}"


def campaign(
    kinds: dict[str, Kind], cases: int, lanes: int, first: int = 0
) -> Iterator[tuple[str, int, Ended]]:
    """So many cases, shared among the kinds and among processes; what became of each."""
    where = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=where) as home:
        expected = {}
        for name, kind in kinds.items():
            put(kind.files, Path(home) / "whole")
            expected[name] = plain(kind.read(Path(home) / "whole"))
            if kind.says is not None:
                put(kind.files, Path(home) / "whole")
                assert plain(kind.says(Path(home) / "whole")) == expected[name], name
        names = [*kinds]
        children = []
        for lane in range(lanes):
            child = os.fork()
            if child:
                children.append(child)
                continue
            status = 1
            try:
                with (Path(home) / f"{lane}.jsonl").open("w", encoding="utf-8") as file:
                    for case in range(first + lane, first + cases, lanes):
                        name, number = names[case % len(names)], case // len(names)
                        ended = tried(kinds[name], number, Path(home) / str(lane), expected[name])
                        file.write(json.dumps([name, number, ended.how, ended.said]) + "\n")
                status = 0
            finally:
                os._exit(status)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * lanes
        for lane in range(lanes):
            for line in (Path(home) / f"{lane}.jsonl").read_text("utf-8").splitlines():
                name, number, how, said = json.loads(line)
                yield name, number, Ended(how, said)


def main() -> int:
    """The command."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--cases", type=int, default=20_000)
    options.add_argument("--first", type=int, default=0, help="number of the first case")
    options.add_argument("--lanes", type=int, default=os.cpu_count() or 1)
    options.add_argument("--kind", action="append", help="only kinds whose names hold this")
    options.add_argument("--only", type=int, help="only this number of each kind, told in full")
    told = options.parse_args()
    warnings.simplefilter("ignore")  # of tokens that no text yields
    kinds = {
        name: kind
        for name, kind in all_kinds().items()
        if told.kind is None or any(part in name for part in told.kind)
    }
    if told.only is not None:
        told.first, told.cases = told.only * len(kinds), len(kinds)
    began = time.monotonic()
    sums: dict[str, collections.Counter[str]] = {name: collections.Counter() for name in kinds}
    faults = []
    for name, number, ended in campaign(kinds, told.cases, told.lanes, told.first):
        sums[name][str(ended.said) if ended.how == "value" else ended.how] += 1
        if ended.is_fault:
            faults.append((name, number, ended))
        if told.only is not None:
            print(f"{name} {number}: {ended.how}: {ended.said}")
    for name, number, ended in faults:
        print(f"FAULT {name} {number}: {ended.how}: {ended.said}")
    for name, found in sums.items():
        print(f"{name:44}", "  ".join(f"{how} {found[how]:,}" for how in sorted(found)))
    whole = sum(sums.values(), collections.Counter())
    how = ["crash", "panic", "abort", "hang", "memory", "class", "message", "silent"]
    line = {"cases": whole.total(), "kinds": len(kinds)}
    line |= {name: whole[name] for name in ["refused", "equal", "other", *how]}
    print(json.dumps(line | {"seconds": round(time.monotonic() - began)}))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
