"""Tokens that keep characters whole, and tokens that are dropped where they were steps only."""

from __future__ import annotations

import time
from typing import Any

from benches.data import MB, documents
from benches.run import Options, Task, take_turns
from benches.tables import markdown, number

SIZE = 16_000
CORPORA = ("en", "multi")
ROWS: dict[str, dict[str, Any]] = {
    "plain": {},
    "whole characters": {"whole_characters": True},
    "picky 0.9": {"picky": 0.9},
    "picky 0.8": {"picky": 0.8},
    "picky 0.7": {"picky": 0.7},
    "picky 0.6": {"picky": 0.6},
    "picky 0.7, whole characters": {"picky": 0.7, "whole_characters": True},
}


def measure(who: str, corpus: str, megabytes: float) -> dict[str, Any]:
    """Training on nine tenths of the documents, apart from counting, and what it does on the rest.

    `rare` are learned tokens that stand less than ten times in the text that they were learned
    from, `partial` those that begin or end inside a character; `encode` is MB of text a second, of
    what was learned from, on one thread.
    """
    import digram

    texts = documents(corpus, megabytes)
    cut = len(texts) * 9 // 10
    learn, rest = texts[:cut], texts[cut:]
    counts = digram.count_pretokens(learn, pretokenizer="o200k")
    started = time.perf_counter()
    tok = digram.train(counts, vocab_size=SIZE, **ROWS[who])
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    tok.encode_batch(learn, out="numpy", threads=1)
    encoding = time.perf_counter() - started
    audit = digram.audit(tok, learn, rare=10)
    size = sum(len(text.encode()) for text in rest)
    return {
        "bytes per token": size / sum(tok.count_batch(rest)),
        "dropped": sum(event.kind == "drop" for event in tok.events),
        "rare": audit.by_kind["rare"].count + audit.by_kind["unused"].count,
        "partial": audit.by_kind["partial"].count,
        "junk": sum(one.count for name, one in audit.by_kind.items() if name.startswith("junk_")),
        "seconds": seconds,
        "encode": sum(len(text.encode()) for text in learn) / MB / encoding,
    }


def run(options: Options) -> tuple[str, list[Task]]:
    """One table for each corpus."""
    megabytes = options.megabytes or (1.0 if options.quick else 10.0)
    tasks = {
        (corpus, who): Task.of("picky", who, corpus=corpus, megabytes=megabytes)
        for corpus in CORPORA
        for who in ROWS
    }
    results = take_turns([[tasks[corpus, who] for who in ROWS] for corpus in CORPORA], options)
    header = ["", "bytes per token", "dropped", "rare", "partial", "junk"]
    header += ["seconds", "encode, MB/s", "MB of memory"]
    parts = [f"## Whole characters, and PickyBPE\n\n{SIZE:,} tokens, pretokenizer o200k."]
    for corpus in CORPORA:
        lines = []
        for who in ROWS:
            found = results[tasks[corpus, who]]
            if not found:
                lines.append([who, *["–"] * 8])
                continue
            lines.append(
                [
                    who,
                    f"{found['bytes per token']:.3f}",
                    *(f"{int(found[name]):,}" for name in ("dropped", "rare", "partial", "junk")),
                    number(found["seconds"]),
                    number(found["encode"]),
                    number(found["peak"] / MB),
                ]
            )
        head = (
            f"{megabytes:g} MB of {corpus}.txt, nine tenths to learn from, the rest to measure on."
        )
        parts.append(f"{head}\n\n{markdown(header, lines)}")
    return "\n\n".join(parts), []
