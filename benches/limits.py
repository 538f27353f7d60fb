"""How much time and memory a measurement may take before it is given up."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from time import monotonic

from benches.tables import number

BETWEEN_LOOKS = 0.1
"""Seconds between two looks at the memory of a process."""


class TooMuchError(Exception):
    """A process passed a limit and was ended; the message is what a table says of it."""


@dataclass(frozen=True)
class Limits:
    """Seconds, and bytes of memory that are held at a moment; None is no limit.

    Memory is watched rather than forbidden: many programs set aside address space that they never
    touch, and one that is refused memory may end in a way that says nothing.
    """

    seconds: float = 1_800
    memory: float | None = None

    @property
    def passed(self) -> tuple[str, str]:
        """What is said of a process that passed each of them."""
        memory = "" if self.memory is None else f"> {number(self.memory / 1e9)} GB"
        return f"> {number(self.seconds)} s", memory

    def watch(self, process: subprocess.Popen[str]) -> tuple[str, str]:
        """What a process prints until it ends; `TooMuchError` where that is past a limit."""
        began = monotonic()
        slow, large = self.passed
        try:
            while True:
                try:
                    return process.communicate(timeout=BETWEEN_LOOKS)
                except subprocess.TimeoutExpired:
                    if monotonic() - began > self.seconds:
                        raise TooMuchError(slow) from None
                    if self.memory is not None and _held(process.pid) > self.memory:
                        raise TooMuchError(large) from None
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()


def _held(process: int) -> int:
    """The bytes that a process holds; 0 where the system does not say."""
    try:
        with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))
    except (OSError, StopIteration):
        return 0
