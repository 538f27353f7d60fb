"""Sequences of numbers: movements, DNA and codes of pictures, beside Hugging Face's trainer.

All are made by chance from a seed, in parts, so that what makes them takes little memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benches.data import MB
from benches.peers import Program
from benches.run import Options, Task, disagreements, take_turns
from benches.tables import markdown, number, times

Numbers = NDArray[Any]

OURS, THEIRS = "digram", "tokenizers"
MERGES = 1_000
PART = 200
"""Sequences that are made together."""
HELD_OUT = 10
"""One part in this many is kept back from training, and at least one."""


def movements(parts: int) -> Iterator[Numbers]:
    """A second of 7 joints from one posture to another, as FAST quantizes it.

    50 steps of each joint, with an error that adds up; of these the cosine transform, ten times as
    large and rounded, low frequencies of all joints first (Pertsch et al. 2025).
    """
    steps, joints, scale = 50, 7, 10
    k = np.arange(steps)
    cosines = np.cos(np.pi / steps * (k + 0.5) * k[:, None]) * np.sqrt(2 / steps)
    cosines[0] /= np.sqrt(2)
    course = (1 - np.cos(np.pi * k / (steps - 1)))[None, :, None] / 2
    rng = np.random.default_rng(0)
    for _ in range(parts):
        ends = rng.normal(size=(PART, 2, joints))
        moved = ends[:, :1] + course * (ends[:, 1:] - ends[:, :1])
        moved += 0.01 * rng.normal(size=moved.shape).cumsum(axis=1)
        found = np.rint(scale * np.einsum("fs,nsj->nfj", cosines, moved)).reshape(PART, -1)
        yield np.clip(found + 256, 0, 511).astype(np.uint16)


def dna(parts: int) -> Iterator[Numbers]:
    """Reads of 1,000 bases: an order-3 Markov chain, and copies of elements strewn over it.

    A read in two has a copy of one of 200 elements of 150 bases, one base in twenty changed.
    """
    length, element = 1_000, 150
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.full(4, 2.0), size=64).cumsum(axis=1)
    elements = rng.integers(0, 4, (200, element), dtype=np.uint8)
    for _ in range(parts):
        reads = np.empty((PART, length), np.uint8)
        last = rng.integers(0, 64, PART)
        for at in range(length):
            drawn = rng.random(PART)[:, None] > chances[last]
            reads[:, at] = np.minimum(drawn.sum(axis=1), 3)
            last = (4 * last + reads[:, at]) % 64
        for read in range(0, PART, 2):
            copy = elements[rng.integers(len(elements))].copy()
            changed = rng.random(element) < 0.05
            copy[changed] = rng.integers(0, 4, changed.sum())
            start = int(rng.integers(length - element))
            reads[read, start : start + element] = copy
        yield reads


def pictures(parts: int, order: str = "rows") -> Iterator[Numbers]:
    """Codes of discs on a slope: 16 × 16 patches of 4 × 4 pixels, 256 codes found by k-means."""
    side, patch, codes = 16, 4, 256
    size = side * patch
    y, x = np.mgrid[:size, :size] / size
    rng = np.random.default_rng(0)
    places = _z_order(side) if order == "Z" else np.arange(side * side)
    book: Numbers | None = None
    for _ in range(parts):
        slope = rng.uniform(-1, 1, (2, PART, 1, 1))
        made = 0.5 + 0.3 * (x * slope[0] + y * slope[1])
        for _ in range(4):
            cx, cy, shade = rng.random((3, PART, 1, 1))
            radius = rng.uniform(0.08, 0.3, (PART, 1, 1))
            made = np.where((x - cx) ** 2 + (y - cy) ** 2 < radius**2, shade, made)
        made += 0.01 * rng.normal(size=made.shape)
        cut = made.reshape(PART, side, patch, side, patch).swapaxes(2, 3)
        points = cut.reshape(PART * side * side, patch * patch)
        if book is None:
            book = _book(points, codes, rng)
        yield _nearest(points, book).reshape(PART, -1)[:, places].astype(np.uint16)


def _book(points: Numbers, codes: int, rng: np.random.Generator) -> Numbers:
    """The centres of k-means on some points, after 12 rounds; one without points stays."""
    points = points[rng.choice(len(points), 5_000, replace=False)]
    book: Numbers = points[:codes].copy()
    for _ in range(12):
        near = _nearest(points, book)
        often = np.bincount(near, minlength=codes)
        sums = np.zeros_like(book)
        np.add.at(sums, near, points)
        book[often > 0] = sums[often > 0] / often[often > 0, None]
    return book


def _nearest(points: Numbers, book: Numbers) -> Numbers:
    norms = (book**2).sum(axis=1)
    parts = np.array_split(points, -(-len(points) // 4_096))  # or all distances are held at once
    return np.concatenate([(norms - 2 * part @ book.T).argmin(axis=1) for part in parts])


def _z_order(side: int) -> Numbers:
    """The places of a square, row by row, in the order of their coordinates' mixed bits."""
    y, x = np.mgrid[:side, :side]
    mixed = np.zeros((side, side), np.int64)
    for bit in range(side.bit_length()):
        mixed |= (x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1
    return np.argsort(mixed, axis=None, kind="stable")


KINDS: dict[str, tuple[Callable[[int], Iterator[Numbers]], int, int]] = {
    "movements": (movements, 512, 100),
    "DNA": (dna, 4, 25),
    "pictures, by rows": (pictures, 256, 25),
    "pictures, in Z-order": (lambda parts: pictures(parts, "Z"), 256, 25),
}
"""What makes them, how many symbols there are, and how many parts are measured."""


def measure(who: str, what: str, parts: int) -> dict[str, Any]:
    """Seconds to learn and to encode what was not learned from, and symbols for an id there.

    The clock runs for all that a program does with arrays of numbers: for `tokenizers` that is to
    make characters of them too, which digram does by itself.
    """
    make, symbols, _ = KINDS[what]
    sequences = [one for part in make(parts) for one in part]
    cut = len(sequences) - PART * max(parts // HELD_OUT, 1)
    learn, rest = sequences[:cut], sequences[cut:]
    program = _digram if who == OURS else _tokenizers
    trained, encoded, merges, ids = program(learn, rest, symbols)
    sha = hashlib.sha256(json.dumps(merges).encode())
    sha.update(np.concatenate(ids).astype("<u4").tobytes())
    return {
        "seconds": trained,
        "encoding": encoded,
        "learned": sum(map(len, learn)),
        "per id": sum(map(len, rest)) / sum(map(len, ids)),
        "tokens": symbols + len(merges),
        "digest": sha.hexdigest(),
    }


Found = tuple[float, float, list[list[int]], list[Numbers]]
"""Seconds to learn, seconds to encode, merges as ids, and the ids of what was encoded."""


def _digram(learn: list[Numbers], rest: list[Numbers], symbols: int) -> Found:
    from digram import train_ids

    started = perf_counter()
    tok = train_ids(learn, vocab_size=symbols + MERGES, symbols=symbols, threads=1)
    trained = perf_counter()
    found = tok.encode_batch(rest, threads=1)
    ended = perf_counter()
    merges = [[*merge] for merge in tok.merges]
    return trained - started, ended - trained, merges, [found.ids]


def _tokenizers(learn: list[Numbers], rest: list[Numbers], symbols: int) -> Found:
    from tokenizers import Tokenizer, models, trainers

    def text(sequence: Numbers) -> str:
        return (sequence.astype("<u4") + 0x100).tobytes().decode("utf-32-le")

    started = perf_counter()
    tok = Tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=symbols + MERGES,
        initial_alphabet=[chr(0x100 + symbol) for symbol in range(symbols)],
        limit_alphabet=symbols,
        show_progress=False,
    )
    tok.train_from_iterator(map(text, learn), trainer)
    trained = perf_counter()
    found = [one.ids for one in tok.encode_batch([*map(text, rest)])]
    ended = perf_counter()
    model = json.loads(tok.to_str())["model"]
    ids = model["vocab"]
    merges = [[ids[a], ids[b], ids[a + b]] for a, b in model["merges"]]
    return trained - started, ended - trained, merges, [np.array(one) for one in found]


def run(options: Options) -> tuple[str, list[Task]]:
    """One table, and the measurements whose merges or ids differ from digram's."""
    peer = Program(THEIRS, THEIRS)
    who = [OURS, *([THEIRS] if options.wants(THEIRS) and peer.installed else [])]
    lines, wrong = [], []
    for kind, (_, symbols, whole) in KINDS.items():
        parts = max(whole // 5, 2) if options.quick else whole
        tasks = [Task.of("sequences", one, what=kind, parts=parts) for one in who]
        results = take_turns([tasks], options)
        differ = disagreements(results, tasks)
        wrong += differ
        ours = results[tasks[0]]
        if not ours:
            lines.append([kind, *["–"] * 8])
            continue
        learned = f"{ours['learned'] / 1e6:.1f}"
        first = [kind, f"{symbols:,}", learned, f"{int(ours['tokens']):,}"]
        cells = [number(ours["per id"]), *_costs(ours)]
        theirs = results[tasks[1]] if len(tasks) > 1 else None
        if theirs:
            mark = " ≠" if differ else ""
            ratio = times(theirs["seconds"] / ours["seconds"])
            cells += [f"{_costs(theirs)[0]}, {_costs(theirs)[1]}{mark}", ratio]
        else:
            cells += ["–" if theirs is None else theirs.error or "–", "–"]
        lines.append([*first, *cells])
    header = [
        *("", "symbols", "million learned from", "tokens", "symbols for an id"),
        *("s to learn / encode", "MB", f"{THEIRS}: s, MB", f"÷ {THEIRS}"),
    ]
    head = (
        "## Sequences\n\nOne thread; symbols for an id, and seconds to encode, on a tenth held out."
    )
    return f"{head}\n\n{markdown(header, lines)}", wrong


def _costs(result: Any) -> list[str]:
    seconds = f"{number(result['seconds'])} / {number(result['encoding'])}"
    return [seconds, number(result["peak"] / MB)]
