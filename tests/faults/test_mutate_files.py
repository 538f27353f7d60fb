"""A share of `tests/faults/mutate_files.py`: damaged files of every kind, each in its process."""

from __future__ import annotations

import collections
import ctypes
import os

import pytest
from faults import mutate_files
from file_kinds import all_kinds
from forked import forked

import digram

CASES = 2  # of each kind


@pytest.mark.filterwarnings("ignore:.*tokens are unreachable")
def test_damaged_files_are_refused_or_read_as_what_they_say() -> None:
    kinds = all_kinds()
    found: collections.Counter[str] = collections.Counter()
    for name, number, ended in mutate_files.campaign(kinds, CASES * len(kinds), lanes=2):
        assert not ended.is_fault, (
            f"python tests/faults/mutate_files.py --kind {name!r} --only {number}: {ended.how}, "
            f"{ended.said}"
        )
        found[ended.said if ended.how == "value" else ended.how] += 1
    print(f"{CASES * len(kinds)} damaged files of {len(kinds)} kinds: {dict(found)}")
    assert found["refused"] > CASES * len(kinds) / 2


def test_faults_are_seen() -> None:
    """The parent detects a child that crashed, aborted or hangs."""
    assert forked(lambda: ctypes.string_at(0)).how == "crash"
    assert forked(os.abort).how == "abort"
    assert forked(lambda: bytearray(1 << 32)).how == "memory"
    assert forked(lambda: [None for _ in iter(int, 1)], patience=1, memory=1 << 33).how == "hang"
    assert forked(lambda: int("x")).how == "class"
    assert forked(lambda: digram.train("a", vocab_size=-1)).how == "refused"
    assert forked(lambda: 7).said == 7
