"""The memory of decoded texts and of lists of ids, which later calls use again."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

MiB = 1 << 20

CALLS = """
import digram, os, resource, sys
what, megabytes = sys.argv[1], int(sys.argv[2])
tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
text = "low lower lowest " * 60
ids = tok.encode(text)
def call():
    if what == "decode_batch":
        return tok.decode_batch([ids] * (megabytes * 1_000_000 // 1_020), threads=1)
    return tok.encode_batch([text] * (megabytes * 1_000_000 // (8 * len(ids))), threads=1)
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(4):
    before, objects = faults(), call()
    taken = faults() - before
    assert all(one == (text if what == "decode_batch" else ids) for one in objects)
    held = resident()
    del objects
    print(taken, held - resident())
"""


@pytest.mark.skipif(
    sys.platform != "linux" or platform.libc_ver()[0] != "glibc", reason="reads /proc, of glibc"
)
@pytest.mark.parametrize("megabytes", [8, 80])
@pytest.mark.parametrize("what", ["decode_batch", "encode_batch"])
def test_the_memory_of_few_objects_is_used_again_and_that_of_many_is_freed(
    what: str, megabytes: int
) -> None:
    # The thresholds of the allocator do not change with what was freed.
    env = {**os.environ, "MALLOC_TRIM_THRESHOLD_": str(128 << 10)}
    command = [sys.executable, "-c", CALLS, what, str(megabytes)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    calls = [[int(number) for number in line.split()] for line in done.stdout.splitlines()]
    pages = megabytes * MiB // os.sysconf("SC_PAGESIZE")
    for taken, freed in calls[1:]:
        if megabytes == 8:
            assert taken < pages / 4
            assert freed < MiB
        else:
            assert freed > megabytes * MiB / 2
