"""One measurement, in a process of its own: `python -m benches.child encode '{...}'`.

Prints one line of JSON: what the module's `measure` returns, and the peak of memory in bytes.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import resource
import sys

ONE_THREAD = ("calls", "decode", "models")
"""What is measured on one thread, whatever its parameters."""


def main() -> None:
    """Measure what the command line names."""
    kind, parameters = sys.argv[1], json.loads(sys.argv[2])
    if kind in ONE_THREAD or "threads" in parameters:
        on_processors(parameters.get("threads") or 1)
    result = importlib.import_module(f"benches.{kind}").measure(**parameters)
    result["peak"] = peak()
    print(json.dumps(result))


def on_processors(count: int) -> None:
    """Limit this process to `count` processors, if the system supports it.

    fastokens starts threads that RAYON_NUM_THREADS does not limit.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])


def peak() -> int:
    """The most memory that this process held, in bytes.

    Linux hands `ru_maxrss` down from the process that started this one, so what the kernel says of
    this program alone comes first.
    """
    try:
        return _status("VmHWM")
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def held() -> int:
    """The memory that this process holds now, in bytes; `OSError` but on Linux.

    What was freed goes back to the system before, so that it does not count.
    """
    gc.collect()
    getattr(ctypes.CDLL(None), "malloc_trim", lambda _: 0)(0)
    return _status("VmRSS")


def _status(name: str) -> int:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))


if __name__ == "__main__":
    main()
