"""Reading files in a process of its own: what came of it, and by how much its memory grew."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CODE = """
import json, os, re, sys, warnings
import digram
from digram.pretokenizers.pretokenizer import resolve
from digram.corpus import Corpus

def peak():
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\\s*(\\d+)", file.read())[1])

def read(path, most=None, **told):
    border = resolve("gpt2").splitter().last_border
    reading = Corpus.of(digram.files(path, **told)).batches(border, most)
    texts = size = 0
    for batch in reading:
        texts += len(batch)
        size += sum(map(len, batch))
        del batch
    return texts, size, reading.skipped

path, before, uid, told = json.loads(sys.argv[1])
for one in before:
    read(one)
if uid is not None:
    os.setgroups([])
    os.setuid(uid)
found, error = (0, 0, 0), None
held = peak()
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    try:
        found = read(path, **told)
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
grown = peak() - held
print(json.dumps([*found, error, [str(one.message) for one in warned], grown]))
"""


@dataclass(frozen=True)
class Read:
    """What a child read: texts (or parts of them), bytes, records skipped, and what was said."""

    texts: int
    bytes: int
    skipped: int
    error: str | None
    warnings: list[str]
    grown: int
    """By how many kB the most memory that it ever took grew."""


def read_in_a_child(
    path: Path, *before: Path, uid: int | None = None, cwd: Path | None = None, **told: Any
) -> Read:
    """Reads a file as training does, after others that bring in what such files need.

    `told` are the options of `digram.files`, and `most`. With `uid` the child becomes that user
    before it reads.
    """
    asked = json.dumps([str(path), [str(one) for one in before], uid, told])
    done = subprocess.run(
        [sys.executable, "-c", CODE, asked],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=100,
        cwd=cwd,
    )
    return Read(*json.loads(done.stdout))
