"""Training on files of documents, reading included: seconds, and the peak of memory.

Without options the table has English and mixed text at 32,000 tokens. `--full` adds a gigabyte,
scripts without spaces, text that is not cut, and other sizes: hours. `--texts`, `--patterns`,
`--sizes` and `--threads` ask for a part of that: every combination of what they name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

from benches.limits import Limits
from benches.run import Options, Result, Results, Task, disagreements, take_turns
from benches.tables import markdown, number, times
from benches.texts import NAMES, ONE, text
from benches.trainers import NONE, OWN, PATTERNS, TRAINERS, Trained, Trainer, digest

ORDERS = {
    "bytes": "Ids of the bytes by value; the same merges",
    "huggingface": "Ids of the bytes in Hugging Face's order; the same merges",
    OWN: "Merges of their own; time and memory alone",
}
GRID = {"texts": NAMES, "patterns": PATTERNS, "sizes": (), "threads": ()}
"""What each option may name; numbers are any."""


def measure(who: str, path: str, size: int, pattern: str, threads: int) -> dict[str, Any]:
    """Seconds from a file to merges; in a process of its own."""
    trainer = TRAINERS[who]
    before = perf_counter()
    trained = trainer.train(Path(path), size, pattern, threads)
    taken = perf_counter() - before
    found: dict[str, Any] = {"seconds": taken, "digest": digest(trainer.tokens(trained))}
    if isinstance(trained, Trained):
        found |= {"counting": taken - trained.merging, "merging": trained.merging}
    return found


@dataclass(frozen=True)
class Row:
    """One line of a table: every program on one text, by one pattern, to one size."""

    text: str
    pattern: str
    size: int
    threads: tuple[int, ...] = (1, 2)


def rows(options: Options) -> list[Row]:
    """The lines that are asked for."""
    grid = options.grid
    if not grid:
        return list(_quick() if options.quick else _full() if options.full else _usual())
    threads = tuple(map(int, grid.get("threads", (1, 2))))
    sizes = [int(size.replace("k", "000")) for size in grid.get("sizes", ("32k",))]
    texts, patterns = grid.get("texts", ("en",)), grid.get("patterns", PATTERNS)
    return [
        Row(name, pattern, size, threads)
        for name, pattern, size in product(texts, patterns, sizes)
        if name not in ONE or pattern == NONE
    ]


def _usual() -> Iterator[Row]:
    for name, pattern in product(("10", "en", "four"), ("gpt2", "cl100k")):
        yield Row(name, pattern, 32_000)
    yield Row("one-10", NONE, 32_000)


def _full() -> Iterator[Row]:
    for name, pattern in product(("10", "en", "four", "big", "zh", "ja"), ("gpt2", "cl100k")):
        yield Row(name, pattern, 32_000)
    for size, pattern in product((8_000, 128_000, 256_000), ("gpt2", "cl100k")):
        yield Row("en", pattern, size)
    for size in (128_000, 256_000):
        yield Row("big", "cl100k", size)
    for name in ("10", *ONE):
        yield Row(name, NONE, 32_000)


def _quick() -> Iterator[Row]:
    for pattern in ("gpt2", "cl100k"):
        yield Row("10", pattern, 8_000, (1,))
    yield Row("one-10", NONE, 8_000, (1,))


def run(options: Options) -> tuple[str, list[Task]]:
    """A table for each order of ids, and the measurements whose merges differ from digram's."""
    lines = rows(options)
    trainers = _trainers(options)
    absent = [one.name for one in TRAINERS.values() if not one.installed]
    megabytes = options.megabytes or (2.0 if options.quick else 10.0)
    texts = {name: text(name, megabytes) for name in dict.fromkeys(row.text for row in lines)}
    plan = [
        [
            _task(one, texts[row.text][1], row, many)
            for one in trainers
            if row.pattern in one.patterns or (OWN in one.patterns and row.pattern != NONE)
        ]
        for row in lines
        for many in row.threads
    ]
    results = take_turns(plan, options)
    wrong = [
        task
        for group in plan
        for order in ("bytes", "huggingface")
        for task in disagreements(results, [one for one in group if _order(one) == order])
    ]
    many = " / ".join(map(str, lines[0].threads))
    head = f"## Train\n\nSeconds with threads: {many}. The peak of memory in MiB."
    if absent:
        head += f" Not installed: {', '.join(absent)}."
    parts = [head]
    for order, heading in ORDERS.items():
        these = [one for one in trainers if one.order == order]
        if order == OWN:
            these.insert(0, TRAINERS["digram"])
        if these[1:] or order == "bytes":
            found = [
                _line(results, these, row, texts[row.text], wrong, options.limits) for row in lines
            ]
            columns = ["", "pattern", "tokens", "digram, s", "counting", "merging", "MiB"]
            columns += [f"{one.name}: s, MiB" for one in these[1:]]
            parts.append(f"### {heading}\n\n{markdown([*columns, '÷ the best'], found)}")
    failed = [
        f"- {task.who}, {task.parameters}: {result.error}"
        for task, result in results.items()
        if result.error and not _passed(result)
    ]
    parts += ["### Failed\n\n" + "\n".join(failed)] if failed else []
    return "\n\n".join(parts), wrong


def _trainers(options: Options) -> list[Trainer]:
    """Who takes part; ours in an order of ids only where another has that order."""
    chosen = [one for one in TRAINERS.values() if options.wants(one.package) and one.installed]
    orders = {one.order for one in chosen if one.package != "digram"} | {"bytes"}
    return [one for one in chosen if one.order in orders]


def _order(task: Task) -> str:
    return next(one.order for one in TRAINERS.values() if task.who == one.name)


def _task(trainer: Trainer, path: Path, row: Row, threads: int) -> Task:
    pattern = OWN if OWN in trainer.patterns else row.pattern
    return Task.of(
        "train",
        trainer.name,
        build=trainer.build,
        path=str(path),
        size=row.size,
        pattern=pattern,
        threads=threads,
    )


def _line(
    results: Results,
    trainers: Sequence[Trainer],
    row: Row,
    where: tuple[str, Path],
    wrong: Sequence[Task],
    limits: Limits,
) -> list[str]:
    """The cells of a row: ours in four columns, each other's in one, and how many times as fast."""
    title, path = where
    tasks = {one: [_task(one, path, row, many) for many in row.threads] for one in trainers}
    found = {
        one: [results[task] for task in tasks[one] if task in results and _measured(results[task])]
        for one in trainers
    }
    ours, *others = trainers
    mine = found[ours]
    seconds, *phases = (_times(mine, name) for name in ("seconds", "counting", "merging"))
    cells = [seconds + _mark(tasks[ours], wrong), *phases, _peak(mine)]
    for one in others:
        memory = f", {_peak(found[one])}" if any(found[one]) else ""
        cells.append(_times(found[one], "seconds") + memory + _mark(tasks[one], wrong))
    ratios = [
        _ratio(my, [found[one][turn] for one in others if found[one]], limits)
        for turn, my in enumerate(mine)
    ]
    return [title, row.pattern, f"{row.size:,}", *cells, " / ".join(ratios) or "–"]


def _ratio(mine: Result, others: Sequence[Result], limits: Limits) -> str:
    """How many times as fast as the best; a lower bound where no other one finished in time."""
    slow, _ = limits.passed
    rivals = [each["seconds"] for each in others if each]
    if mine and rivals:
        return times(min(rivals) / mine["seconds"])
    if mine and any(each.error == slow for each in others):
        return f"> {times(limits.seconds / mine['seconds'])}"
    return "–"


def _measured(result: Result) -> bool:
    return bool(result) or result.error is not None


def _times(results: Sequence[Result], name: str) -> str:
    """The medians, or the limit that was exceeded; failures are listed below the tables."""
    cells = [
        number(each[name]) if each else each.error if _passed(each) else "failed"
        for each in results
    ]
    return " / ".join(map(str, cells)) or "–"


def _passed(result: Result) -> bool:
    return result.error is not None and result.error.startswith(">")


def _mark(tasks: Sequence[Task], wrong: Sequence[Task]) -> str:
    return " ≠" * any(task in wrong for task in tasks)


def _peak(results: Sequence[Result]) -> str:
    peaks = [each["peak"] for each in results if each]
    return number(max(peaks) / 2**20) if peaks else "–"
