"""Bulk encoding to each format, beside encoding in memory and beside what the disk writes."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benches.child import peak
from benches.data import MB, SEPARATOR, cache, stream, vocabulary
from benches.run import Options, Results, Task, disagreements, take_turns
from benches.tables import markdown, number, times
from benches.texts import text

ENCODING = "cl100k_base"
MEMORY, DISK = "encode_batch, in memory", "the disk"
BLOCK = 4 * MB  # bytes that the disk is given at once


def _formats() -> list[str]:
    from digram.shards.formats import FORMATS

    return [*FORMATS]


def _tokenizer(format: str) -> Any:
    import digram

    name = "r50k_base" if format == "nanogpt" else ENCODING  # ids of 16 bits
    tok = digram.load(vocabulary(name), encoding=name)
    tok.encode("A line, so that nothing is set up for the first time.")
    return tok


def measure(who: str, path: str, threads: int, size: int = 0) -> dict[str, Any]:
    """Seconds, bytes written, and a digest of all ids with the token after each document."""
    if who == DISK:
        return _disk(size)
    import digram

    tok = _tokenizer(who)
    if who == MEMORY:
        documents = [one.encode() for one in stream(Path(path)) if one]
        before, started = peak(), perf_counter()
        flat = tok.encode_batch(documents, threads=threads, out="numpy")
        seconds = perf_counter() - started
        end = np.array([tok.special_tokens[SEPARATOR]], "<u4").tobytes()
        sha, bounds = hashlib.sha256(), flat.offsets.tolist()
        for start, stop in itertools.pairwise(bounds):
            sha.update(flat.ids[start:stop].tobytes() + end)
        return {"seconds": seconds, "used": peak() - before, "digest": sha.hexdigest()}
    folder = Path(tempfile.mkdtemp(dir=cache()))
    try:
        before, started = peak(), perf_counter()
        corpus = digram.files(path, separator=SEPARATOR)
        found = digram.encode_files(tok, corpus, folder / "out", format=who, threads=threads)
        seconds, used = perf_counter() - started, peak() - before
        sha = hashlib.sha256()
        for shard in range(len(found.paths)):
            sha.update(found.shard(shard).astype("<u4").tobytes())
        written = sum(one.stat().st_size for one in (folder / "out").iterdir())
        return {"seconds": seconds, "used": used, "written": written, "digest": sha.hexdigest()}
    finally:
        shutil.rmtree(folder)


def _disk(size: int) -> dict[str, Any]:
    """Seconds to write a number of bytes to the disk and to sync it."""
    block = np.random.default_rng(0).bytes(BLOCK)
    with tempfile.TemporaryFile(dir=cache()) as file:
        started = perf_counter()
        for _ in range(size // BLOCK):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
        return {"seconds": perf_counter() - started, "written": size // BLOCK * BLOCK, "digest": ""}


def run(options: Options) -> tuple[str, list[Task]]:
    """One table, and the formats whose ids are not those of `encode_batch`."""
    [name] = options.grid.get("texts", ("10" if options.quick else "four",))
    title, path = text(name, options.megabytes or 10.0)
    threads = int(options.grid.get("threads", ("2",))[0])
    size = path.stat().st_size
    whole = [] if name == "big" else [MEMORY]  # a gigabyte and its ids are not held for this
    group = [
        Task.of("sinks", who, path=str(path), threads=threads) for who in (*whole, *_formats())
    ]
    disk = Task.of("sinks", DISK, path=str(path), threads=threads, size=size)
    results = take_turns([[*group, disk]], options)
    lines = [
        _line(task, results, size, results.get(group[0]) if whole else None, results.get(disk))
        for task in (*group, disk)
    ]
    # nanoGPT's ids are those of a smaller vocabulary.
    wrong = disagreements(results, [one for one in group if '"nanogpt"' not in one.parameters])
    head = (
        f"## Training files\n\n{title}, {ENCODING} (r50k_base for nanogpt), {threads} threads. The "
        "text is read from a file, the shards are on the disk when the clock stops. The bound is "
        "the slower of encoding in memory and writing as many bytes to the disk."
    )
    titles = ["", "MB/s of text", "MB written", "share of the bound", "MB of memory"]
    return f"{head}\n\n{markdown(titles, lines)}", wrong


def _line(task: Task, results: Results, size: int, memory: Any, disk: Any) -> list[str]:
    who, found = json.loads(task.parameters)["who"], results.get(task)
    if not found:
        return [who, "–", "–", "–", "–"]
    rate = number((found["written"] if who == DISK else size) / MB / found["seconds"])
    written = number(found["written"] / MB) if "written" in found.values else ""
    used = number(found["used"] / MB) if "used" in found.values else ""
    share = ""
    if memory and disk and "written" in found.values and who != DISK:
        writing = disk["seconds"] * found["written"] / disk["written"]
        share = times(max(memory["seconds"], writing) / found["seconds"])
    return [who, rate, written, share, used]
