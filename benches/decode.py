"""Decoding many documents, and counting their tokens; MB/s of the text that they are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from statistics import median
from time import perf_counter
from typing import Any

from benches.data import CORPORA, MB, documents
from benches.encode import MEGABYTES, title
from benches.peers import PEERS, TINY, Peer, ready
from benches.run import Options, Results, Task, disagreements, take_turns
from benches.tables import markdown, number, times

ENCODING = "o200k_base"
DECODERS = (
    *("digram, NumPy", "gigatoken, arrays", "digram, lists", "tiktoken", "gigatoken, lists"),
    *("fastokens, lists", "rs-bpe", "tokenizers"),
)
BYTES_DECODERS = (
    *("digram, NumPy", "gigatoken, arrays", "digram, lists", "tiktoken", "gigatoken, lists"),
)
CALLS = 4
"""How often decoding is called."""
COUNTERS = ("digram, lists", "digram, NumPy", "tiktoken", "rs-bpe")


def measure(who: str, corpus: str, megabytes: float, what: str) -> dict[str, Any]:
    """Seconds to decode what the same program encoded, or to count; in a process of its own.

    Decoding is called several times: the first call needs new memory for its texts, whose pages the
    system provides one by one, the later ones have that of the call before. "later" is the median
    of these.
    """
    texts = documents(corpus, megabytes)
    encoder = ready(who, ENCODING, 1)
    out = encoder.batch(texts)
    size = sum(len(text.encode()) for text in texts)
    if what.startswith("decode"):
        decode = encoder.decode if what == "decode" else encoder.decode_bytes
        assert decode is not None
        decode(encoder.batch(TINY))
        calls = []
        for _ in range(CALLS):
            parts: Sequence[str | bytes] = ()  # the texts of the call before are freed
            before = perf_counter()
            parts = decode(out)
            calls.append(perf_counter() - before)
        taken, later = calls[0], median(calls[1:])
        result = b"".join(one if isinstance(one, bytes) else one.encode() for one in parts)
    else:
        before = perf_counter()
        if what == "count":
            assert encoder.count is not None
            counts = list(encoder.count(texts))
            taken = perf_counter() - before
        else:  # what counting is compared with: encoding again
            again = encoder.batch(texts)
            taken = perf_counter() - before
            counts = encoder.flat(again)[1].tolist()
        later = taken
        result = repr(counts).encode()
    digest = hashlib.sha256(result).hexdigest()
    return {"bytes": size, "seconds": taken, "later": later, "digest": digest}


def run(options: Options) -> tuple[str, list[Task]]:
    """Two tables, and the measurements whose outputs differ from digram's."""
    megabytes = options.megabytes or (2.0 if options.quick else MEGABYTES)
    decoders = [PEERS[name] for name in DECODERS if options.wants(PEERS[name].package)]
    to_bytes = [PEERS[name] for name in BYTES_DECODERS if options.wants(PEERS[name].package)]
    counters = [PEERS[name] for name in COUNTERS if options.wants(PEERS[name].package)]

    def group(corpus: str, peers: Sequence[Peer], what: str) -> list[Task]:
        return [
            Task.of(
                "decode",
                peer.name,
                slow=peer.slow,
                corpus=corpus,
                megabytes=megabytes,
                what="encode" if what == "count" and peer.gives == "arrays" else what,
            )
            for peer in peers
            if peer.installed
        ]

    groups = [
        group(corpus, peers, what)
        for peers, what in (
            (decoders, "decode"),
            (to_bytes, "decode to bytes"),
            (counters, "count"),
        )
        for corpus in CORPORA
    ]
    results = take_turns(groups, options)
    n = len(CORPORA)
    wrong = [task for tasks in groups for task in disagreements(results, tasks)]
    heads = ["digram, count", "digram, encode to NumPy", "tiktoken, encode to a list"]
    heads += ["rs-bpe, count"]
    return "\n\n".join(
        [
            "## Decode and count",
            f"{ENCODING}, up to {megabytes:g} MB of each corpus, one thread.",
            *(
                part
                for time, call in (("seconds", "the first call"), ("later", "later calls"))
                for part in (
                    f"### Decode to text, {call}",
                    _table(results, [*map(title, decoders)], decoders, groups[:n], wrong, time),
                    f"### Decode to bytes, {call}; digram's is one for all documents",
                    _table(
                        results, [*map(title, to_bytes)], to_bytes, groups[n : 2 * n], wrong, time
                    ),
                )
            ),
            "### Count",
            _table(results, heads[: len(counters)], counters, groups[2 * n :], wrong, "seconds"),
        ]
    ), wrong


def _table(
    results: Results,
    heads: Sequence[str],
    peers: Sequence[Peer],
    groups: Sequence[Sequence[Task]],
    wrong: Sequence[Task],
    time: str,
) -> str:
    lines = []
    for corpus, group in zip(CORPORA, groups, strict=True):
        by_peer = {task.who: task for task in group}
        cells = []
        for peer in peers:
            task = by_peer.get(peer.name)
            result = results.get(task) if task else None
            speed = result["bytes"] / MB / result[time] if result else 0.0
            cells.append(speed)
        rivals = [one for peer, one in zip(peers, cells, strict=True) if peer.package != "digram"]
        best = max(rivals, default=0.0)
        lines.append(
            [
                corpus,
                *(
                    number(one) + " ≠" * (by_peer.get(peer.name) in wrong) if one else "–"
                    for peer, one in zip(peers, cells, strict=True)
                ),
                *(
                    times(cell / best) if best else "–"
                    for peer, cell in zip(peers, cells, strict=True)
                    if peer.package == "digram"
                ),
            ]
        )
    ratios = [f"{one.name} ÷ the best peer" for one in peers if one.package == "digram"]
    return markdown(["MB/s", *heads, *ratios], lines)
