"""The tokenizer files that digram reads and writes: an entry for each, and a module of its name.

All that chooses among formats, names them or explains them reads this list: `digram.load`,
`tok.save`, their messages, and the help pages of the shell. A new one is a file
`digram/formats/NAME.py` with `load` and `write`, and its entry here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

__all__ = ["FORMATS", "TokenizerFormat", "both_files", "reading"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFormat:
    """A format of tokenizer files: how it is called, recognised and chosen.

    Its module has `load(path, data, pretokenizer, encoding)`, which gives a `Definition` or a
    `Compact`, where `data` is what the file holds, None for a folder; and
    `write(definition, path, allow_loss=...)`. Both refuse, with file, line and remedy, what is
    damaged and what the other side could not carry.
    """

    name: str
    """As in `tok.save(path, format=name)`; that of its module, too."""
    files: str
    """What it is, as a message names it: `.tiktoken`, or a folder with two files."""
    about: str
    """A line of a help page."""
    describes_itself: bool
    """Whether it says how text is cut; otherwise whoever loads it names that."""
    is_uncut: bool = False
    """Whether it always means that text is not cut, so that `pretokenizer=None` may be named."""
    suffix: str | None = None
    """A path that ends so is written in this format."""
    any_model: bool = False
    """Whether it carries models that no other library has an encoder for."""
    in_folder: str | None = None
    """The file that a folder of it holds, where it is one file."""
    pairs: tuple[tuple[str, str], ...] = ()
    """The two files of a folder of it; the first names are those that are written."""
    starts: re.Pattern[bytes] | None = None
    """What a file of it starts with; None for folders, and where another entry reads its files."""
    half: re.Pattern[bytes] | None = None
    """What the first of the two files starts with, whatever its name is."""
    half_hint: str = ""
    """A sentence more for who names one of two files."""

    @property
    def module(self) -> ModuleType:
        """What reads and writes it, imported when it is needed: nobody waits for the others."""
        return import_module(f"digram.formats.{self.name}")


FORMATS: dict[str, TokenizerFormat] = {
    format.name: format
    for format in (
        TokenizerFormat(
            name="huggingface",
            files="tokenizer.json",
            about="tokenizer.json, as transformers, vLLM and tokenizers read it",
            describes_itself=True,
            suffix=".json",
            in_folder="tokenizer.json",
            # What begins with a byte order mark is JSON that its reader refuses by name.
            starts=re.compile(rb"\xef\xbb\xbf|\xff\xfe|\xfe\xff|\s*[{\[]"),
        ),
        TokenizerFormat(
            name="tiktoken",
            files=".tiktoken",
            about="one .tiktoken file; carries no pattern, no special tokens",
            describes_itself=False,
            suffix=".tiktoken",
            starts=re.compile(rb"[A-Za-z0-9+/]+=*[ \t]+[0-9]+\s"),
        ),
        TokenizerFormat(
            name="vocab_merges",
            files="a folder with vocab.json and merges.txt",
            about="a folder: vocab.json and merges.txt; carries no pattern",
            describes_itself=False,
            pairs=(("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe")),
            half=re.compile(rb'\s*\{(?:\s*"(?:[^"\\]|\\.)*"\s*:\s*[0-9]+\s*,){2}'),
            half_hint='They do not say how text is cut: for GPT-2 itself pass encoding="gpt2" with '
            'it, for others their pretokenizer, as in pretokenizer="gpt2".',
        ),
        TokenizerFormat(
            name="seed_pair",
            files="a folder with vocabulary.json and merges.json",
            about="a folder: vocabulary.json and merges.json; no pretokenizer",
            describes_itself=True,
            is_uncut=True,
            pairs=(("vocabulary.json", "merges.json"),),
        ),
        TokenizerFormat(
            name="digram",
            files="a .json that digram alone reads",
            about="a .json that digram alone reads, for superwords and picky",
            describes_itself=True,
            suffix=".json",
            any_model=True,
        ),
    )
}
"""All formats by name. Of several that fit a file or a path, the first is taken."""


def reading() -> str:
    """What digram reads, as a sentence.

    >>> reading()[:46]
    'digram reads tokenizer.json, .tiktoken, a fold'
    """
    known = [format.files for format in FORMATS.values() if format.starts or format.pairs]
    return f"digram reads {', '.join(known[:-1])}, and {known[-1]}."


def both_files() -> Iterator[tuple[TokenizerFormat, tuple[str, str]]]:
    """The names of two files that are read together, each with its format."""
    return ((format, pair) for format in FORMATS.values() for pair in format.pairs)
