"""Memory that cannot be had is a MemoryError; see `memory_limits.py`, of which this is a part."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux")

CODE = """
import memory_limits as limits
few = limits.FEW
found = {}
for number, name in enumerate(limits.CALLS):
    # Each within one of them, in turn.
    found |= limits.outcomes([name], [few[number % len(few)]])
wrong = {name: [one for one in all if one not in limits.OUTCOMES] for name, all in found.items()}
print(*(f"{name}: {one}" for name, all in wrong.items() for one in all), sep="\\n")
flat = [one for all in found.values() for one in all]
print(len(found), "calls,", flat.count("done"), "done,", flat.count("MemoryError"), "without")
"""


def test_no_call_ends_the_process_where_memory_is_short() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        cwd=Path(__file__).parent,
        env={**os.environ, "DIGRAM_THREADS": "2"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    *wrong, told = done.stdout.splitlines()
    print(told)
    assert wrong in ([], [""]), "\n".join(wrong)
    assert " 0 done" not in told
    assert " 0 without" not in told


@pytest.mark.parametrize(
    ("mebibytes", "code"),
    [
        (1024, "tok.decode(range(2**40))"),
        (1024, "import itertools; tok.decode(itertools.repeat(65))"),
        *(
            (mebibytes, "tok.encode_batch(['low lower ' * 1000] * 3000, threads=64)")
            for mebibytes in (200, 250, 300)
        ),
    ],
)
def test_what_ended_the_process_once(mebibytes: int, code: str) -> None:
    limit = mebibytes << 20
    code = f"""
import resource, digram
tok = digram.train("low lower", max_merges=3, pretokenizer="cl100k")
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
try:
    {code}
except (MemoryError, digram.TokenIdError):
    pass
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr[-2000:]
