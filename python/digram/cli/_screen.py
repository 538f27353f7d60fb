"""A full-screen page on the terminal, and the keys pressed there."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["Screen", "opened"]

# The sequences that terminals send for keys without a letter.
_NAMES = {
    "\x1b[C": "right", "\x1bOC": "right", "\x1b[D": "left", "\x1bOD": "left",
    "\x1b[H": "home", "\x1bOH": "home", "\x1b[1~": "home",
    "\x1b[F": "end", "\x1bOF": "end", "\x1b[4~": "end",
    "\x1b": "escape", "\r": "enter", "\n": "enter", " ": "space",
}  # fmt: skip
_SEQUENCE = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]")
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_STEP = 0.1  # seconds
_TOP, _REST_OF_LINE, _REST = "\x1b[H", "\x1b[K", "\x1b[J"


class Screen:
    """The terminal, while it shows one page at a time."""

    def __init__(self, keyboard: int) -> None:
        self._keyboard = keyboard
        self._typed = ""  # keys that were read but not returned yet

    def draw(self, lines: Sequence[str]) -> None:
        """Replace the page."""
        page = "\r\n".join([line + _REST_OF_LINE for line in lines])
        _write(_TOP + page + _REST)

    def key(self, seconds: float | None = None) -> str | None:
        """The next key: a letter or the name of a key; None after `seconds` without a key.

        A terminal that was closed also gives "escape".
        """
        if not self._typed:
            if not self._is_pressed(seconds):
                return None
            self._typed = os.read(self._keyboard, 1024).decode("utf-8", "replace")
            if not self._typed:
                return "escape"
        sequence = _SEQUENCE.match(self._typed)
        typed = sequence[0] if sequence is not None else self._typed[0]
        self._typed = self._typed[len(typed) :]
        return _NAMES.get(typed, typed)

    def _is_pressed(self, seconds: float | None) -> bool:
        """Wait for a key in short steps. Otherwise a signal just before a long wait would be
        handled only after it, so that Ctrl-C would take effect at the next key.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            step = _STEP if end is None else min(_STEP, max(end - time.monotonic(), 0.0))
            if select.select([self._keyboard], [], [], step)[0]:
                return True
            if end is not None and time.monotonic() >= end:
                return False


@contextmanager
def opened() -> Iterator[Screen | None]:
    """Open a screen on this terminal, and restore the terminal at the end; None without terminal.

    Keys are read from the terminal itself, since stdin may be the text.
    """
    terminal = _keyboard()
    if terminal is None:
        yield None
        return
    keyboard, termios, tty = terminal
    before = termios.tcgetattr(keyboard)
    try:
        tty.setcbreak(keyboard)
        _write(_ENTER)
        yield Screen(keyboard)
    finally:
        with suppress(OSError):
            _write(_LEAVE)
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
        os.close(keyboard)


def _keyboard() -> tuple[int, Any, Any] | None:
    """The terminal's keyboard and the modules to configure it; None without a terminal."""
    if sys.stdout is None or not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return None
    try:
        import termios
        import tty
    except ImportError:  # Windows
        return None
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC), termios, tty
    except OSError:
        return None


def _write(text: str) -> None:
    sys.stdout.flush()
    rest = memoryview(text.encode("utf-8", "backslashreplace"))
    while rest:
        rest = rest[os.write(sys.stdout.fileno(), rest) :]
