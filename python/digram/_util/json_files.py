"""JSON files with a version and a digest of their content."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from digram.errors import CorruptFileError

__all__ = ["digest", "unsealed"]


def digest(content: dict[str, Any]) -> str:
    """SHA-256, in hexadecimal, of plain values, independent of the order of keys."""
    return sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def unsealed(
    data: bytes, key: str, what: str, newest: int, hint: str
) -> tuple[dict[str, Any], object]:
    """The content of a file without its version, stored under `key`, and the stored digest.

    Raises `CorruptFileError` for a file that is not JSON, not `what`, or has a later version. The
    caller must compare the digest.
    """
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        raise CorruptFileError("this is not JSON.", hint=hint) from None
    if not isinstance(content, dict) or key not in content:
        raise CorruptFileError(f"this is not a file of {what}.", hint=hint)
    version, stated = content.pop(key), content.pop("sha256", None)
    if isinstance(version, int) and version > newest:
        raise CorruptFileError(
            f"the file has version {version}; this version of digram reads up to {newest}.",
            value=version,
            hint="Use a newer digram.",
        )
    return content, stated
