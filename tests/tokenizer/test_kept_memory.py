"""The memory of decoded texts, which later calls use again."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

MiB = 1 << 20

DECODING = """
import digram, os, resource, sys
megabytes = int(sys.argv[1])
tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
ids = tok.encode("low lower lowest " * 60)
batch = [ids] * (megabytes * 1_000_000 // 1_020)
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(4):
    before, texts = (faults(), resident()), tok.decode_batch(batch, threads=1)
    assert set(texts) == {"low lower lowest " * 60}
    taken = faults() - before[0]
    held = resident()
    del texts
    print(taken, held - resident())
"""


@pytest.mark.skipif(
    sys.platform != "linux" or platform.libc_ver()[0] != "glibc", reason="reads /proc, of glibc"
)
@pytest.mark.parametrize("megabytes", [8, 80])
def test_the_memory_of_few_texts_is_used_again_and_that_of_many_is_freed(megabytes: int) -> None:
    # The thresholds of the allocator do not change with what was freed.
    env = {**os.environ, "MALLOC_TRIM_THRESHOLD_": str(128 << 10)}
    command = [sys.executable, "-c", DECODING, str(megabytes)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    calls = [[int(number) for number in line.split()] for line in done.stdout.splitlines()]
    pages = megabytes * MiB // os.sysconf("SC_PAGESIZE")
    for taken, freed in calls[1:]:
        if megabytes == 8:
            assert taken < pages / 10
            assert freed < MiB
        else:
            assert freed > megabytes * MiB / 2
