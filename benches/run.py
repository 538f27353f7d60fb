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

from benches.journal import Journal
from benches.limits import Limits, TooMuchError
from benches.peers import environment

ROOT = Path(__file__).parents[1]
LONG = 60
"""Seconds; a measurement that takes longer is not repeated."""


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    rounds: int = 3
    quick: bool = False
    megabytes: float | None = None
    only: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    journal: Journal = field(default_factory=Journal)
    full: bool = False
    grid: dict[str, tuple[str, ...]] = field(default_factory=dict)  # what `train` combines

    def wants(self, package: str) -> bool:
        """Whether a program takes part; digram always does."""
        return not self.only or package in (*self.only, "digram")


@dataclass(frozen=True)
class Task:
    """One measurement: the module whose `measure` runs, who is measured, and its parameters."""

    kind: str
    who: str
    parameters: str  # as JSON, so that tasks can be keys
    slow: bool = False  # measured in the first round only
    build: str = ""  # which version of the program; only `train` continues by it

    @classmethod
    def of(
        cls, kind: str, who: str, *, slow: bool = False, build: str = "", **parameters: Any
    ) -> Task:
        return cls(kind, who, json.dumps({"who": who, **parameters}), slow, build)

    @property
    def key(self) -> list[str]:
        """What a journal knows it by."""
        return [self.kind, self.parameters, self.build]


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
    """Run each group of tasks, round after round, every other round backwards.

    A task of several groups is measured in the first of them. What the journal holds already is
    taken from there.
    """
    results: Results = {}
    rounds: dict[Task, int] = {}
    for group in groups:
        for turn in range(options.rounds):
            for task in group if turn % 2 == 0 else reversed(group):
                result = results.setdefault(task, Result())
                if rounds.get(task, 0) > turn or result.error or (turn and _once(task, result)):
                    continue
                found = options.journal.found(task.key, turn, options.limits)
                if found is None:
                    found = _measured(task, options.limits)
                    options.journal.add(task.key, found)
                _add(result, found)
                rounds[task] = turn + 1
    return results


def _once(task: Task, result: Result) -> bool:
    return task.slow or max(result.values.get("seconds", [0.0])) > LONG


def _measured(task: Task, limits: Limits) -> dict[str, Any]:
    """What a process of its own printed, or the error that ended it."""
    parameters = json.loads(task.parameters)
    print(f"{task.kind} {' '.join(map(str, parameters.values()))}", file=sys.stderr, flush=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "benches.child", task.kind, task.parameters],
        cwd=ROOT,
        env={**os.environ, **environment(parameters.get("threads", 1))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        out, err = limits.watch(process)
    except TooMuchError as passed:
        return {"error": str(passed)}
    if process.returncode != 0:
        return {"error": (err.strip().splitlines() or [f"exit code {process.returncode}"])[-1]}
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def _add(result: Result, found: dict[str, Any]) -> None:
    for name, value in found.items():
        if name == "error":
            result.error = value
        elif name == "digest":
            result.digests.add(value)
        else:
            result.values.setdefault(name, []).append(value)


def disagreements(results: Results, group: Sequence[Task]) -> list[Task]:
    """The tasks of a group whose outputs are not those of the first that succeeded."""
    done = [task for task in group if results.get(task)]
    return [task for task in done if results[task].digests != results[done[0]].digests]
