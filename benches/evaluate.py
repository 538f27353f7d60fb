"""Evaluating a text beside encoding it: the measures of a corpus should cost little more."""

from __future__ import annotations

import hashlib
import time
from typing import Any

from benches.data import CORPORA, MB, documents, vocabulary
from benches.run import Options, Task, disagreements, take_turns
from benches.tables import markdown, number, times

ENCODING = "cl100k_base"
ENCODE, EVALUATE = "encode_batch", "evaluate"


def measure(who: str, corpus: str, megabytes: float, threads: int) -> dict[str, Any]:
    """Seconds, those of the processor too, of a first pass and of a second; tokens of each text."""
    import digram

    texts = documents(corpus, megabytes)
    tok = digram.load(vocabulary(ENCODING), encoding=ENCODING)
    tok.encode_batch(["A line, so that nothing is set up for the first time."], out="numpy")
    digram.evaluate(tok, ["And one."])
    found: dict[str, Any] = {"size": sum(len(text.encode()) for text in texts)}
    for turn in ("seconds", "again"):
        started, worked = time.perf_counter(), time.process_time()
        if who == ENCODE:
            offsets = tok.encode_batch(texts, threads=threads, out="numpy").offsets
            lengths = offsets[1:] - offsets[:-1]
        else:
            lengths = digram.evaluate(tok, texts, threads=threads, progress=False).total.lengths
        found[turn] = time.perf_counter() - started
        found[f"{turn} of processors"] = time.process_time() - worked
        found["digest"] = hashlib.sha256(lengths.tobytes()).hexdigest()
    return found


def run(options: Options) -> tuple[str, list[Task]]:
    """One table, and the corpora whose texts have other numbers of tokens."""
    megabytes = options.megabytes or (4.0 if options.quick else 100.0)  # a hundred takes all of it
    threads = [int(one) for one in options.grid.get("threads", ("1",) if options.quick else ("2",))]
    lines, wrong = [], []
    for corpus in CORPORA[:1] if options.quick else CORPORA:
        for many in threads:
            group = [
                Task.of("evaluate", who, corpus=corpus, megabytes=megabytes, threads=many)
                for who in (ENCODE, EVALUATE)
            ]
            results = take_turns([group], options)
            wrong += disagreements(results, group)
            ours, base = results[group[1]], results[group[0]]
            title = f"{corpus}.txt, {many} thread{'s' * (many > 1)}"
            if not (ours and base):
                lines.append([title, *["–"] * 7])
                continue
            cells = [f"{number(base['size'] / MB)} MB"]
            for turn in ("seconds", "again"):
                cells += [number(base[turn]), number(ours[turn])]
                work = f"{turn} of processors"
                cells.append(times(ours[work] / base[work]))
            lines.append([title, *cells])
    header = ["", "text", "encode, s", "evaluate, s", "work", "again", "again", "work"]
    head = (
        f'## Evaluating\n\n{ENCODING}. Seconds of `tok.encode_batch(texts, out="numpy")` and of '
        "`digram.evaluate(tok, texts)`, the first time and again; work is how many times the "
        "processors' time the latter takes."
    )
    return f"{head}\n\n{markdown(header, lines)}", wrong
