"""Files of counts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from vocabularies import CORPUS, bpe

import digram
from file_kinds.kind import Kind


def counts() -> Iterable[Kind]:
    found = digram.count_pretokens([CORPUS, "low lower"], pretokenizer="gpt2")

    def read(name: str) -> Callable[[Path], Any]:
        def of(folder: Path) -> Any:
            counts = digram.Counts.load(folder / name)
            rows = sorted((piece.hex(), number) for piece, number in counts.items())
            rest = [counts.documents, counts.bytes, counts.fingerprint, counts.skipped]
            merges = bpe(digram.train(counts, max_merges=5, ties="first_seen").definition).merges
            return [rows, rest, [list(merge) for merge in merges]]

        return of

    for name in ("counts.arrow", "counts.parquet"):
        with tempfile.TemporaryDirectory() as folder:
            found.save(Path(folder) / name)
            data = (Path(folder) / name).read_bytes()
        yield Kind(name, {name: data}, read(name), sealed=True)
