"""Training within a limit of memory and with checkpoints, beside training without."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from benches.child import peak
from benches.data import MB
from benches.run import Options, Task, disagreements, take_turns
from benches.tables import markdown, number, times
from benches.texts import text
from digram._core import MIN_MEMORY

SIZE = 32_000
PARTS = (2, 5, 20)
"""How many times as large as the limit the text is."""

MINIMUM = MIN_MEMORY / MB


def measure(
    who: str, path: str, size: int, megabytes: float | None, checkpoint: bool, threads: int
) -> dict[str, Any]:
    """Seconds from a file to a tokenizer, and bytes of memory beyond those before."""
    import digram

    digram.train("A line, so that nothing is set up for the first time.", vocab_size=257)
    before, started = peak(), perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        tok = digram.train(
            digram.files(path, separator="<|endoftext|>"),
            vocab_size=size,
            pretokenizer="gpt2",
            memory_limit=None if megabytes is None else int(megabytes * MB),
            checkpoint=Path(folder) / "run" if checkpoint else None,
            threads=threads,
            progress=False,
        )
    return {
        "seconds": perf_counter() - started,
        "used": peak() - before,
        "digest": tok.digest,
    }


def run(options: Options) -> tuple[str, list[Task]]:
    """One table, and the runs whose tokenizer differs."""
    names = options.grid.get("texts") or (("10",) if options.quick else ("four",))
    sizes = [int(one.replace("k", "000")) for one in options.grid.get("sizes", (f"{SIZE}",))]
    threads = int(options.grid.get("threads", ("2",))[-1])
    lines, wrong = [], []
    for name in names:
        title, path = text(name, options.megabytes or 10.0)
        whole = path.stat().st_size / MB
        limits = [None, *(max(whole / part, MINIMUM) for part in PARTS)]
        for size in sizes:
            ways = [(limit, False) for limit in dict.fromkeys(limits)] + [(None, True)]
            group = [
                Task.of(
                    "within",
                    "digram",
                    path=str(path),
                    size=size,
                    megabytes=limit,
                    checkpoint=checkpoint,
                    threads=threads,
                )
                for limit, checkpoint in ways
            ]
            results = take_turns([group], options)
            wrong += disagreements(results, group)
            for (limit, checkpoint), task in zip(ways, group, strict=True):
                found, free = results[task], results[group[0]]
                what = "none" if limit is None else f"{limit:.0f} MB, 1/{whole / limit:.0f} of it"
                cells = (
                    [
                        number(found["seconds"]),
                        times(found["seconds"] / free["seconds"]) if free else "–",
                        number(found["used"] / MB),
                    ]
                    if found
                    else ["–", "–", "–"]
                )
                what += ", with checkpoints" * checkpoint
                lines.append([title, f"{size:,}", what, *cells])
    header = ["", "tokens", "limit", "s", "÷ none", "MB taken"]
    head = (
        "## Within a limit of memory\n\n"
        f"`gpt2`, {threads} threads. What is taken is beyond the process before, text included."
    )
    return f"{head}\n\n{markdown(header, lines)}", wrong
