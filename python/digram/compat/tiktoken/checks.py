"""The check of types that tiktoken's core makes."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["typed"]

_T = TypeVar("_T")


def typed(name: str, value: _T, *kinds: type) -> _T:
    """Return the value if it is of one of these types.

    >>> typed("text", b"a", str)
    Traceback (most recent call last):
        ...
    TypeError: text is a str, not bytes
    """
    if not isinstance(value, kinds):
        allowed = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{name} is a {allowed}, not {type(value).__name__}")
    return value
