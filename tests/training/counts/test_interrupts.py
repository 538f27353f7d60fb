"""Ctrl-C stops all that looks through many pretokens, soon, and leaves the counts as they are.

All times are of the processor, so that a machine with other work to do changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pyarrow
import pytest

from digram import Counts
from digram.training.counts import files

ROWS = 1_600_000
"""So many that all calls take many times as long as what lies between two looks for a signal."""

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def table() -> pyarrow.Table:
    # Pieces of eight bytes in no order, each once.
    pieces = (np.arange(ROWS, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)).tobytes()
    column = pyarrow.FixedSizeBinaryArray.from_buffers(
        pyarrow.binary(8), ROWS, [None, pyarrow.py_buffer(pieces)]
    ).cast(pyarrow.binary())
    first = np.random.default_rng(7).permutation(ROWS)
    return pyarrow.table({"piece": column, "count": np.arange(1, ROWS + 1), "first": first})


CALLS: dict[str, Callable[[Counts, pyarrow.Table], object]] = {
    "from_arrow": lambda _, table: Counts.from_arrow(table, pretokenizer=None),
    "merge": lambda counts, _: Counts.merge([counts, counts, counts]),
    "look_up": lambda counts, _: counts["x"],
    "without_first": lambda counts, _: counts.without_first(),
    "subtract": lambda counts, _: counts - counts,
    "save": lambda counts, _: next(files.to_bytes(counts)),
}


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c(name: str, table: pyarrow.Table, alarm: Callable[[float], None]) -> None:
    call = CALLS[name]

    def fresh() -> Counts:
        """Not yet sorted by piece."""
        return Counts.from_arrow(table, pretokenizer=None)

    counts = fresh()
    started = time.process_time()
    expected = call(counts, table)
    whole = time.process_time() - started
    lates: list[float] = []
    # A call that goes on to its end is late by nine tenths, in every round.
    while len(lates) < 5 and min(lates, default=whole) >= 0.6 * whole:
        counts = fresh()
        alarm(whole / 10)
        started = time.process_time()
        with pytest.raises(KeyboardInterrupt):
            call(counts, table)
        lates.append(time.process_time() - started - whole / 10)
    assert min(lates) < 0.6 * whole, f"{min(lates):.2f} s after Ctrl-C, of {whole:.2f} s"
    assert call(counts, table) == expected
