"""A call in a process of its own: a fault that ends a process is seen from outside only.

The child is a fork, so that it starts in milliseconds with all that is imported here. It has so
much memory beside what it begins with, so much processor time and so much time; the parent tells
from the way it ended what became of it.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import digram

MEMORY = 1 << 30
"""Bytes that a child may take beside what it begins with."""
PATIENCE = 20
"""Seconds of processor time, and of time a good deal more: other processes may be at work."""

_SIGNALS = {
    signal.SIGALRM: "hang",
    signal.SIGXCPU: "hang",
    signal.SIGKILL: "hang",  # after the soft limit of processor time comes the hard one
    signal.SIGABRT: "abort",
}
_LONGEST = 2000
"""Characters of an error's message: what a file holds does not belong into it at any length."""


@dataclass(frozen=True)
class Ended:
    """How a call ended.

    `how` is "value", with what it gave as `said`; "refused", with the error as `said`; or what went
    wrong: "crash", "abort", "hang", "panic", "memory", "class" (an error outside the contract),
    "message" (one that is too long), "silent" (an assertion of the call itself).
    """

    how: str
    said: Any = None

    @property
    def is_fault(self) -> bool:
        """Whether this must never be."""
        return self.how not in ("value", "refused")


def forked(
    call: Callable[[], Any],
    *,
    allowed: tuple[type[BaseException], ...] = (digram.DigramError,),
    memory: int = MEMORY,
    patience: int = PATIENCE,
) -> Ended:
    """Makes a call in a child. It gives what JSON holds; the errors `allowed` are not faults."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(readable)
        status = 70
        try:
            _limit(memory, patience)
            ended = _called(call, allowed)
            line = json.dumps([ended.how, ended.said]).encode("utf-8", "backslashreplace")
            with os.fdopen(writable, "wb") as file:
                file.write(line)
            status = 0
        finally:
            os._exit(status)
    os.close(writable)
    with os.fdopen(readable, "rb") as file:
        line = file.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return Ended(_SIGNALS.get(signal.Signals(number), "crash"), signal.Signals(number).name)
    if os.WEXITSTATUS(status) or not line:
        return Ended("crash", f"exit {os.WEXITSTATUS(status)}")
    return Ended(*json.loads(line))


def _limit(memory: int, patience: int) -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + memory, held + memory))
    used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    resource.setrlimit(resource.RLIMIT_CPU, (used + patience, used + patience + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.disable()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(10 * patience)


def _called(call: Callable[[], Any], allowed: tuple[type[BaseException], ...]) -> Ended:
    try:
        return Ended("value", call())
    except AssertionError as error:
        return Ended("silent", str(error)[:_LONGEST])
    except MemoryError:
        return Ended("memory", "MemoryError")
    except BaseException as error:
        told = f"{type(error).__name__}: {error}"
        how = "refused" if len(told) <= _LONGEST else "message"
        if type(error).__name__ == "PanicException":
            how = "panic"
        elif not isinstance(error, allowed) or isinstance(error, digram.InternalError):
            how = "class"
        return Ended(how, told[:_LONGEST])
