"""GGUF files for the tests, by a writer of its own."""

from __future__ import annotations

import struct
from typing import Any

import digram

LETTERS = [
    chr(byte) if chr(byte).isprintable() and byte not in (32, 173) else "" for byte in range(256)
]
LATE = iter(range(256, 512))
LETTERS = [letter or chr(next(LATE)) for letter in LETTERS]


LATE = iter(range(256, 512))


# A writer of its own: a type as the format numbers it, and a value.
NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "B",
    10: "Q",
    11: "q",
    12: "d",
}


Entry = tuple[int, Any]


def packed(entries: dict[str, Entry], *, order: str = "<", version: int = 3) -> bytes:
    def text(value: str | bytes) -> bytes:
        data = value.encode() if isinstance(value, str) else value
        return struct.pack(f"{order}Q", len(data)) + data

    def held(kind: int, value: Any) -> bytes:
        if kind == 8:
            return text(value)
        if kind == 9:
            inner, values = value
            head = struct.pack(f"{order}IQ", inner, len(values))
            return head + b"".join(held(inner, one) for one in values)
        return struct.pack(order + NUMBERS[kind], value)

    parts = [b"GGUF", struct.pack(f"{order}IQQ", version, 0, len(entries))]
    for key, (kind, value) in entries.items():
        parts += [text(key), struct.pack(f"{order}I", kind), held(kind, value)]
    return b"".join(parts)


def keys(**changes: Entry | None) -> dict[str, Entry]:
    """A small file of bytes: `an`, `th`, and a control token."""
    of = {
        "model": (8, "gpt2"),
        "pre": (8, "gpt-2"),
        "tokens": (9, (8, [*LETTERS, "an", "th", "<s>"])),
        "token_type": (9, (5, [1] * 258 + [3])),
        "merges": (9, (8, ["a n", "t h"])),
    }
    found: dict[str, Entry | None] = {**of, **changes}
    return {f"tokenizer.ggml.{key}": value for key, value in found.items() if value is not None}


PIECES = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
PIECES += ["▁", "a", "b", "n", "▁a", "an", "▁an", "ban", "<tag>"]


RUNS = ["▁▁", "▁▁▁", "▁▁▁▁"]


def scored(**changes: Entry | None) -> dict[str, Entry]:
    """A small file of characters with scores."""
    of = {
        "model": (8, "llama"),
        "tokens": (9, (8, [*PIECES, *RUNS])),
        "scores": (9, (6, [0.0] * 263 + [-1.0, -2.0, -3.0, -4.0, 0.0] + [-1e9] * 3)),
        "token_type": (9, (5, [2, 3, 3, *[6] * 256, *[1] * 8, 4, 1, 1, 1])),
        "add_bos_token": (7, 1),
    }
    found: dict[str, Entry | None] = {**of, **changes}
    return {f"tokenizer.ggml.{key}": value for key, value in found.items() if value is not None}


def ids_of(definition: digram.Definition, text: str, special: Any = "text") -> list[int]:
    return digram.Tokenizer(definition).encode(text, special=special)


def merged(**changes: Entry | None) -> dict[str, Entry]:
    """A small file of characters with merges."""
    of = {
        "model": (8, "gemma4"),
        "tokens": (9, (8, [*PIECES, "\n", "\n\n"])),
        "token_type": (9, (5, [2, 3, 3, *[6] * 256, *[1] * 8, 4, 1, 4])),
        "merges": (9, (8, ["▁ a", "a n", "▁a n", "b an"])),
        "bos_token_id": (4, 1),
    }
    found: dict[str, Entry | None] = {**of, **changes}
    return {f"tokenizer.ggml.{key}": value for key, value in found.items() if value is not None}
