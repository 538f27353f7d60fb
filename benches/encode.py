"""Encoding: many documents in one call, the first time in a process, and again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from benches.data import CORPORA, MB, documents
from benches.peers import OWN, OWN_PATTERN, PEERS, Peer, ready
from benches.run import Options, Results, Task, disagreements, take_turns
from benches.tables import markdown, number, times

ENCODINGS = ("r50k_base", "cl100k_base", "o200k_base")
MEGABYTES = 12.0
PASSES = 4
"""Over the same text: caches know all of it in the last one."""

Row = tuple[int, str, str, bool]
"""Threads, vocabulary, corpus, and whether its documents are one string."""


def measure(
    who: str, encoding: str, corpus: str, threads: int, megabytes: float, joined: bool = False
) -> dict[str, Any]:
    """Seconds to load and encode two tiny texts, and of each pass over a corpus; in a process of
    its own.
    """
    texts = documents(corpus, megabytes)
    if joined:
        texts = ["\n\n".join(texts)]
    before = perf_counter()
    encoder = ready(who, encoding, threads)
    loaded = perf_counter()
    passes = []
    for _ in range(2 if PEERS[who].slow else PASSES):
        started = perf_counter()
        out = encoder.batch(texts)
        passes.append(perf_counter() - started)
    ids, lengths = encoder.flat(out)
    digest = hashlib.sha256(ids.astype("<u4").tobytes() + lengths.astype("<i8").tobytes())
    return {
        "bytes": sum(len(text.encode()) for text in texts),
        "load": loaded - before,
        "first": passes[0],
        "last": passes[-1],
        "digest": digest.hexdigest(),
    }


def run(options: Options) -> tuple[str, list[Task]]:
    """All tables, and the measurements whose ids differ from digram's."""
    megabytes = options.megabytes or (2.0 if options.quick else MEGABYTES)
    encodings = ENCODINGS[1:2] if options.quick else ENCODINGS
    names = [peer for peer in PEERS.values() if options.wants(peer.package)]
    rows: list[Row] = [
        (threads, encoding, corpus, joined)
        for joined in (False, True)
        for threads in ((1,) if options.quick else (1, 2))
        for encoding in (ENCODINGS[1:2] if joined else encodings)
        for corpus in CORPORA
    ]
    rows += [(1, OWN, CORPORA[0], False)]
    groups = {row: [task(peer, row, megabytes) for peer in names if peer.installed] for row in rows}
    results = take_turns(groups.values(), options)
    wrong = [task for group in groups.values() for task in disagreements(results, group)]
    what = f"Each text: whole documents of a corpus, up to {megabytes:g} MB."
    parts = ["## Encode", f"{what} The own pattern: `{OWN_PATTERN}`."]
    for joined, threads in sorted({(joined, threads) for threads, _, _, joined in rows}):
        for gives in ("arrays", "lists"):
            peers = [peer for peer in names if peer.gives == gives]
            these = [row for row in rows if (row[3], row[0]) == (joined, threads)]
            what = "All of it as one string, to" if joined else "To"
            parts.append(f"### {what} {gives}, {threads} thread{'s' * (threads > 1)}")
            against = [peer for peer in names if peer.name == "tiktoken" and peer.installed]
            parts.append(_table(results, peers, against, these, megabytes, wrong))
    if not options.quick:
        parts.append(_gains(results, names, rows, megabytes))
    parts.append(_load(results, names, encodings, megabytes))
    return "\n\n".join(parts), wrong


def task(peer: Peer, row: Row, megabytes: float) -> Task:
    """What measures a program in a row."""
    threads, encoding, corpus, joined = row
    return Task.of(
        "encode",
        peer.name,
        slow=peer.slow,
        encoding=encoding,
        corpus=corpus,
        threads=threads,
        megabytes=megabytes,
        joined=joined,
    )


def _table(
    results: Results,
    peers: Sequence[Peer],
    against: Sequence[Peer],
    rows: Sequence[Row],
    megabytes: float,
    wrong: Sequence[Task],
) -> str:
    ours, *others = peers
    ratios = [f"÷ {peer.name}" for peer in against]
    header = ["MB/s, first pass / last", *map(title, peers), *ratios]
    lines = []
    for row in rows:
        speed = {
            peer.name: speeds(results, task(peer, row, megabytes)) for peer in {*peers, *against}
        }
        cells = [
            _pair(speed[peer.name], number) + " ≠" * (task(peer, row, megabytes) in wrong)
            for peer in peers
        ]
        known = [speed[peer.name] for peer in others if speed[peer.name]]
        best = tuple(max(column) for column in zip(*known, strict=True))
        rivals = [*(speed[peer.name] for peer in against), best]
        ratios = [_pair(_divide(speed[ours.name], rival), times) for rival in rivals]
        lines.append([" ".join(row[1:3]), *cells, *ratios])
    return markdown([*header, "÷ the best"], lines)


def _gains(results: Results, peers: Sequence[Peer], rows: Sequence[Row], megabytes: float) -> str:
    """How many times as fast two threads are as one."""
    names = [peer for peer in peers if not peer.slow]
    lines = []
    for _, encoding, corpus, joined in (row for row in rows if row[0] == 2):
        one, two = (
            [
                speeds(results, task(peer, (threads, encoding, corpus, joined), megabytes))
                for peer in names
            ]
            for threads in (1, 2)
        )
        gains = [_pair(_divide(b, a), times) for a, b in zip(one, two, strict=True)]
        lines.append([f"{encoding} {corpus}" + ", one string" * joined, *gains])
    header = ["first pass / last", *map(title, names)]
    return "### Two threads ÷ one\n\n" + markdown(header, lines)


def _load(
    results: Results, peers: Sequence[Peer], encodings: Sequence[str], megabytes: float
) -> str:
    first = [peer for peer in peers if peer.name not in ("gigatoken, lists", "fastokens, lists")]
    lines = []
    for encoding in encodings:
        tasks = [task(peer, (1, encoding, CORPORA[0], False), megabytes) for peer in first]
        found = [results.get(task) for task in tasks]
        lines.append([encoding, *(number(one["load"] * 1e3) if one else "–" for one in found)])
    return "### Load, ms\n\n" + markdown(["", *map(title, first)], lines)


def title(peer: Peer) -> str:
    """The head of a column."""
    return peer.name if peer.installed else f"{peer.name} (not installed)"


def speeds(results: Results, task: Task) -> tuple[float, ...]:
    """MB/s of the first pass and of the last; empty if there are none."""
    result = results.get(task)
    if not result:
        return ()
    return tuple(result["bytes"] / MB / result[name] for name in ("first", "last"))


def _divide(ours: tuple[float, ...], theirs: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(a / b for a, b in zip(ours, theirs, strict=False))


def _pair(values: tuple[float, ...], show: Any) -> str:
    return " / ".join(map(show, values)) if values else "–"
