"""Warnings that point at the line that uses digram, wherever in digram they are raised."""

from __future__ import annotations

import sys
import warnings

from digram.errors import DigramWarning

__all__ = ["warn"]


def warn(message: str) -> None:
    """Warn of what a call does, at the line of the call."""
    frame, level = sys._getframe(1), 2
    # Code that is run by `exec` may have no name.
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, DigramWarning, stacklevel=level)


def _is_own(module: object) -> bool:
    return isinstance(module, str) and f"{module}.".startswith("digram.")
