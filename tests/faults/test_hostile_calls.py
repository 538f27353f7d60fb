"""A share of `python tests/faults/hostile_calls.py`: hostile values to all that is public."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest
from faults import hostile_calls
from faults.public_surface import surface

CALLS = 160


def test_hostile_values_are_refused_as_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()):
        calls = surface()
    assert len(calls) > 200
    chosen = hostile_calls.cases(calls, CALLS)
    faults = [
        f"tests/faults/hostile_calls.py --calls {CALLS} --only {number}: {case}: {ended.said}"
        for number, case, ended in hostile_calls.campaign(chosen, lanes=2)
        if ended.is_fault
    ]
    assert not faults, "\n".join(faults)
