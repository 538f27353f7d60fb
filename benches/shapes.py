"""One megabyte of one thing, and four: nothing may take more than in proportion."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benches.data import MB, SHAPES, shape
from benches.encode import title
from benches.peers import PEERS, Encoder, Peer, ready
from benches.run import Options, Results, Task, disagreements, take_turns
from benches.tables import markdown, number, times

ENCODINGS = ("cl100k_base", "o200k_base")
SIZES = (1, 4)


def measure(who: str, encoding: str, shape_name: str, megabytes: int) -> dict[str, Any]:
    """Seconds for one call on one thread, after one on a line of prose; in a process of its own."""
    text = shape(shape_name, megabytes * MB)
    encoder = ready(who, encoding, 1)
    encode = encoder.one
    if PEERS[who].package == "digram":  # whose `encode` shares so long a text among all cores
        encode = _of_batch(encoder)
    encode("A line of prose, so that nothing is set up for the first time.")
    before = perf_counter()
    ids = encode(text)
    taken = perf_counter() - before
    found = np.asarray(ids, dtype="<u4")
    digest = hashlib.sha256(found.tobytes()).hexdigest()
    return {"seconds": taken, "digest": digest, "ids": len(found)}


def _of_batch(encoder: Encoder) -> Callable[[str], Any]:
    return lambda text: encoder.batch([text])[0]


def run(options: Options) -> tuple[str, list[Task]]:
    """A table for each encoding, and the measurements whose ids differ from digram's."""
    names = ("digram, lists", "tiktoken", "gigatoken, arrays", "fastokens, lists")
    peers = [PEERS[name] for name in names if options.wants(PEERS[name].package)]
    what = "Seconds for one call on 1 MB / on 4 MB (how many times), on one thread."
    parts, wrong = ["## Shapes", what], []
    for encoding in ENCODINGS[:1] if options.quick else ENCODINGS:
        groups = [
            [_task(peer, encoding, name, size) for peer in peers if peer.installed]
            for name in SHAPES
            for size in SIZES
        ]
        results = take_turns(groups, options)
        wrong += [task for group in groups for task in disagreements(results, group)]
        parts.append(_table(results, peers, encoding, wrong))
    return "\n\n".join(parts), wrong


def _task(peer: Peer, encoding: str, name: str, size: int) -> Task:
    return Task.of("shapes", peer.name, encoding=encoding, shape_name=name, megabytes=size)


def _table(results: Results, peers: list[Peer], encoding: str, wrong: list[Task]) -> str:
    lines = []
    for name in SHAPES:
        cells, seconds = [], []
        for peer in peers:
            tasks = [_task(peer, encoding, name, size) for size in SIZES]
            found = [results.get(task) for task in tasks]
            one, four = [result["seconds"] if result else None for result in found]
            seconds.append((one, four))
            cells.append(
                "–"
                if one is None
                else f"{number(one)} / –"
                if four is None
                else f"{number(one)} / {number(four)} ({times(four / one)})"
                + " ≠" * any(task in wrong for task in tasks)
            )
        lines.append([name, *cells, " / ".join(map(_ratio, zip(*seconds, strict=True)))])
    heads = ["digram" if peer is peers[0] else title(peer) for peer in peers]
    return markdown([encoding, *heads, "÷ the best"], lines)


def _ratio(seconds: tuple[float | None, ...]) -> str:
    """How many times as fast the first is as the best of the others."""
    ours, *others = seconds
    rivals = [one for one in others if one is not None]
    return times(min(rivals) / ours) if rivals and ours else "–"
