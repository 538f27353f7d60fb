"""Has encoding become slower? Ratios to the fastest peers, beside those recorded last.

    python -m benches.guard [--rounds 3] [--rows en,lists] [--record]

Every change to the core runs it on a quiet machine (`make bench-guard`). A row has fallen if its
ratio is below `FALLEN` of the recorded one: then, and where ids differ, the exit code is 1.
`--record` writes the ratios in place of those of `benches/recorded.json`, with the machine and the
versions that they were measured with. Ratios differ between processors less than figures do, yet
they differ: the table ends with the machine of those recorded and with this one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.child import on_processors
from benches.encode import MEGABYTES, speeds, task
from benches.peers import PEERS, Peer
from benches.run import Options, Results, disagreements, take_turns
from benches.tables import machine, markdown, number, times

RECORDED = Path(__file__).with_name("recorded.json")
FALLEN = 0.85
"""Medians of three rounds differ by a tenth on a shared machine."""

PROGRAMS = {
    "arrays": ("digram, NumPy", "gigatoken, arrays", "fastokens, buffers"),
    "lists": ("digram, lists", "gigatoken, lists", "fastokens, lists"),
}


@dataclass(frozen=True)
class Row:
    """One comparison: a vocabulary, a corpus, and what is given back."""

    encoding: str
    corpus: str
    gives: str

    def __str__(self) -> str:
        return f"{self.encoding.removesuffix('_base')} {self.corpus}, {self.gives}"

    def peers(self) -> list[Peer]:
        """Digram first; fastokens does not read `r50k`."""
        found = [PEERS[name] for name in PROGRAMS[self.gives]]
        return [
            peer
            for peer in found
            if peer.installed and (peer.package, self.encoding) != ("fastokens", "r50k_base")
        ]


ROWS = [
    *(
        Row(encoding, corpus, gives)
        for gives in PROGRAMS
        for encoding in ("cl100k_base", "o200k_base")
        for corpus in ("en", "code", "multi")
    ),
    Row("r50k_base", "en", "arrays"),
    Row("r50k_base", "multi", "arrays"),
]


def main() -> int:
    """Measure, print the table, and compare; 1 if a row fell or ids differ."""
    parser = argparse.ArgumentParser(prog="python -m benches.guard", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="turns that each program takes")
    parser.add_argument("--megabytes", type=float, default=MEGABYTES, help="text of each corpus")
    parser.add_argument("--rows", default="", help="words that the rows must have: en,arrays")
    parser.add_argument("--record", action="store_true", help="write what was measured")
    args = parser.parse_args()
    words = set(filter(None, args.rows.split(",")))
    rows = [row for row in ROWS if words <= set(str(row).replace(",", "").split())]
    on_processors(1)
    print(f"{machine()}.\n", flush=True)
    groups = [[task(peer, _place(row), args.megabytes) for peer in row.peers()] for row in rows]
    results = take_turns(groups, Options(rounds=args.rounds))
    different = [task for group in groups for task in disagreements(results, group)]
    recorded = _recorded()
    found = {str(row): _ratios(results, row, args.megabytes) for row in rows}
    table, fallen = _table(results, rows, args.megabytes, found, recorded["rows"])
    print(f"{table}\n\n{_beside(recorded)} {machine()}, at the end.")
    for one in different:
        print(f"ids differ: {one.parameters}", file=sys.stderr)
    for name in fallen:
        print(f"fell below {FALLEN:.0%} of what was recorded: {name}", file=sys.stderr)
    if args.record and not different:
        _record(recorded["rows"] | {name: ratio for name, ratio in found.items() if ratio})
    return int(bool(different or fallen))


def _place(row: Row) -> tuple[int, str, str, bool]:
    return 1, row.encoding, row.corpus, False


def _ratios(results: Results, row: Row, megabytes: float) -> list[float]:
    """Digram's speed over the best of the others: of the first pass, and of the last."""
    ours, *others = [speeds(results, task(peer, _place(row), megabytes)) for peer in row.peers()]
    best = [max(column) for column in zip(*filter(None, others), strict=True)]
    return [round(one / other, 3) for one, other in zip(ours, best, strict=False)]


def _table(
    results: Results,
    rows: Sequence[Row],
    megabytes: float,
    found: dict[str, list[float]],
    recorded: dict[str, list[float]],
) -> tuple[str, list[str]]:
    """The table, and the rows that have fallen."""
    lines, fallen = [], []
    for row in rows:
        name = str(row)
        cells = {PEERS[program].package: "–" for program in PROGRAMS[row.gives]}
        for peer in row.peers():
            speed = speeds(results, task(peer, _place(row), megabytes))
            cells[peer.package] = " / ".join(map(number, speed)) if speed else "–"
        before = recorded.get(name, [])
        has_fallen = any(
            now < FALLEN * then for now, then in zip(found[name], before, strict=False)
        )
        fallen += [name] * has_fallen
        lines.append(
            [
                name,
                *cells.values(),
                _pair(found[name]),
                _pair(before) + " fell" * has_fallen,
            ]
        )
    packages = [PEERS[program].package for program in PROGRAMS["arrays"]]
    header = ["MB/s, first pass / last", *packages, "÷ the best", "recorded"]
    return markdown(header, lines), fallen


def _pair(ratios: Sequence[float]) -> str:
    return " / ".join(map(times, ratios)) or "–"


def _recorded() -> dict[str, Any]:
    if not RECORDED.exists():
        return {"machine": "", "rows": {}}
    found: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def _beside(recorded: dict[str, Any]) -> str:
    return f"Recorded on {recorded['machine']}." if recorded["machine"] else "Nothing is recorded."


def _record(rows: dict[str, list[float]]) -> None:
    versions = {
        one.package: one.version for name in PROGRAMS["arrays"] if (one := PEERS[name]).installed
    }
    entry = {"machine": machine(), "versions": versions, "rows": rows}
    RECORDED.write_text(json.dumps(entry, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
