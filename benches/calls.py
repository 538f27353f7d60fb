"""Small calls: one short text each, a list of ids back; where the way in and out costs most."""

from __future__ import annotations

import hashlib
import statistics
from time import perf_counter
from typing import Any

from benches.data import documents
from benches.encode import title
from benches.peers import PEERS, ready
from benches.run import Options, Task, disagreements, take_turns
from benches.tables import markdown, number, times

SIZES = (20, 100, 2_000, 100_000)
ENCODING = "cl100k_base"
CALLED = (
    *("digram, lists", "tiktoken", "gigatoken, arrays", "gigatoken, lists", "fastokens, lists"),
    *("rs-bpe", "tokenizers"),
)


def measure(who: str, size: int) -> dict[str, Any]:
    """The median of the microseconds that a call takes, on different stretches of English."""
    text = "".join(documents("en", 3)).encode("ascii", "ignore").decode()
    texts = [text[at : at + size] for at in range(0, min(len(text), 1_000 * size), size)]
    encode = ready(who, ENCODING, 1).one
    for short in texts[:100]:
        encode(short)
    taken = []
    digest = hashlib.sha256()
    for short in texts:
        before = perf_counter()
        ids = encode(short)
        taken.append(perf_counter() - before)
        digest.update(repr(list(map(int, ids))).encode())
    return {"us": statistics.median(taken) * 1e6, "digest": digest.hexdigest()}


def run(options: Options) -> tuple[str, list[Task]]:
    """One table, and the measurements whose ids differ from digram's."""
    peers = [PEERS[name] for name in CALLED if options.wants(PEERS[name].package)]
    tasks = {
        (size, peer.name): Task.of("calls", peer.name, slow=peer.slow, size=size)
        for size in SIZES
        for peer in peers
        if peer.installed
    }
    groups = [[task for (size, _), task in tasks.items() if size == one] for one in SIZES]
    results = take_turns(groups, options)
    wrong = [task for group in groups for task in disagreements(results, group)]
    lines = []
    for size in SIZES:
        found = [results.get(tasks[size, peer.name]) if peer.installed else None for peer in peers]
        taken = [result["us"] if result else None for result in found]
        rivals = [us for us in taken[1:] if us is not None]
        ratio = times(min(rivals) / taken[0]) if taken[0] and rivals else "–"
        cells = [number(us) if us is not None else "–" for us in taken]
        lines.append([f"{size:,} bytes", *cells, ratio])
    table = markdown([f"µs, {ENCODING}", *map(title, peers), "÷ the best"], lines)
    return f"## Small calls\n\n{table}", wrong
