"""What the library tiktoken needs of a tokenizer, and packages that bring one to it.

tiktoken finds encodings in the modules of the namespace `tiktoken_ext`. A module that fails or
repeats a name breaks `tiktoken.get_encoding` for all encodings, so a plugin is a package of its own
for one encoding, and reads its data only when the encoding is requested.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from digram._util.storage import atomic_write
from digram._util.validation import path_name, word
from digram.errors import OptionError, VocabError, show
from digram.formats._loss import refuse_decoding
from digram.formats._published import ENCODINGS
from digram.formats.tiktoken import ranks_of, spelled
from digram.pretokenizers.pretokenizer import Pretokenizer

if TYPE_CHECKING:
    from digram.vocab.definition import Definition

__all__ = ["Parts", "parts", "write_plugin"]

_WHAT = "tiktoken"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

_MODULE = '''"""The encoding {name} for tiktoken, written by digram."""

from base64 import b64decode
from pathlib import Path


def _encoding():
    lines = Path(__file__).with_suffix(".tiktoken").read_bytes().splitlines()
    return {{
        "name": {name},
        "pat_str": {pattern},
        "mergeable_ranks": {{
            b64decode(token): int(rank) for token, rank in map(bytes.split, lines)
        }},
        "special_tokens": {special_tokens},
    }}


ENCODING_CONSTRUCTORS = {{{name}: _encoding}}
'''
_PROJECT = """[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "tiktoken-{name}"
version = "1.0"
dependencies = ["tiktoken"]

[tool.setuptools]
packages = ["tiktoken_ext"]

[tool.setuptools.package-data]
tiktoken_ext = ["{module}.tiktoken"]
"""


class Parts(NamedTuple):
    """The arguments of a `tiktoken.Encoding`."""

    pattern: str
    ranks: dict[bytes, int]
    special_tokens: dict[str, int]


def parts(definition: Definition) -> Parts:
    """The parts of a `tiktoken.Encoding` with the same ids.

    Raises `VocabError` for a tokenizer for which there is none.
    """
    tokens = ranks_of(definition, _WHAT)
    refuse_decoding(definition, _WHAT, False)
    _check_special(definition)
    ranks = {token: id for id, token in enumerate(tokens) if token is not None}
    return Parts(_pattern(definition.pretokenizer), ranks, dict(definition.special_tokens))


def write_plugin(definition: Definition, folder: str | PathLike[str], name: str) -> None:
    """Write a package for one encoding to a folder, which is created; each file atomically."""
    if not _NAME.fullmatch(word("name", name)) or name in ENCODINGS:
        cause = "is published" if name in ENCODINGS else "is not a name of ASCII letters and digits"
        raise OptionError(
            f"name={show(name)} {cause}.", value=name, hint='Choose one such as "my-encoding".'
        )
    found = parts(definition)
    module = f"digram_{re.sub(r'[^a-z0-9]', '_', name.lower())}"
    code = _MODULE.format(
        name=ascii(name).replace("'", '"'),
        pattern=ascii(found.pattern),
        special_tokens=ascii(found.special_tokens),
    )
    root = path_name(folder, "folder")
    inner = os.path.join(root, "tiktoken_ext")
    os.makedirs(inner, exist_ok=True)
    atomic_write(os.path.join(inner, f"{module}.tiktoken"), spelled(definition.tokens))
    atomic_write(os.path.join(inner, f"{module}.py"), code.encode())
    project = _PROJECT.format(name=name, module=module)
    atomic_write(os.path.join(root, "pyproject.toml"), project.encode())


def _check_special(definition: Definition) -> None:
    if definition.matching:
        text = next(iter(definition.matching))
        raise VocabError(
            f"{_WHAT} finds special tokens exactly as written, but {show(text)} has "
            f"{definition.matching[text]!r}.",
            value=text,
            hint="Remove it from `matching` of the definition.",
        )
    # Of two tokens that begin at one place, tiktoken finds either one.
    for text, other in pairwise(sorted(definition.special_tokens)):
        if other.startswith(text):
            raise VocabError(
                f"{_WHAT} finds either of the special tokens {show(text)} and {show(other)} where "
                "both fit, since one begins with the other.",
                value=text,
                hint="Remove one of them.",
            )


def _pattern(pretokenizer: Pretokenizer) -> str:
    """One regex that cuts a text as the pretokenizer does."""
    patterns = pretokenizer.patterns
    if pretokenizer.digits is not None or len(patterns) > 1:
        cause = "a policy for digits" if pretokenizer.digits else f"{len(patterns)} patterns"
        raise VocabError(
            f"{_WHAT} splits text by one pattern, but the pretokenizer of this tokenizer has "
            f"{cause}.",
            value=pretokenizer,
            hint="Train with a single pattern.",
        )
    if not patterns:
        return r"(?s:.+)"
    if pretokenizer.name is not None:
        return patterns[0]
    # tiktoken drops the text between two matches, which is a pretoken here.
    return rf"(?:{patterns[0]})|(?:(?!(?:{patterns[0]}))(?s:.))+"
