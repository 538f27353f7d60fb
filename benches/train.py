"""Training on files of documents, reading included: seconds, and the peak of memory."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from benches.data import MB, SEPARATOR, documents, folder
from benches.run import Options, Results, Task, disagreements, take_turns
from benches.tables import markdown, number, times
from benches.trainers import NONE, PATTERNS, TRAINERS, Trainer, digest

SIZE = 32_000
ORDERS = {
    "bytes": "Ids of the bytes by value; the same merges",
    "huggingface": "Ids of the bytes in Hugging Face's order; the same merges",
}


def measure(who: str, path: str, size: int, pattern: str, threads: int) -> dict[str, Any]:
    """Seconds from a file to merges; in a process of its own."""
    trainer = TRAINERS[who]
    before = perf_counter()
    trained = trainer.train(Path(path), size, pattern, threads)
    taken = perf_counter() - before
    return {"seconds": taken, "digest": digest(trainer.tokens(trained))}


def run(options: Options) -> tuple[str, list[Task]]:
    """A table for each order of ids, and the measurements whose merges differ from digram's."""
    trainers = [one for one in TRAINERS.values() if options.wants(one.package)]
    size = 8_000 if options.quick else SIZE
    with tempfile.TemporaryDirectory() as name:
        files = _files(Path(name), options)
        threads = (1,) if options.quick else (1, 2)
        rows = [(title, path, pattern) for title, path in files for pattern in PATTERNS]
        groups = [
            group
            for row in rows
            for many in threads
            for order in ORDERS
            if len(group := _group(trainers, order, row, size, many)) > 1
        ]
        whole = _whole(Path(name), options)
        alone = [_group(trainers, "bytes", one, size, 1) for one in whole]
        results = take_turns([*groups, *alone], options)
    wrong = [task for group in groups for task in disagreements(results, group)]
    counts = " / ".join(map(str, threads))
    parts = [f"## Train\n\n{size:,} tokens. Seconds with threads: {counts}; peak of memory in MiB."]
    for order, heading in ORDERS.items():
        these = [trainer for trainer in trainers if trainer.order == order]
        if len(these) > 1:
            table = _table(results, these, rows, size, threads, wrong)
            parts.append(f"### {heading}\n\n{table}")
    lines = [
        [title, number(result["seconds"]), number(result["peak"] / 2**20)]
        for (title, path, pattern), (task,) in zip(whole, alone, strict=True)
        if (result := results[task])
    ]
    head = ["one text, no pattern", "digram, s", "MiB"]
    return "\n\n".join([*parts, "### No pattern\n\n" + markdown(head, lines)]), wrong


def _files(into: Path, options: Options) -> list[tuple[str, Path]]:
    """The files to train on, each of whole documents."""
    megabytes = options.megabytes or (2.0 if options.quick else 10.0)
    slice_ = into / "slice.txt"
    slice_.write_text(SEPARATOR.join(documents("en", megabytes)), encoding="utf-8", newline="")
    files = [(f"{megabytes:g} MB of en.txt", slice_)]
    if options.quick or options.megabytes:
        return files
    joined = into / "joined.txt"
    corpora = [folder() / "corpora" / f"{name}.txt" for name in ("en", "code", "multi", "med")]
    joined.write_bytes(SEPARATOR.encode().join(path.read_bytes() for path in corpora))
    files.append((f"en.txt, {corpora[0].stat().st_size / MB:.0f} MB", corpora[0]))
    files.append((f"four corpora, {joined.stat().st_size / MB:.0f} MB", joined))
    return files


def _whole(into: Path, options: Options) -> list[tuple[str, Path, str]]:
    """Single texts for training without a pattern, where the corpus is one long word."""
    found = []
    for corpus in ("en", "multi"):
        megabytes = options.megabytes or (1.0 if options.quick else 10.0)
        path = into / f"{corpus}.txt"
        path.write_text("\n".join(documents(corpus, megabytes)), encoding="utf-8", newline="")
        found.append((f"{megabytes:g} MB of {corpus}.txt", path, NONE))
    return found


def _group(
    trainers: Sequence[Trainer], order: str, row: tuple[str, Path, str], size: int, threads: int
) -> list[Task]:
    _, path, pattern = row
    return [
        _task(trainer, path, size, pattern, threads)
        for trainer in trainers
        if trainer.order == order and trainer.installed and pattern in trainer.patterns
    ]


def _task(trainer: Trainer, path: Path, size: int, pattern: str, threads: int) -> Task:
    return Task.of(
        "train",
        trainer.name,
        slow=trainer.slow,
        path=str(path),
        size=size,
        pattern=pattern,
        threads=threads,
    )


def _table(
    results: Results,
    trainers: Sequence[Trainer],
    rows: Sequence[tuple[str, Path, str]],
    size: int,
    threads: Sequence[int],
    wrong: Sequence[Task],
) -> str:
    lines = []
    for title, path, pattern in rows:
        cells, taken = [], []
        for trainer in trainers:
            tasks = [_task(trainer, path, size, pattern, many) for many in threads]
            found = [result for task in tasks if (result := results.get(task))]
            seconds = [result["seconds"] for result in found]
            taken.append(seconds)
            memory = max((result["peak"] for result in found), default=0) / 2**20
            cells.append(
                f"{' / '.join(map(number, seconds))} s, {number(memory)}"
                + " ≠" * any(task in wrong for task in tasks)
                if found
                else "–"
            )
        rivals = [min(column) for column in zip(*filter(None, taken[1:]), strict=False)]
        ratios = [times(rival / our) for rival, our in zip(rivals, taken[0], strict=False)]
        lines.append([f"{title}, {pattern}", *cells, " / ".join(ratios) or "–"])
    heads = [
        trainer.name if trainer.installed else f"{trainer.name} (not installed)"
        for trainer in trainers
    ]
    return markdown(["", *heads, "÷ the best"], lines)
