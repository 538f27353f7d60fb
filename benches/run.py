"""Fresh processes that take turns, so that what slows the machine slows all of them."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benches.peers import environment

ROOT = Path(__file__).parents[1]
LIMIT = 1_800
"""Seconds after which a measurement is given up."""


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    rounds: int = 3
    quick: bool = False
    megabytes: float | None = None
    only: tuple[str, ...] = ()

    def wants(self, package: str) -> bool:
        """Whether a program takes part; digram always does."""
        return not self.only or package in (*self.only, "digram")


@dataclass(frozen=True)
class Task:
    """One measurement: the module whose `measure` runs, who is measured, and its parameters."""

    kind: str
    who: str
    parameters: str  # as JSON, so that tasks can be keys
    slow: bool = False

    @classmethod
    def of(cls, kind: str, who: str, *, slow: bool = False, **parameters: Any) -> Task:
        return cls(kind, who, json.dumps({"who": who, **parameters}), slow)


@dataclass
class Result:
    """What the rounds of a task gave: medians of numbers, digests of outputs, or an error."""

    values: dict[str, list[float]] = field(default_factory=dict)
    digests: set[str] = field(default_factory=set)
    error: str | None = None

    def __getitem__(self, name: str) -> float:
        return statistics.median(self.values[name])

    def __bool__(self) -> bool:
        return self.error is None and bool(self.values)


Results = dict[Task, Result]


def take_turns(groups: Iterable[Sequence[Task]], options: Options) -> Results:
    """Run each group of tasks, round after round, every other round backwards."""
    results: Results = {}
    for group in groups:
        for turn in range(options.rounds):
            for task in group if turn % 2 == 0 else reversed(group):
                result = results.setdefault(task, Result())
                if result.error is None and not (task.slow and turn > 0):
                    _add(result, task)
    return results


def _add(result: Result, task: Task) -> None:
    parameters = json.loads(task.parameters)
    print(f"{task.kind} {' '.join(map(str, parameters.values()))}", file=sys.stderr, flush=True)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benches.child", task.kind, task.parameters],
            cwd=ROOT,
            env={**os.environ, **environment(parameters.get("threads", 1))},
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        result.error = f"over {LIMIT} s"
        return
    if done.returncode != 0:
        result.error = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return
    for name, value in json.loads(done.stdout.splitlines()[-1]).items():
        if name == "digest":
            result.digests.add(value)
        else:
            result.values.setdefault(name, []).append(value)


def disagreements(results: Results, group: Sequence[Task]) -> list[Task]:
    """The tasks of a group whose outputs are not those of the first that succeeded."""
    done = [task for task in group if results.get(task)]
    return [task for task in done if results[task].digests != results[done[0]].digests]
