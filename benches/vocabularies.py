"""Vocabularies of trainers beside each other: seconds, memory, and how well they describe text."""

from __future__ import annotations

from collections.abc import Iterable

from benches.data import MB, documents
from benches.run import Options, Task, take_turns
from benches.tables import markdown, number

SIZES = (8_000, 32_000)
CORPORA = ("en", "code")
LONGEST = 4_000
"""Lines of more bytes are left out: sentencepiece does so from 4,192 on."""


def lines_of(corpus: str, megabytes: float) -> list[str]:
    """The lines of a corpus that are not empty and not too long."""
    lines = (line for text in documents(corpus, megabytes) for line in text.split("\n"))
    return [line for line in lines if line.strip() and len(line.encode()) <= LONGEST]


def compare(
    options: Options, bench: str, title: str, unit: str, rows: Iterable[str]
) -> tuple[str, list[Task]]:
    """One table for each corpus and size; `rows` are the programs."""
    megabytes = options.megabytes or (1.0 if options.quick else 10.0)
    sizes = SIZES[:1] if options.quick else SIZES
    groups = {
        (corpus, size): [
            Task.of(bench, who, corpus=corpus, megabytes=megabytes, size=size, threads=2)
            for who in rows
            if options.wants(who)
        ]
        for corpus in CORPORA
        for size in sizes
    }
    results = take_turns(groups.values(), options)
    header = ["", "seconds", "MB of memory", "loss", "loss, rest"]
    header += ["bytes per token", "bytes per token, rest", "overlap"]
    parts = [f"## Training of {title}\n\nTwo threads; loss in nats per byte."]
    for (corpus, size), tasks in groups.items():
        lines = []
        for task in tasks:
            found = results[task]
            if not found:
                lines.append([task.who, found.error or "–", *["–"] * 6])
                continue
            lines.append(
                [
                    task.who,
                    number(found["seconds"]),
                    number(found["training"] / MB),
                    *(f"{found[name]:.4f}" for name in ("loss, learned", "loss, rest")),
                    f"{found['bytes per token, learned']:.3f}",
                    f"{found['bytes per token, rest']:.3f}",
                    f"{100 * found['overlap']:.1f} %",
                ]
            )
        head = f"{megabytes:g} MB of {corpus}.txt, nine tenths to learn from; {size:,} {unit}."
        parts.append(f"{head}\n\n{markdown(header, lines)}")
    return "\n\n".join(parts), []
