"""What was measured, a line of JSON each, so that a long table can go on after an interruption."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benches.limits import Limits


class Journal:
    """A file that each measurement is appended to; without a path, nothing is kept.

    A measurement is known by its kind, its parameters and the build of the program; so with
    `resume` a new build of digram is measured again, and what the others took is taken from here.
    """

    def __init__(self, path: Path | None = None, *, resume: bool = False) -> None:
        self.path = path
        self._known: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        text = path.read_text(encoding="utf-8") if path is not None and path.exists() else ""
        self._cut = not text.endswith("\n") and text != ""
        for line in text.splitlines() if resume else ():
            try:
                entry = json.loads(line)
                key, found = tuple(entry["key"]), entry["found"]
            except (ValueError, KeyError):
                continue  # the line that was being written when the power went
            self._known.setdefault(key, []).append(found)

    def found(self, key: Sequence[str], turn: int, limits: Limits) -> dict[str, Any] | None:
        """What a turn gave before. An error does not count, but for a limit that still holds."""
        known = [
            found
            for found in self._known.get(tuple(key), [])
            if "error" not in found or found["error"] in limits.passed
        ]
        return known[turn] if turn < len(known) else None

    def add(self, key: Sequence[str], found: dict[str, Any]) -> None:
        """Append a measurement; it is in the file when this returns."""
        if self.path is not None:
            entry = {"key": list(key), "found": found, "at": f"{datetime.now(UTC):%Y-%m-%d %H:%M}"}
            with self.path.open("a", encoding="utf-8") as file:
                # A line that was cut short before ends here.
                file.write("\n" * self._cut + json.dumps(entry, ensure_ascii=False) + "\n")
            self._cut = False
