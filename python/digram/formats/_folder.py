"""Which file of a folder is its tokenizer."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from digram.errors import VocabError
from digram.formats._registry import FORMATS, TokenizerFormat, both_files, reading

__all__ = ["BESIDE", "PIECES", "Inside", "inside"]

PIECES = ("spiece.model", "sentencepiece.bpe.model", "sentencepiece.model", "spm.model")
"""Other names of SentencePiece's files than that of its format."""
_SINGLE = (".gguf", ".tiktoken")
"""Files that have names of their own, of which a folder may have one."""

BESIDE = (
    *(name for one in FORMATS.values() for name in one.beside if "*" not in name),
    *("added_tokens.json", "config.json", "generation_config.json"),
)
"""Files that are beside a tokenizer, and are none."""


class Inside(NamedTuple):
    """What a folder contains: a format, and its file; None for a pair of files."""

    format: TokenizerFormat
    file: str | None


def inside(folder: str, named: bool) -> Inside:
    """The tokenizer of a folder; `named` is whether the caller names a pretokenizer.

    The format of a file is that of its name; its content may tell another one. Raises `VocabError`
    for a folder with none, with several, or with half of a pair.
    """
    there = set(os.listdir(folder))
    whole = [one for one in FORMATS.values() if one.in_folder in there]
    two = [one for one in FORMATS.values() if any(there.issuperset(pair) for pair in one.pairs)]
    if whole and not (named and two):
        return Inside(whole[0], whole[0].in_folder)
    if len(two) == 1:
        return Inside(two[0], None)
    if two:
        _refuse_several((one.pairs[0][0] for one in two), folder)
    half = next((pair for _, pair in both_files() if there.intersection(pair)), None)
    if half is not None:
        missing = half[0] if half[1] in there else half[1]
        raise VocabError(
            f"the folder contains {half[1] if missing == half[0] else half[0]}, but not the "
            f"{missing} that belongs to it.",
            path=folder,
            hint="Copy both files.",
        )
    return _other(there, folder)


def _other(there: set[str], folder: str) -> Inside:
    """A tokenizer in a file of another name."""
    pieces = [name for name in PIECES if name in there]
    if pieces:
        return Inside(FORMATS["sentencepiece"], pieces[0])
    single = sorted(name for name in there if name.lower().endswith(_SINGLE))
    if len(single) > 1:
        _refuse_several(single, folder)
    for name in single:
        suffix = os.path.splitext(name)[1].lower()
        return Inside(next(one for one in FORMATS.values() if one.suffix == suffix), name)
    raise VocabError("the folder contains no tokenizer.", path=folder, hint=reading())


def _refuse_several(names: Iterable[str], folder: str) -> None:
    found = [*names]
    number = "two" if len(found) == 2 else f"{len(found):,}"
    few = " and ".join(found) if len(found) == 2 else f"{', '.join(found[:2])}, ..."
    raise VocabError(
        f"the folder contains {number} vocabularies, {few}.",
        path=folder,
        hint="Pass the path of one of them, or move the others to another folder.",
    )
