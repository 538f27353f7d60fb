"""Tokenizers as files: one module for each format, and the choice among them.

    huggingface    tokenizer.json: all there is to say, in one file
    digram         the same for tokenizers that nobody else has an encoder for
    tiktoken       .tiktoken: tokens by rank; the pattern and special tokens must be named
    vocab_merges   a folder with vocab.json and merges.txt (GPT-2); the pattern must be named
    seed_pair      a folder with vocabulary.json and merges.json; no pattern

Each module has `read` and `write` for paths, `loads` and `dumps` for bytes. All of them refuse,
with file, line and remedy, what is damaged, what contradicts itself, and what the other side
could not carry or do.
"""

from __future__ import annotations

import errno
import os
import re
import warnings
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, NoReturn

from digram._util.storage import read_file
from digram._util.validation import path_name
from digram.errors import CorruptFileError, OptionError, VocabError, show
from digram.formats._published import (
    ENCODINGS,
    MISSING,
    Encoding,
    Missing,
    PretokenizerLike,
    published_at,
)
from digram.formats._show import BOMS
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.packed import Compact, compacted

if TYPE_CHECKING:
    from digram.formats import digram, huggingface, seed_pair, tiktoken, vocab_merges
    from digram.vocab.definition import Definition

__all__ = [
    "ENCODINGS",
    "FORMATS",
    "MISSING",
    "Encoding",
    "Missing",
    "PretokenizerLike",
    "describes_itself",
    "digram",
    "huggingface",
    "read",
    "read_compact",
    "seed_pair",
    "tiktoken",
    "vocab_merges",
    "write",
]

FORMATS = ("huggingface", "tiktoken", "vocab_merges", "seed_pair", "digram")
"""The names that `write` knows."""

_SUFFIXES = {".json": "huggingface", ".tiktoken": "tiktoken"}
_UNDESCRIBED = {"tiktoken", "vocab_merges"}  # they do not say how text is cut
_VOCAB_MERGES = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
_SEED_PAIR = ("vocabulary.json", "merges.json")
_PARTS = {name for pair in (*_VOCAB_MERGES, _SEED_PAIR) for name in pair}
# A whole tokenizer has an object under this key; a vocabulary may have a token of this name.
_MODEL = re.compile(rb'"model"\s*:\s*\{')
_VOCAB = re.compile(rb'\s*\{(?:\s*"(?:[^"\\]|\\.)*"\s*:\s*[0-9]+\s*,){2}')
_RANK_LINE = re.compile(rb"[A-Za-z0-9+/]+=*[ \t]+[0-9]+\s")
_KNOWN = (
    "digram reads tokenizer.json, .tiktoken, a folder with vocab.json and merges.txt, and a folder "
    "with vocabulary.json and merges.json."
)


def read(
    path: str | PathLike[str],
    *,
    pretokenizer: PretokenizerLike = MISSING,
    encoding: str | None = None,
) -> Definition:
    """The definition in a file or folder, whose format is recognised by what it holds.

    `pretokenizer` or `encoding` must be named for the formats that do not say how text is cut, and
    may not be for those that do. A folder that holds both kinds is read as the kind that fits.
    Tokens that no text yields are kept, with one UserWarning. Raises `OptionError`,
    `CorruptFileError`, `VocabError`, `PatternError` and OSError, as the modules do.
    """
    name = path_name(path)
    found = _read(name, pretokenizer, encoding)
    _warn(found, name)
    return found.plain() if isinstance(found, Compact) else found


def read_compact(
    path: str | PathLike[str],
    *,
    pretokenizer: PretokenizerLike = MISSING,
    encoding: str | None = None,
) -> Compact:
    """The same as `read`, with the tokens and merges in the core."""
    name = path_name(path)
    found = _read(name, pretokenizer, encoding)
    _warn(found, name)
    return found if isinstance(found, Compact) else compacted(found)


def describes_itself(path: str | PathLike[str]) -> bool:
    """Whether a file or folder says how text is cut before it is encoded.

    Others are read with `pretokenizer` or `encoding`. Raises as `read` does.
    """
    name = path_name(path)
    is_folder = os.path.isdir(name)
    kind = _kind_of_folder(name, False) if is_folder else _kind_of_file(read_file(name), name)
    return kind not in _UNDESCRIBED


def write(
    definition: Definition,
    path: str | PathLike[str],
    *,
    format: str | None = None,
    allow_loss: bool = False,
) -> None:
    """Writes a definition to a file or folder, all of it or nothing.

    Without a `format` the name decides: `.json` is "huggingface", or "digram" for a tokenizer that
    no other library has an encoder for; `.tiktoken` is "tiktoken". What the format cannot carry
    is a `VocabError`, unless `allow_loss`. Raises `OptionError` for a format that is not known or
    cannot be told from the name, and OSError.
    """
    name = path_name(path)
    kind = format
    if kind is None:
        base, suffix = os.path.basename(name), os.path.splitext(name)[1].lower()
        kind = None if base in _PARTS else _SUFFIXES.get(suffix)
        if kind is None:
            raise OptionError(
                f"the name {show(base)} does not say which format to write.",
                path=name,
                value=name,
                hint='Name it, as in format="vocab_merges" (a folder), or end the path in .json '
                "or .tiktoken.",
            )
    if format is None and kind == "huggingface" and not definition.model.portable:
        kind = "digram"
    if not isinstance(kind, str) or kind not in FORMATS:
        raise OptionError(
            f"format={show(format)} is not known.", value=format, hint=f"Choose from {FORMATS}."
        )
    _module(kind).write(definition, path, allow_loss=allow_loss)


def __getattr__(name: str) -> Any:
    if name in FORMATS:
        return _module(name)
    raise AttributeError(f"module 'digram.formats' has no attribute {show(name)}")


def _module(kind: str) -> Any:
    """The module of a format: imported when it is needed, so that nobody waits for the others."""
    return import_module(f"digram.formats.{kind}")


def _read(name: str, pretokenizer: PretokenizerLike, encoding: str | None) -> Definition | Compact:
    folder = os.path.isdir(name)
    if name in ENCODINGS and not os.path.exists(name):
        raise FileNotFoundError(
            errno.ENOENT,
            "there is no such file or folder, and a published encoding is loaded from its file. "
            f'Save {published_at(name)} and pass the path of that file, with encoding="{name}"',
            name,
        )
    data = b"" if folder else read_file(name)
    named = pretokenizer is not MISSING or encoding is not None
    kind = _kind_of_folder(name, named) if folder else _kind_of_file(data, name)
    module = _module(kind)
    found: Definition | Compact
    if kind == "tiktoken":
        found = module.compact(data, name, pretokenizer=pretokenizer, encoding=encoding)
    elif kind == "vocab_merges":
        found = module.read(name, pretokenizer=pretokenizer, encoding=encoding)
    elif named and not (kind == "seed_pair" and pretokenizer in (None, Pretokenizer(None))):
        raise OptionError(
            "this format says itself how text is cut before it is encoded.",
            path=name,
            hint="Leave out pretokenizer= and encoding=.",
        )
    elif kind == "seed_pair":
        found = module.read(name)
    elif folder:
        inner = os.path.join(name, "tokenizer.json")
        found = module.compact(read_file(inner), inner)
    else:
        found = module.compact(data, name)
    return found


def _kind_of_folder(folder: str, named: bool) -> str:
    there = set(os.listdir(folder))
    kinds = {
        kind
        for kind, pairs in (("vocab_merges", _VOCAB_MERGES), ("seed_pair", (_SEED_PAIR,)))
        if any(there.issuperset(pair) for pair in pairs)
    }
    if "tokenizer.json" in there and not (named and kinds):
        return "huggingface"
    if len(kinds) == 1:
        return kinds.pop()
    if kinds:
        raise VocabError(
            "the folder holds two vocabularies, vocab.json and vocabulary.json.",
            path=folder,
            hint="Put one of them into a folder of its own.",
        )
    half = next((pair for pair in (*_VOCAB_MERGES, _SEED_PAIR) if there.intersection(pair)), None)
    if half is not None:
        missing = half[0] if half[1] in there else half[1]
        raise VocabError(
            f"the folder holds no {missing}, which belongs to the "
            f"{half[1] if missing == half[0] else half[0]} in it.",
            path=folder,
            hint="Copy both files.",
        )
    raise VocabError("the folder holds no tokenizer.", path=folder, hint=_KNOWN)


def _kind_of_file(data: bytes, path: str) -> str:
    suffix = os.path.splitext(path)[1].lower()
    if not data.strip():
        raise CorruptFileError("the file is empty.", path=path, hint="Copy it again.")
    base = os.path.basename(path)
    if _MODEL.search(data) is None and (base in _PARTS or _VOCAB.match(data)):
        _refuse_half(path, base)
    if data.startswith(BOMS) or data.lstrip()[:1] in (b"{", b"["):
        return "huggingface"
    if _RANK_LINE.match(data):
        return "tiktoken"
    if suffix in _SUFFIXES:  # damaged in its first bytes
        return _SUFFIXES[suffix]
    raise VocabError("this is not a tokenizer that digram knows.", path=path, hint=_KNOWN)


def _refuse_half(path: str, base: str) -> NoReturn:
    """Says of one file of a pair how both are named."""
    pairs = (*_VOCAB_MERGES, _SEED_PAIR)
    pair = next((pair for pair in pairs if base in pair), _VOCAB_MERGES[0])
    cut = ""
    if pair in _VOCAB_MERGES:
        cut = (
            ' They do not say how text is cut: for GPT-2 itself pass encoding="gpt2" with it, '
            'for others their pretokenizer, as in pretokenizer="gpt2".'
        )
    folder = os.path.dirname(path) or os.curdir
    if base in pair:
        remedy = f"Name their folder instead, {folder!r}."
    else:
        remedy = f"Put both into a folder, under these names, and name that instead of {base!r}."
    raise VocabError(
        f"this is one of two files that are read together, {' and '.join(pair)}.",
        path=path,
        hint=f"{remedy}{cut}",
    )


def _warn(found: Definition | Compact, path: str) -> None:
    if isinstance(found, Compact):
        if found.settings.unit == "byte" and not found.model.unmade():
            return
        found = found.plain()
    lost = found.model.unreached(found)
    if lost:
        few = ", ".join(f"{i} {show(found.tokens[i])}" for i in lost[:3])
        warnings.warn(
            f"{path}: no text yields {len(lost):,} of the tokens, since no merge makes them "
            f"({few}{', ...' if len(lost) > 3 else ''}). They are kept.",
            UserWarning,
            stacklevel=4,
        )
