"""The memory of encoding all four corpora: at once, text by text, as one stream, and what stays."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from benches.child import held, peak
from benches.data import CORPORA, MB, folder, stream, vocabulary
from benches.encode import title
from benches.peers import PEERS, ready
from benches.run import Options, Task, disagreements, take_turns
from benches.tables import markdown, number

ENCODING = "cl100k_base"
WAYS = {
    "batch": ("encode_batch to NumPy", ("digram, NumPy", "gigatoken, arrays", "tiktoken")),
    "iter": ("encode_iter to NumPy, document by document", ("digram, NumPy",)),
    "stream": ("encode_stream to NumPy, all as one text in chunks of 64 KB", ("digram, NumPy",)),
    "kept": (
        "what is still held after a call for each document: caches",
        ("digram, NumPy", "gigatoken, arrays", "tiktoken"),
    ),
}


def texts(megabytes: float) -> Iterator[str]:
    """The documents of all corpora, one after the other, up to a number of megabytes."""
    held = 0
    for name in CORPORA:
        for document in stream(folder() / "corpora" / f"{name}.txt"):
            held += len(document.encode())
            if held > megabytes * MB:
                return
            yield document


def chunks(megabytes: float) -> Iterator[bytes]:
    """The same documents joined, in pieces of one length."""
    rest = b""
    for text in texts(megabytes):
        rest += text.encode()
        while len(rest) >= 1 << 16:
            yield rest[: 1 << 16]
            rest = rest[1 << 16 :]
    yield rest


def measure(who: str, way: str, megabytes: float, threads: int) -> dict[str, Any]:
    """Bytes of memory beyond those before the first text, and seconds, reading included.

    The peak of them, but for what is kept, which is what is held when all ids are gone.
    """
    tok: Any = None
    if way in ("batch", "kept"):
        encoder = ready(who, ENCODING, threads)
    else:
        import digram

        tok = digram.load(vocabulary(ENCODING), encoding=ENCODING)
        tok.encode("A line, so that nothing is set up for the first time.")
    memory = held if way == "kept" else peak
    before, started = memory(), perf_counter()
    parts: Iterator[Any]
    if way == "batch":
        parts = iter([encoder.flat(encoder.batch(list(texts(megabytes))))[0]])
    elif way == "kept":
        parts = (encoder.flat(encoder.batch([text]))[0] for text in texts(megabytes))
    elif way == "iter":
        parts = tok.encode_iter(texts(megabytes), out="numpy", threads=threads)
    else:
        parts = tok.encode_stream(chunks(megabytes), out="numpy")
    sha, count = hashlib.sha256(), 0
    for ids in parts:
        sha.update(np.asarray(ids, "<u4").tobytes())
        count += len(ids)
    del ids
    taken, used = perf_counter() - started, memory() - before
    return {"used": used, "seconds": taken, "ids": count, "digest": sha.hexdigest()}


def run(options: Options) -> tuple[str, list[Task]]:
    """One table, and the measurements whose ids differ from digram's."""
    megabytes = options.megabytes or (8.0 if options.quick else 125.0)
    lines, wrong = [], []
    for way, (name, peers) in WAYS.items():
        chosen = [PEERS[one] for one in peers if options.wants(PEERS[one].package)]
        group = [
            Task.of("memory", peer.name, way=way, megabytes=megabytes, threads=1)
            for peer in chosen
            if peer.installed
        ]
        results = take_turns([group], options)
        # A stream joins what the others keep apart, so each way is compared with itself alone.
        wrong += disagreements(results, group)
        for peer, task in zip((one for one in chosen if one.installed), group, strict=True):
            found = results[task]
            cells = [number(found[key] / MB) for key in ("used", "ids")] if found else ["–", "–"]
            seconds = number(found["seconds"]) if found else "–"
            lines.append([name, title(peer), *cells, seconds])
    table = markdown(["", "", "MB of memory", "million ids", "seconds with reading"], lines)
    head = f"## Memory\n\n{megabytes:g} MB of text, {ENCODING}, one thread. The text is counted in."
    return f"{head}\n\n{table}", wrong
