"""The texts that are measured: whole documents of real corpora, never a text twice."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

SEPARATOR = "<|endoftext|>"
CORPORA = ("en", "code", "multi", "med")
MB = 1_000_000

_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")


def folder() -> Path:
    """Where vocabularies and corpora lie: `DIGRAM_DATA`, or `../shared/data` beside the clone."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    path = Path(os.environ.get("DIGRAM_DATA", beside))
    if not (path / "corpora").is_dir():
        raise SystemExit(
            f"{path} holds no corpora. Set DIGRAM_DATA to a folder with corpora/*.txt (UTF-8, "
            f"documents joined by {SEPARATOR}) and vocabs/*.tiktoken."
        )
    return path


def cache() -> Path:
    """Where what the benchmarks make is kept: `DIGRAM_BIG`, or a folder of the user's cache."""
    beside = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    path = Path(os.environ.get("DIGRAM_BIG", beside / "digram-bench"))
    path.mkdir(parents=True, exist_ok=True)
    return path


def vocabulary(encoding: str) -> Path:
    """The file of a published vocabulary."""
    return folder() / "vocabs" / f"{encoding}.tiktoken"


def stream(path: Path) -> Iterator[str]:
    """The documents of a file, without holding all of it."""
    rest = ""
    with path.open(encoding="utf-8", newline="") as file:
        while piece := file.read(1 << 20):
            *whole, rest = (rest + piece).split(SEPARATOR)
            yield from whole
    yield rest


def documents(corpus: str, megabytes: float | None = None) -> list[str]:
    """The first documents of a corpus, up to a number of bytes of UTF-8."""
    chosen, held = [], 0
    for document in stream(folder() / "corpora" / f"{corpus}.txt"):
        size = len(document.encode())
        if megabytes is not None and held and held + size > megabytes * MB:
            break
        chosen.append(document)
        held += size
    return chosen


_CHARACTERS = {
    "a": "a",
    "spaces": " ",
    "newlines": "\n",
    "tabs": "\t",
    "CRLF": "\r\n",
    "dots": ".",
    "hyphens": "-",
    "apostrophes": "'",
    "zeros": "0",
    "ab": "ab",
    "brackets": "()",
    "a and space": "a ",
    "é": "é",
    "emoji": "😀",
    "flags": "🇫🇷",
    "accents": "\u0301",
    "joiners": "\u200d",
    "NUL": "\0",
}
"""Shapes that are one thing again and again."""

_DRAWN = {
    "digits": "0123456789",
    "letters": "abcdefghijklmnopqrstuvwxyz",
    "DNA": "ACGT",
    "hex": "0123456789abcdef",
    "base64": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "Latin-1": "".join(map(chr, range(0x21, 0x7F))) + "".join(map(chr, range(0xA1, 0x100))),
    "white space": " \t\n\r\u00a0\u3000",
    "case": "aA",
    "Hangul": "".join(map(chr, range(0xAC00, 0xD7A4))),
}
"""Shapes that are drawn at random from some characters."""

SHAPES = (*_CHARACTERS, *_DRAWN, "spaces, then a", "Chinese")


def shape(name: str, size: int) -> str:
    """A text of one kind, of a given number of bytes of UTF-8 or a few less.

    The Chinese is the text of the Chinese documents of multi.txt in its order, without what stands
    between ideographs; no part comes twice.
    """
    if name == "Chinese":
        found: list[str] = []
        held = 0
        for document in stream(folder() / "corpora" / "multi.txt"):
            if not _KANA.search(document):
                text = "".join(_HAN.findall(document))
                found.append(text)
                held += len(text.encode())
            if held >= size:
                return "".join(found).encode()[: size - size % 3].decode()
        raise SystemExit(f"multi.txt holds only {held / MB:.1f} MB of unspaced Chinese")
    if name in _DRAWN:
        characters = _DRAWN[name]
        width = sum(len(one.encode()) for one in characters) / len(characters)
        return "".join(random.Random(4).choices(characters, k=int(size / width)))
    if name == "spaces, then a":
        return " " * (size - 1) + "a"
    return _CHARACTERS[name] * (size // len(_CHARACTERS[name].encode()))
