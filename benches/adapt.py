"""A general vocabulary made to fit a domain: tokens appended, merging continued, or others."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benches.data import MB, documents, vocabulary
from benches.run import Options, Task, take_turns
from benches.tables import markdown, number
from digram.vocab.bpe import require_bpe

if TYPE_CHECKING:
    import digram

GENERAL, MORE = 32_000, 4_000
ROWS = {
    "general": "general",
    "appended": f"general, {MORE:,} appended",
    "extended": f"general, {MORE:,} by `extend`",
    "larger": "general, trained larger",
    "published": "o200k",
    "domain": "medical text alone",
}


def learned_and_held_out(megabytes: float | None) -> tuple[list[str], list[str]]:
    """Nine tenths of the medical documents to learn from, and the rest."""
    texts = documents("med", megabytes)
    cut = len(texts) * 9 // 10
    return texts[:cut], texts[cut:]


def appended(tok: digram.Tokenizer, texts: list[str]) -> digram.Tokenizer:
    """The first tokens of a vocabulary of the domain, each with its own merge, after all others."""
    import digram

    other = digram.train(texts, vocab_size=GENERAL + MORE, pretokenizer=tok.pretokenizer)
    definition = tok.definition
    ids = {token: id for id, token in enumerate(definition.tokens) if token is not None}
    tokens, merges = [*definition.tokens], [*require_bpe(definition.model, "a benchmark").merges]
    for merge in other.merge_log:
        if len(tokens) == len(definition.tokens) + MORE:
            break
        if merge.token not in ids:
            ids[merge.token] = len(tokens)
            merges.append((ids[merge.left], ids[merge.right], len(tokens)))
            tokens.append(merge.token)
    return digram.Tokenizer(
        replace(definition, tokens=tokens, model=digram.BpeModel(merges), training=None)
    )


def measure(who: str, megabytes: float | None) -> dict[str, Any]:
    """Bytes per token of what was held out, tokens that nothing becomes, seconds to make it.

    Those of `extended` and `appended` begin with the general vocabulary at hand.
    """
    import digram

    learn, rest = learned_and_held_out(megabytes)
    general = [*documents("en", megabytes), *documents("code", megabytes)]
    size = GENERAL + MORE * (who in ("larger", "domain"))
    base = digram.train(general, vocab_size=GENERAL) if who in ("extended", "appended") else None
    started = time.perf_counter()
    if base is None:
        if who == "published":
            tok = digram.load(vocabulary("o200k_base"), encoding="o200k_base")
        else:
            tok = digram.train(learn if who == "domain" else general, vocab_size=size)
    elif who == "extended":
        tok, _ = digram.extend(base, learn, add=MORE)
    else:
        tok = appended(base, learn)
    seconds = time.perf_counter() - started
    held = sum(len(text.encode()) for text in rest)
    return {
        "tokens": tok.vocab_size,
        "bytes per token": held / sum(tok.count_batch(rest)),
        "unreachable": len(tok.unreachable()),
        "seconds": seconds,
    }


def run(options: Options) -> tuple[str, list[Task]]:
    """One table."""
    megabytes = options.megabytes or (4.0 if options.quick else None)
    tasks = {who: Task.of("adapt", who, megabytes=megabytes) for who in ROWS}
    results = take_turns([list(tasks.values())], options)
    lines = []
    for who, name in ROWS.items():
        found = results[tasks[who]]
        if not found:
            lines.append([name, *["–"] * 5])
            continue
        lines.append(
            [
                name,
                f"{int(found['tokens']):,}",
                number(found["bytes per token"]),
                f"{int(found['unreachable']):,}",
                number(found["seconds"]),
                number(found["peak"] / MB),
            ]
        )
    head = "## Adapting\n\nNine tenths of med.txt to learn from, the rest to measure on."
    header = ["", "tokens", "bytes per token", "unreachable", "seconds", "MB of memory"]
    return f"{head}\n\n{markdown(header, lines)}", []
