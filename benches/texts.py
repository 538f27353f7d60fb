"""The texts that training is measured on, by name, as files of whole documents."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from benches.data import CORPORA, MB, SEPARATOR, cache, documents, folder

ONE = ("one-10", "one")
"""Texts that are one document; they are trained on without a pattern, as one word."""

NAMES = ("10", "en", "four", "big", "zh", "ja", *ONE)

_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")


def text(name: str, megabytes: float = 10.0) -> tuple[str, Path]:
    """The title of a text and its file, which is made where it is not part of the data."""
    if name == "en":
        path = folder() / "corpora" / "en.txt"
        return f"en.txt, {_size(path)}", path
    if name == "big":
        path = cache() / "big.txt"
        if not path.exists():
            raise SystemExit(f"{path} is not there. Make it with: python -m benches.corpus")
        return f"Debian's packages, {_size(path)}", path
    title, made = _MADE[name]
    path = cache() / f"{name}-{megabytes:g}.txt" if name in _CUT else cache() / f"{name}.txt"
    half = path.with_suffix(f".{os.getpid()}.part")
    half.write_bytes(made(megabytes))
    half.replace(path)
    return f"{title}, {_size(path)}", path


def _size(path: Path) -> str:
    return f"{path.stat().st_size / MB:.0f} MB"


def _joined(texts: Iterable[str], separator: str = SEPARATOR) -> bytes:
    return separator.join(texts).encode()


def _four(separator: str) -> bytes:
    """All corpora, with so between documents."""
    corpora = (folder() / "corpora" / f"{name}.txt" for name in CORPORA)
    whole = SEPARATOR.encode().join(path.read_bytes() for path in corpora)
    return whole.replace(SEPARATOR.encode(), separator.encode())


def _chinese(document: str) -> bool:
    return not _KANA.search(document) and len(_HAN.findall(document)) > 0.3 * len(document)


def _japanese(document: str) -> bool:
    return len(_KANA.findall(document)) > 0.05 * len(document)


_CUT = ("10", "one-10")
_MADE: dict[str, tuple[str, Callable[[float], bytes]]] = {
    "10": ("start of en.txt", lambda megabytes: _joined(documents("en", megabytes))),
    "four": ("four corpora", lambda _: _four(SEPARATOR)),
    "zh": ("Chinese of multi.txt", lambda _: _joined(filter(_chinese, documents("multi")))),
    "ja": ("Japanese of multi.txt", lambda _: _joined(filter(_japanese, documents("multi")))),
    "one-10": (
        "start of en.txt as one text",
        lambda megabytes: _joined(documents("en", megabytes), "\n"),
    ),
    "one": ("four corpora as one text", lambda _: _four("\n")),
}
