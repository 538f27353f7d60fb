"""What `digram estimate-training` expects beside what is measured, and the constants to paste.

First the laws of growth: fitted at 1/32, 1/16, 1/8 and 1/4 of a corpus, checked at the whole; and
their sum on all four corpora mixed. Then runs of training at four sizes of text, and within less
memory than merging needs.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benches.child import peak
from benches.data import MB, SEPARATOR, documents
from benches.run import Options, Result, Task, take_turns
from benches.tables import markdown, number
from digram import _core
from digram.corpus import Corpus, batches
from digram.pretokenizers.pretokenizer import resolve
from digram.training import estimate
from digram.training.heaps_law import Growth, Point, fitted, points

CORPUS_OF = {"english": "en", "code": "code", "multilingual": "multi"}
SIZES = (8_000, 32_000)
LIMITS = (24 << 20, 64 << 20)
"""Bytes of memory that the largest text of each kind is trained within."""


def measure(
    who: str, path: str, size: int, pattern: str, threads: int, limit: int | None
) -> dict[str, Any]:
    """Seconds of counting and of merging, and the memory of both; in a process of its own."""
    import digram

    source = digram.files(path, separator=SEPARATOR)
    digram.train("once, so that nothing is set up for the first time", max_merges=1)
    before, started = peak(), perf_counter()
    counter = _core.Counter(resolve(pattern).splitter())
    for batch in batches(Corpus.of(source).documents()):
        counter.add(batch, threads)
    counts = counter.finish()
    counting, counted, pretokens = perf_counter() - started, peak() - before, len(counts)
    del counter, counts
    started = perf_counter()
    tok = digram.train(
        source,
        vocab_size=size,
        pretokenizer=pattern,
        threads=threads,
        memory_limit=limit,
        progress=False,
    )
    whole, used = perf_counter() - started, peak() - before
    last = list(points(source, resolve(pattern), 1 << 60))[-1]
    assert last.pretokens == pretokens
    return {
        "counting": counting,
        "merging": max(whole - counting, 0.0),
        "counted": counted,
        "used": used,
        "text": last.text,
        "pretokens": pretokens,
        "bytes": last.bytes,
        "digest": tok.digest,
    }


def run(options: Options) -> tuple[str, list[Task]]:
    """Both tables and the constants; nothing can differ."""
    growth, parts = _laws(options)
    with tempfile.TemporaryDirectory() as name:
        rows = list(_runs(Path(name), options))
        results = take_turns([[task] for _, _, task in rows], options)
    done = [(kind, task, results[task]) for kind, _, task in rows if results[task]]
    head = [
        "",
        "distinct pretokens",
        "their MB",
        "counting, s",
        "memory, MB",
        "merging, s",
        "memory, MB",
    ]
    lines = [
        [title, *_beside(kind, task, results[task])] for kind, title, task in rows if results[task]
    ]
    parts += ["### Runs: expected / measured", markdown(head, lines)]
    parts += ["### Constants, for heaps_law.py and estimate.py", _constants(growth, done)]
    return "## Estimate of training\n\n" + "\n\n".join(parts), []


def _laws(options: Options) -> tuple[dict[tuple[str, str], Growth], list[str]]:
    """The laws measured anew, and a table of how well they foretell four times as much text."""
    patterns = ("o200k",) if options.quick else ("gpt2", "cl100k", "o200k")
    growth: dict[tuple[str, str], Growth] = {}
    lines, mixed = [], []
    for pattern in patterns:
        cut, texts, total = resolve(pattern), dict[str, list[str]](), dict[str, int]()
        for kind, corpus in CORPUS_OF.items():
            texts[kind] = documents(corpus, options.megabytes or (4.0 if options.quick else None))
            total[kind] = sum(len(text.encode()) for text in texts[kind])
            found = list(points(texts[kind], cut, total[kind] / 32))
            growth[kind, pattern] = law = fitted(found[:4])._replace(once=found[-1].once)
            lines.append([f"{kind}, {pattern}", *_law(law, found[-1])])
        # Words that two kinds have in common are distinct once, and counted for each.
        everything = [text for kind in texts for text in texts[kind]]
        (last,) = points(everything, cut, 1 << 60)
        sums = [
            sum(getattr(growth[kind, pattern], name)(total[kind]) for kind in total)
            for name in ("pretokens", "bytes")
        ]
        mixed.append([f"mixed, {pattern}", *_errors(sums, last)])
    head = ["", "pretokens", "bytes", "whole, MB", "distinct", "off by", "their MB", "off by"]
    short = ["", *head[3:]]
    return growth, [
        "### Growth: fitted up to a quarter of the text, checked on the whole",
        markdown(head, lines),
        "### Growth of all kinds together: the sum of the laws",
        markdown(short, mixed),
    ]


def _law(law: Growth, whole: Point) -> list[str]:
    shown = [f"{one.scale:.3g} · n^{one.exponent:.3f}" for one in (law.pretokens, law.bytes)]
    return [*shown, *_errors([law.pretokens(whole.text), law.bytes(whole.text)], whole)]


def _errors(expected: Sequence[float], whole: Point) -> list[str]:
    pretokens, size = expected
    return [
        number(whole.text / MB),
        f"{whole.pretokens:,}",
        f"{pretokens / whole.pretokens - 1:+.0%}",
        number(whole.bytes / MB),
        f"{size / whole.bytes - 1:+.0%}",
    ]


def _runs(into: Path, options: Options) -> Iterator[tuple[str, str, Task]]:
    """Four sizes of each kind of text, each to two vocabulary sizes; and two threads."""
    pattern = "o200k"
    for kind, corpus in CORPUS_OF.items():
        texts = documents(corpus, options.megabytes or (4.0 if options.quick else None))
        for part in (8, 4, 2, 1):
            path = into / f"{corpus}-{part}.txt"
            chosen = texts[: len(texts) // part]
            path.write_text(SEPARATOR.join(chosen), encoding="utf-8", newline="")
            title = f"{path.stat().st_size / MB:.1f} MB of {kind}"
            ways: list[tuple[int, int, int | None]] = [(size, 1, None) for size in SIZES]
            if part == 1:
                ways += [(SIZES[-1], 2, None), *((SIZES[-1], 1, limit) for limit in LIMITS)]
            for size, threads, limit in ways:
                task = Task.of(
                    "estimate_training",
                    "digram",
                    path=str(path),
                    size=size,
                    pattern=pattern,
                    threads=threads,
                    limit=limit,
                )
                more = f", {threads} threads" * (threads > 1)
                more += f", within {limit >> 20} MiB" if limit else ""
                yield kind, f"{title}, {size // 1000}k{more}", task


def _beside(kind: str, task: Task, result: Result) -> list[str]:
    """What `digram.estimate_training` expects of a run beside what was measured."""
    import json

    said = json.loads(task.parameters)
    found = estimate.estimate_training(
        result["text"], said["size"], kind=kind, pretokenizer=said["pattern"],
        memory_limit=said["limit"] or "1 TB", cores=said["threads"],
    )  # fmt: skip
    return [
        f"{found.distinct_pretokens:,} / {result['pretokens']:,.0f}",
        f"{number(found.distinct_bytes / MB)} / {number(result['bytes'] / MB)}",
        f"{number(found.counting.seconds)} / {number(result['counting'])}",
        f"{number(found.counting.memory / MB)} / {number(result['counted'] / MB)}",
        f"{number(found.merging.seconds)} / {number(result['merging'])}",
        # The same process has counted without the limit before.
        f"{number(found.merging.memory / MB)} / "
        + ("–" if said["limit"] else number(result["used"] / MB)),
    ]


def _constants(
    growth: dict[tuple[str, str], Growth], done: Sequence[tuple[str, Task, Result]]
) -> str:
    """Lines of Python."""
    import json

    said = [json.loads(task.parameters) for _, task, _ in done]
    found = [result for _, _, result in done]
    rate = {
        threads: statistics.median(
            result["text"] / result["counting"]
            for one, result in zip(said, found, strict=True)
            if one["threads"] == threads and one["size"] == SIZES[-1]
        )
        for threads in (1, 2)
    }
    pairs = list(zip(said, found, strict=True))
    one = [(s, r) for s, r in pairs if s["threads"] == 1 and not s["limit"]]
    # In shares of what was measured, so that short runs tell as much as long ones; the shortest
    # are differences of times that are close to each other.
    long = [(s, r) for s, r in one if r["merging"] > 0.1]
    by_byte, by_merge = _least_squares(
        [(r["bytes"] / r["merging"], s["size"] / r["merging"]) for s, r in long], [1.0] * len(long)
    )
    start, by_pretoken = _least_squares(
        [(1.0, r["pretokens"]) for _, r in one], [r["counted"] - r["bytes"] for _, r in one]
    )
    rest = [r["used"] - r["bytes"] - start - by_pretoken * r["pretokens"] for _, r in one]
    (by_size,) = _least_squares([(r["bytes"],) for _, r in one], rest)
    # From disk: what is longer than in memory, in shares of that, by how many times too much it is.
    in_memory = {(s["path"], s["size"]): r for s, r in one}
    longer = [
        (in_memory[s["path"], s["size"]]["used"] / s["limit"],
         r["merging"] / in_memory[s["path"], s["size"]]["merging"] - 1)
        for s, r in pairs
        if s["limit"] and in_memory[s["path"], s["size"]]["used"] > s["limit"]
    ]  # fmt: skip
    from_disk = statistics.median(more / many for many, more in longer) if longer else 0.0
    lines = [
        f'    ("{kind}", "{cut}"): '
        f"Growth(Law({g.pretokens.scale:.3g}, {g.pretokens.exponent:.3f}), "
        f"Law({g.bytes.scale:.3g}, {g.bytes.exponent:.3f}), {g.once:.2f}),"
        for (kind, cut), g in growth.items()
    ]
    lines += [
        f"    counted={rate[1]:.3g},",
        f"    second_thread={rate[2] / rate[1] - 1:.2f},",
        f"    count_memory={by_pretoken:.3g},",
        f"    merge_memory={by_size:.3g},",
        f"    merge_byte={by_byte:.3g},",
        f"    merge_one={by_merge:.3g},",
        f"    from_disk={from_disk:.2g},",
        f"    start={start:.3g},",
    ]
    return "```python\n" + "\n".join(lines) + "\n```"


def _least_squares(table: Sequence[Sequence[float]], values: Sequence[float]) -> Sequence[float]:
    solved: Sequence[float] = np.linalg.lstsq(np.array(table), np.array(values), rcond=None)[0]
    return solved
