"""Helpers for messages about the content of files."""

from __future__ import annotations

from digram.errors import show

__all__ = ["BOMS", "show"]

BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-8 and UTF-16."""
