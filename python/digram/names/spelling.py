"""Which texts are names of tokenizers, and what they name."""

from __future__ import annotations

import re

from digram.formats._models import encoding_of_model
from digram.formats._published import ENCODINGS
from digram.formats._registry import FORMATS

__all__ = ["SUFFIXES", "encoding_of", "is_name", "is_repository"]

SUFFIXES = tuple(dict.fromkeys(one.suffix for one in FORMATS.values() if one.suffix))
"""The suffixes of tokenizer files. A text that ends in one is a path."""

_LONGEST = 200
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.:-]*"
_NAME = re.compile(rf"{_PART}(?:/{_PART})?")
_REPOSITORY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)?")


def is_name(text: str) -> bool:
    """Whether a text can be a name: one part, or two with a slash, and not the path of a file.

    >>> is_name("gpt-4o"), is_name("Qwen/Qwen3-8B"), is_name("ft:gpt-4o:mine::id")
    (True, True, True)
    >>> is_name("runs/tokenizer.json"), is_name("../gpt2"), is_name("a/b/c"), is_name("a/..")
    (False, False, False, False)
    """
    return (
        len(text) <= _LONGEST
        and _NAME.fullmatch(text) is not None
        and ".." not in text
        and not text.lower().endswith(SUFFIXES)
    )


def encoding_of(name: str) -> str | None:
    """The published encoding that a name stands for, by its own name or that of a model.

    >>> encoding_of("o200k_base"), encoding_of("gpt-4o-mini"), encoding_of("Qwen/Qwen3-8B")
    ('o200k_base', 'o200k_base', None)
    """
    if "/" in name:
        return None
    return name if name in ENCODINGS else encoding_of_model(name)


def is_repository(name: str) -> bool:
    """Whether a name can be that of a repository of Hugging Face.

    >>> is_repository("Qwen/Qwen3-8B"), is_repository("a--b/c"), is_repository("ft:gpt-4o")
    (True, False, False)
    """
    return _REPOSITORY.fullmatch(name) is not None and "--" not in name and ".." not in name
