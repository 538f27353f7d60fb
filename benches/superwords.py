"""Tokens of several words: how much shorter text becomes, and what it costs."""

from __future__ import annotations

import time
from typing import Any

from benches.data import MB, documents
from benches.run import Options, Task, take_turns
from benches.tables import markdown, number

SIZE, LEARN, HELD_OUT = 16_385, 10.0, 4.0
ROWS = {
    "plain": "words alone",
    "two-stage": "two-stage, superwords from nine tenths of the merges on",
    "half": "two-stage, from half of the merges on",
    "letters": 'boundless, `joins="letters"`',
    "boundless": "boundless",
}


def ways(who: str) -> dict[str, Any]:
    """The options of training."""
    import digram

    options: dict[str, dict[str, Any]] = {
        "plain": {},
        "two-stage": {"superwords": digram.TwoStage()},
        "half": {"superwords": digram.TwoStage(subwords=0.5)},
        "letters": {"superwords": digram.Boundless(joins="letters")},
        "boundless": {"superwords": digram.Boundless()},
    }
    return options[who]


def measure(who: str, text: str, megabytes: float) -> dict[str, Any]:
    """Bytes per token of what was learned from and of what follows it, and seconds of both."""
    import digram

    learn = documents(text, megabytes)
    rest = documents(text, megabytes + HELD_OUT)[len(learn) :]
    started = time.perf_counter()
    tok = digram.train(learn, vocab_size=SIZE, pretokenizer="o200k", **ways(who))
    trained = time.perf_counter()
    tok.count_batch(rest, threads=1)  # once, for what is made at the first use
    begun = time.perf_counter()
    tokens = sum(tok.count_batch(rest, threads=1))
    done = time.perf_counter()
    held = sum(len(one.encode()) for one in rest)
    return {
        "learned": sum(len(one.encode()) for one in learn) / sum(tok.count_batch(learn)),
        "held out": held / tokens,
        "seconds": trained - started,
        "MB/s": held / MB / (done - begun),
    }


def run(options: Options) -> tuple[str, list[Task]]:
    """A table for each text."""
    megabytes = options.megabytes or (2.0 if options.quick else LEARN)
    tables = []
    for text in ("en", "code"):
        tasks = {who: Task.of("superwords", who, text=text, megabytes=megabytes) for who in ROWS}
        results = take_turns([list(tasks.values())], options)
        plain = results[tasks["plain"]]
        lines = []
        for who, name in ROWS.items():
            found = results[tasks[who]]
            if not found:
                lines.append([name, *["–"] * 6])
                continue
            gain = found["learned"] / plain["learned"] - 1 if plain else 0.0
            lines.append(
                [
                    name,
                    number(found["learned"]),
                    f"{gain:+.1%}",
                    number(found["held out"]),
                    number(found["seconds"]),
                    number(found["MB/s"]),
                    number(found["peak"] / MB),
                ]
            )
        header = [f"{text}.txt", "bytes per token", "gain", "held out", "seconds", "MB/s", "MB"]
        tables.append(markdown(header, lines))
    head = (
        f"## Superwords\n\n{SIZE:,} tokens, o200k's pattern, {megabytes:g} MB to learn from, "
        f"{HELD_OUT:g} MB after it held out; encoding in one thread."
    )
    return "\n\n".join([head, *tables]), []
