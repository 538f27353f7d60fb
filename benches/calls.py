"""Calls with one text: short ones, where the way in and out costs most, and one long string."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any

from benches.data import MB, documents
from benches.encode import title
from benches.peers import PEERS, Encoder, Peer, ready
from benches.run import Options, Results, Task, disagreements, take_turns
from benches.tables import markdown, number, times

SIZES = (20, 100, 2_000, 100_000)
LONG = 10 * MB
ENCODING = "cl100k_base"
CALLED = (
    *("digram, lists", "tiktoken", "gigatoken, arrays", "gigatoken, lists", "fastokens, lists"),
    *("rs-bpe", "tokenizers"),
)
PEERS_OF = {
    "encode": CALLED,
    "special": ("digram, lists", "tiktoken"),
    "count": ("digram, lists", "tiktoken", "rs-bpe"),
    "long": CALLED,
}
"""Who is measured: at encoding to a list, at encoding with a set of special tokens, at counting,
and at encoding one string of 10 MB, once."""

Row = tuple[str, str, int]
"""What is measured, the corpus, and the size of each text in bytes."""

ROWS: tuple[Row, ...] = (
    *((what, "en", size) for what in ("encode", "special", "count") for size in SIZES),
    *(("long", corpus, LONG) for corpus in ("en", "multi")),
)


def measure(who: str, size: int, what: str = "encode", corpus: str = "en") -> dict[str, Any]:
    """The median of the microseconds that a call takes, on different stretches of a corpus."""
    if what == "long":
        texts = ["\n\n".join(documents(corpus, size / MB))]
    else:
        text = "".join(documents(corpus, 3)).encode("ascii", "ignore").decode()
        texts = [text[at : at + size] for at in range(0, min(len(text), 1_000 * size), size)]
    call = _call(ready(who, ENCODING, 1), what)
    for short in texts[:100] if what != "long" else ():
        call(short)
    taken = []
    digest = hashlib.sha256()
    for one in texts:
        before = perf_counter()
        found = call(one)
        taken.append(perf_counter() - before)
        digest.update(repr(found if what == "count" else list(map(int, found))).encode())
    return {"us": statistics.median(taken) * 1e6, "digest": digest.hexdigest()}


def _call(encoder: Encoder, what: str) -> Callable[[str], Any]:
    """What takes one text."""
    if what == "special":
        assert encoder.special is not None
        return encoder.special
    if what == "count":
        assert encoder.count is not None
        count = encoder.count
        return lambda text: count((text,))[0]
    return encoder.one


def run(options: Options) -> tuple[str, list[Task]]:
    """A table for each thing measured, and the measurements whose outputs differ from digram's."""
    groups = {row: [_task(peer, row) for peer in _peers(row, options)] for row in ROWS}
    results = take_turns(groups.values(), options)
    wrong = [task for group in groups.values() for task in disagreements(results, group)]
    tables = [
        _table(results, [row for row in ROWS if row[0] == what], options) for what in PEERS_OF
    ]
    return "## Small calls\n\n" + "\n\n".join(tables), wrong


def _peers(row: Row, options: Options) -> list[Peer]:
    """Those that are installed."""
    peers = [PEERS[name] for name in PEERS_OF[row[0]]]
    return [peer for peer in peers if options.wants(peer.package) and peer.installed]


def _task(peer: Peer, row: Row) -> Task:
    what, corpus, size = row
    return Task.of("calls", peer.name, slow=peer.slow, size=size, what=what, corpus=corpus)


def _table(results: Results, rows: list[Row], options: Options) -> str:
    what = rows[0][0]
    peers = [PEERS[name] for name in PEERS_OF[what] if options.wants(PEERS[name].package)]
    lines = []
    for row in rows:
        tasks = [_task(peer, row) if peer.installed else None for peer in peers]
        found = [results.get(task) if task else None for task in tasks]
        taken = [result["us"] if result else None for result in found]
        rivals = [us for us in taken[1:] if us is not None]
        ratio = times(min(rivals) / taken[0]) if taken[0] and rivals else "–"
        cells = [number(us) if us is not None else "–" for us in taken]
        name = f"{row[2]:,} bytes" if what != "long" else f"{row[2] // MB} MB {row[1]}"
        lines.append([name, *cells, ratio])
    return markdown([f"{what}, µs, {ENCODING}", *map(title, peers), "÷ the best"], lines)
