"""The command line: `python -m benches [TABLE ...] [--quick] [--rounds N]`."""

from __future__ import annotations

import argparse
import importlib
import sys

from benches.peers import PEERS
from benches.run import Options
from benches.tables import machine

TABLES = ("encode", "load", "calls", "decode", "train", "shapes", "memory", "plan")


def main() -> int:
    """Run the tables that are named, or all; print Markdown; 1 if outputs differ."""
    parser = argparse.ArgumentParser(prog="python -m benches", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--quick", action="store_true", help="less text, one encoding, one thread")
    parser.add_argument("--rounds", type=int, default=3, help="turns that each program takes")
    parser.add_argument("--megabytes", type=float, help="text for encode, decode and train")
    parser.add_argument("--only", default="", help="packages to compare with, with commas between")
    args = parser.parse_args()
    unknown = set(args.tables) - set(TABLES)
    if unknown:
        parser.error(f"there is no table {min(unknown)!r}; tables: {', '.join(TABLES)}")
    only = tuple(filter(None, args.only.split(",")))
    options = Options(max(args.rounds, 1), args.quick, args.megabytes, only)

    peers = {peer.package: peer for peer in PEERS.values() if peer.installed}
    versions = ", ".join(f"{name} {peer.version}" for name, peer in peers.items())
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


if __name__ == "__main__":
    sys.exit(main())
