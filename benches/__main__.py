"""The command line: `python -m benches [TABLE ...] [--quick] [--rounds N]`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from benches.data import cache
from benches.journal import Journal
from benches.limits import Limits
from benches.peers import PEERS
from benches.run import Options
from benches.tables import machine
from benches.train import GRID
from benches.trainers import TRAINERS

TABLES = (
    "encode",
    "load",
    "calls",
    "decode",
    "evaluate",
    "sinks",
    "train",
    "within",
    "shapes",
    "memory",
    "estimate_training",
    "adapt",
    "superwords",
    "sequences",
    "growing",
    "picky",
    "unigram",
    "wordpiece",
    "fair",
    "rules",
    "models",
)


def main() -> int:
    """Run the tables that are named, or all; print Markdown; 1 if outputs differ."""
    parser = argparse.ArgumentParser(prog="python -m benches", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--quick", action="store_true", help="less text, one encoding, one thread")
    parser.add_argument("--rounds", type=int, default=3, help="turns that each program takes")
    parser.add_argument("--megabytes", type=float, help="text for encode, decode and train")
    parser.add_argument("--only", default="", help="packages to compare with, with commas between")
    parser.add_argument("--timeout", type=float, default=1_800, help="seconds a measurement has")
    parser.add_argument("--memory", type=float, help="gigabytes that a measurement may hold")
    parser.add_argument("--journal", type=Path, help="where each measurement is appended")
    parser.add_argument("--resume", action="store_true", help="take what the journal has")
    train = parser.add_argument_group(
        "train", "lists with commas between; every combination is run"
    )
    train.add_argument("--full", action="store_true", help="a gigabyte, more sizes: hours")
    for name, choices in GRID.items():
        train.add_argument(f"--{name}", help=", ".join(choices) or "numbers; k is thousand")
    args = parser.parse_args()
    _check(parser, args.tables, TABLES, "table")
    options = Options(
        rounds=max(args.rounds, 1),
        quick=args.quick,
        megabytes=args.megabytes,
        only=_list(args.only),
        limits=Limits(args.timeout, args.memory and args.memory * 1e9),
        journal=Journal(args.journal or cache() / "measured.jsonl", resume=args.resume),
        full=args.full,
        grid={name: found for name in GRID if (found := _list(getattr(args, name) or ""))},
    )
    for name, choices in GRID.items():
        _check(parser, options.grid.get(name, ()), choices, name.removesuffix("s"))

    programs = {one.package: one for one in (*PEERS.values(), *TRAINERS.values()) if one.installed}
    versions = ", ".join(f"{name} {program.version}" for name, program in programs.items())
    print(f"# Benchmarks\n\n{machine()}.\n{versions}.\n", flush=True)
    wrong = []
    for name in args.tables or TABLES:
        text, different = importlib.import_module(f"benches.{name}").run(options)
        print(text + "\n", flush=True)
        wrong += different
    print(f"{machine()}, at the end.")
    for task in wrong:
        print(f"outputs differ: {task.kind} {task.parameters}", file=sys.stderr)
    return 1 if wrong else 0


def _list(words: str) -> tuple[str, ...]:
    return tuple(filter(None, words.split(",")))


def _check(
    parser: argparse.ArgumentParser, names: Sequence[str], choices: Sequence[str], what: str
) -> None:
    """End with what there is, if a name is none of it; without choices, all must be numbers."""
    for name in names:
        if choices and name not in choices:
            parser.error(f"there is no {what} {name!r}; {what}s: {', '.join(choices)}")
        if not choices and not name.removesuffix("k").isdigit():
            parser.error(f"{name!r} is not a number of {what}s")


if __name__ == "__main__":
    sys.exit(main())
