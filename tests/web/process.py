"""`digram serve` as a process of its own, and what the system says of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from digram.web import Server


@contextmanager
def running(paths: Sequence[str], *options: str) -> Iterator[subprocess.Popen[str]]:
    """The process that serves tokenizers, ended in any case."""
    tokenizers = [word for path in paths for word in ("-t", path)]
    command = [sys.executable, "-m", "digram", "serve", *tokenizers, *options]
    pipe = subprocess.PIPE
    # As everywhere: what is written to a pipe is held back until there is much of it.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=env) as process:
        try:
            yield process
        finally:
            process.kill()


def served_by(process: subprocess.Popen[str]) -> Server:
    """The server of a process, by the address that it prints: to ask it, not to run it."""
    assert process.stdout is not None
    address = process.stdout.readline()
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#([\w-]{32})\n", address)
    assert found is not None, address
    nothing: Any = None
    return Server(address.strip(), found[2], int(found[1]), nothing, nothing, nothing)


def processor_seconds(process: subprocess.Popen[str]) -> float:
    """What a process has computed."""
    stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def most_memory(process: subprocess.Popen[str]) -> int:
    """The most bytes that a process has had in memory."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) << 10
