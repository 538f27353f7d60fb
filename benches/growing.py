"""A vocabulary of English that other text comes to: drift, what an update would save, memory."""

from __future__ import annotations

import time
from typing import Any

from benches.data import MB, documents
from benches.run import Options, Task, take_turns
from benches.tables import markdown, number

TOKENS, MORE = 16_000, 1_000
MEGABYTES = 12.0
ROWS = {
    "en": "more of the same corpus",
    "code": "source code",
    "multi": "many languages",
    "med": "medical text",
    "held out": "half of that, the gain on the other half",
}
STREAM = "stream"
"""Medical text in steps, each of which lets what is older fade."""
STEP, FACTOR = 20, 0.9


def measure(who: str, megabytes: float) -> dict[str, Any]:
    """What `drift` says of recent text; or, for a stream, what the history holds of it."""
    import digram

    if who == STREAM:
        return _stream(megabytes)
    english = documents("en", megabytes)
    cut = len(english) * 5 // 6
    corpus = "med" if who == "held out" else who
    recent = english[cut:] if who == "en" else documents(corpus, megabytes * 5 / 12)
    held = None
    if who == "held out":
        recent, held = recent[: len(recent) // 2], recent[len(recent) // 2 :]
    history = digram.VocabularyHistory().add(english[:cut], progress=False)
    history = history.next(vocab_size=TOKENS, progress=False)
    started = time.perf_counter()
    found = history.drift(recent, add=MORE, on=held, progress=False)
    seconds = time.perf_counter() - started
    assert found.base is not None
    return {
        "seconds": seconds,
        "recent": found.recent.bytes,
        "base": found.base.bytes_per_token,
        "bytes per token": found.recent.bytes_per_token,
        "divergence": found.divergence,
        "chance": found.by_chance,
        "unseen": found.unseen,
        "saved": found.gain.saved,
        "pays after": found.pays_after,
    }


def _stream(megabytes: float) -> dict[str, Any]:
    import digram

    texts = documents("med", megabytes)
    history, held = digram.VocabularyHistory(), []
    started = time.perf_counter()
    for start in range(0, len(texts), STEP):
        history = history.decay(FACTOR).add(texts[start : start + STEP], progress=False)
        held.append(sum(len(batch.counts) for batch in history._batches))
    return {
        "seconds": time.perf_counter() - started,
        "steps": len(held),
        "half": held[len(held) // 2],
        "held": held[-1],
        "most": max(held),
        "distinct": len(digram.count_pretokens(texts, progress=False)),
    }


def run(options: Options) -> tuple[str, list[Task]]:
    """A table of drift, and a line about a stream."""
    megabytes = options.megabytes or (3.0 if options.quick else MEGABYTES)
    tasks = {who: Task.of("growing", who, megabytes=megabytes) for who in (*ROWS, STREAM)}
    results = take_turns([[*tasks.values()]], options)
    lines = []
    for who, name in ROWS.items():
        found = results[tasks[who]]
        if not found:
            lines.append([name, *["–"] * 9])
            continue
        lines.append(
            [
                name,
                f"{found['recent'] / MB:.1f}",
                number(found["bytes per token"]),
                *(f"{found[measure]:.3f}" for measure in ("divergence", "chance")),
                *(f"{found[measure]:.1%}" for measure in ("unseen", "saved")),
                f"{found['pays after']:,.0f}",
                number(found["seconds"]),
                number(found["peak"] / MB),
            ]
        )
    header = [
        *("recent text", "MB", "bytes per token", "divergence", "by chance", "unseen"),
        *("saved", "pays after", "s", "MB of memory"),
    ]
    english, stream = results[tasks["en"]], results[tasks[STREAM]]
    base = f"{english['base']:.2f}" if english else "–"
    head = (
        f"## Growing\n\n{TOKENS:,} tokens from {megabytes * 5 / 6:.0f} MB of English, which has "
        f"{base} bytes to a token; {MORE:,} more tried."
    )
    tail = "–"
    if stream:
        tail = (
            f"{int(stream['steps'])} steps of {STEP} documents of med.txt, each a decay by "
            f"{FACTOR} before: {int(stream['half']):,} pretokens held after half of them, "
            f"{int(stream['held']):,} at the end, {int(stream['most']):,} at most, of "
            f"{int(stream['distinct']):,} distinct ones; {number(stream['seconds'])} s."
        )
    return f"{head}\n\n{markdown(header, lines)}\n\n{tail}", []
