"""Errors as the page receives them."""

from __future__ import annotations

from typing import Any

from digram.errors import DigramError

__all__ = ["problem"]


def problem(error: Exception) -> dict[str, Any]:
    """An error as JSON: its kind, its message, and its remedy, if there is one.

    >>> from digram.errors import OptionError
    >>> problem(OptionError("no such thing.", hint="Take another."))
    {'error': {'kind': 'OptionError', 'message': 'no such thing.', 'remedy': 'Take another.'}}
    """
    message, remedy = str(error), None
    if isinstance(error, DigramError) and error.hint is not None:
        message, remedy = message.removesuffix(f" {error.hint}"), error.hint
    return {"error": {"kind": type(error).__name__, "message": message, "remedy": remedy}}
