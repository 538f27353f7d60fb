"""Ctrl-C in every long call: on one thread and two, in one text and many, before and after the
first NumPy array of the process.

In the tests is a part of it; `DIGRAM_CASES=1` runs all.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from faults.interrupted import SOON, calls

pytestmark = pytest.mark.alone

ALL = [*product(calls([], [], 1), ["one", "many"], ["1", "2"], ["warm"])]
COLD = [
    *product(
        [name for name in calls([], [], 1) if "arrays" in name], ["one", "many"], "12", ["cold"]
    )
]
# Every fourth, in another form each time, and those that were once not heard.
SHARE = [case for number, case in enumerate(ALL) if number % 4 == number // 4 % 4]
SHARE += [("encode_batch", "many", "1", "warm"), ("encode_batch to arrays", "many", "1", "cold")]
CASES = [*ALL, *COLD] if "DIGRAM_CASES" in os.environ else dict.fromkeys(SHARE)


@pytest.mark.parametrize(("name", "texts", "threads", "numpy"), CASES)
def test_ctrl_c(name: str, texts: str, threads: str, numpy: str) -> None:
    done = subprocess.run(
        [sys.executable, "interrupted.py", name, texts, threads, numpy],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert float(done.stdout) < SOON * int(threads), f"{done.stdout.strip()} s after Ctrl-C"
