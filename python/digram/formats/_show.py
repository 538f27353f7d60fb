"""What files hold, as messages show it."""

from __future__ import annotations

__all__ = ["BOMS", "show"]

BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-8 and UTF-16."""


def show(value: object) -> str:
    """`repr`, at most 80 characters of it."""
    if isinstance(value, list | dict) and len(value) > 20:
        return f"a {type(value).__name__} of {len(value)}"  # its repr might take seconds
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a number of {value.bit_length()} bits"  # Python refuses to write out some
    text = repr(value[:80] if isinstance(value, str | bytes) else value)
    return text if len(text) <= 80 else text[:79] + "…"
