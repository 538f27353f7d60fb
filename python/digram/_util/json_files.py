"""Files of JSON that say their version and a digest of all they hold."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from digram.errors import CorruptFileError

__all__ = ["digest", "unsealed"]


def digest(content: dict[str, Any]) -> str:
    """SHA-256, in hexadecimal, of plain values, in whatever order their keys are."""
    return sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def unsealed(
    data: bytes, key: str, what: str, newest: int, hint: str
) -> tuple[dict[str, Any], object]:
    """What a file says beside its version, which stands under `key`, and the digest it states.

    Raises `CorruptFileError` for what is no JSON, no file of `what`, or of a later version. Whether
    the digest is that of the rest, the caller compares, who knows what to say of it.
    """
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        raise CorruptFileError("this is no JSON.", hint=hint) from None
    if not isinstance(content, dict) or key not in content:
        raise CorruptFileError(f"this is not a file of {what}.", hint=hint)
    version, stated = content.pop(key), content.pop("sha256", None)
    if isinstance(version, int) and version > newest:
        raise CorruptFileError(
            f"the file has version {version}, and this version of digram reads up to {newest}.",
            value=version,
            hint="Use a newer digram.",
        )
    return content, stated
