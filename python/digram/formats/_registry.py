"""The list of formats of tokenizer files; each has a module of the same name.

`digram.load`, `tok.save`, their messages and the help of the command line use this list. To add a
format:

1. Write `digram/formats/NAME.py` with `load` and `write`, which `TokenizerFormat` describes, and
   `read(path)`, `loads(data)` and `dumps(definition)`, which Python programs and the tests call.
2. Add an entry to `FORMATS`. In `formats/__init__.py`, add NAME to `__all__` and to the imports for
   type checkers.
3. Describe it in docs/formats.md, in a row of the table and in a section, and name it in the
   docstring of `Tokenizer.save`.
4. Test it: `tests/formats/test_NAME.py`, a `Kind` in `tests/file_kinds/tokenizers.py`, and damaged
   files in `tests/mutants.py`. Regenerate the help pages with `tests/cli/test_help.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

__all__ = ["FORMATS", "TokenizerFormat", "both_files", "certain", "reading", "starting"]


class TokenizerFormat(NamedTuple):
    """A format of tokenizer files: how it is named, recognised and chosen.

    Patterns are compiled by `re` when a file is examined, as few are needed for most files.

    `digram.load` and `tok.save` call two functions of its module. `load(path, data, pretokenizer,
    encoding)` returns a `Definition` or a `Compact`; `data` is the content of the file, None for a
    folder and if the format `reads_itself`. `write(definition, path, allow_loss=...)` writes a file
    or a folder. Both raise, with file, line and remedy, for damaged data and for data that the
    format cannot store.
    """

    name: str
    """The name in `tok.save(path, format=name)`, and the name of the module."""
    files: str
    """How messages name its files: `.tiktoken`, or a folder with two files."""
    about: str
    """A line for help pages."""
    describes_itself: bool
    """Whether it stores the pretokenizer; otherwise the caller must name it when loading."""
    is_uncut: bool = False
    """Whether it always means no pretokenizer, so that `pretokenizer=None` is accepted."""
    suffix: str | None = None
    """Paths with this suffix are written in this format."""
    any_model: bool = False
    """Whether it can store models that no other library supports."""
    in_folder: str | None = None
    """The file to read in a folder, if the format is a single file."""
    beside: tuple[str, ...] = ()
    """Other files of that folder that are read too, as names and patterns; see `pretrained`."""
    pairs: tuple[tuple[str, str], ...] = ()
    """The two files in a folder, if the format is a pair; the first names are used for writing."""
    starts: bytes | None = None
    """The start of a file; None for folders, and if another entry reads the files."""
    holds: bytes | None = None
    """What a file has beside its start, if that is also the start of other formats."""
    only: bytes | None = None
    """A start that files of no other format have, so that the rest need not be searched."""
    reads_itself: bool = False
    """Whether `load` opens the file, of which the tokenizer may be a small part of many GB."""
    half: bytes | None = None
    """The start of the first of the two files, to recognise it under any name."""
    half_hint: str = ""
    """An additional hint for the error when one of two files is loaded."""

    @property
    def module(self) -> ModuleType:
        """The module of the format, imported when it is needed."""
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
            beside=(
                *("tokenizer_config.json", "special_tokens_map.json"),
                *("chat_template.jinja", "additional_chat_templates/*.jinja"),
            ),
            # JSON with a byte order mark is recognised too; its reader gives the error.
            starts=rb"\xef\xbb\xbf|\xff\xfe|\xfe\xff|\s*(?:\{|\[(?![A-Z]{2,}\]))",
            only=rb'\s*\{\s*"version"\s*:\s*"1\.0"\s*,',
        ),
        TokenizerFormat(
            name="tiktoken",
            files=".tiktoken",
            about="a .tiktoken file; stores no pattern and no special tokens",
            describes_itself=False,
            suffix=".tiktoken",
            starts=rb"[A-Za-z0-9+/]+=*[ \t]+[0-9]+\s",
            # Two bytes. Codes begin with two characters, and counts do not rise.
            only=rb"[A-Za-z0-9+/]{2}== 0\n[A-Za-z0-9+/]{2}== 1\n",
        ),
        TokenizerFormat(
            name="gguf",
            files=".gguf",
            about="a .gguf file without weights, as llama.cpp reads it",
            describes_itself=True,
            suffix=".gguf",
            starts=rb"GGUF",
            reads_itself=True,
        ),
        TokenizerFormat(
            name="tekken",
            files="tekken.json",
            about="tekken.json, as Mistral's libraries read it",
            describes_itself=True,
            in_folder="tekken.json",
            starts=rb"\s*\{",
            holds=rb'"token_bytes"\s*:\s*"',
        ),
        TokenizerFormat(
            name="minbpe",
            files="a .model of minbpe",
            about="a .model of minbpe: a pattern and pairs of ids",
            describes_itself=True,
            starts=rb"minbpe v\d+\s",
        ),
        TokenizerFormat(
            name="clip",
            files="CLIP's bpe_simple_vocab_16e6.txt.gz",
            about="the merges of CLIP, compressed; implies all else",
            describes_itself=True,
            starts=rb'\x1f\x8b|"bpe_simple_vocab',
        ),
        TokenizerFormat(
            name="subword_nmt",
            files="codes of subword-nmt and fastBPE",
            about="codes of subword-nmt; stores no ids",
            describes_itself=True,
            starts=rb'#version:|(?!\{"|\[|"bpe_simple)\S+ \S+(?: [0-9]+)?\r?\n',
            holds=rb"</w>(?: [0-9]+)?\r?\n",
        ),
        TokenizerFormat(
            name="vocab_merges",
            files="a folder with vocab.json and merges.txt",
            about="a folder: vocab.json and merges.txt; stores no pattern",
            describes_itself=False,
            pairs=(("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe")),
            half=rb'\s*\{(?:\s*"(?:[^"\\]|\\.)*"\s*:\s*[0-9]+\s*,){2}',
            half_hint="They do not store the pretokenizer: for GPT-2 itself also pass "
            'encoding="gpt2", for others their pretokenizer, as in pretokenizer="gpt2".',
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
            name="vocab_txt",
            files="vocab.txt",
            about="BERT's vocab.txt; stores no normalization",
            describes_itself=False,
            in_folder="vocab.txt",
            # The first token is special in nearly every file.
            starts=rb"(?:\[[A-Z]{2,}\]|<[a-z]+>)\r?\n",
        ),
        TokenizerFormat(
            name="sentencepiece",
            files="SentencePiece's .model",
            about="SentencePiece's .model; for models of scores",
            describes_itself=True,
            suffix=".model",
            in_folder="tokenizer.model",
            # The first field is a piece, whose first field is its text.
            starts=rb"(?s)\n[\x01-\xff][\x01-\x7f]?\n",
        ),
        TokenizerFormat(
            name="rwkv",
            files="RWKV's word list",
            about="RWKV's word list, a .txt; for models of the longest token",
            describes_itself=True,
            is_uncut=True,
            starts=rb"\d{1,9} b?['\"][^\n]*['\"] \d{1,9}\r?\n",
        ),
        TokenizerFormat(
            name="digram",
            files="a .json that only digram reads",
            about="a .json that only digram reads, for superwords and picky",
            describes_itself=True,
            suffix=".json",
            any_model=True,
        ),
    )
}
"""All formats by name. If several fit a file or a path, the first is used."""


def certain(data: bytes) -> TokenizerFormat | None:
    r"""The format of a file by its start alone; None if the rest of the file must be searched.

    >>> certain(b"IQ== 0\nIg== 1\n").name
    'tiktoken'
    """
    return next((one for one in FORMATS.values() if one.only and re.match(one.only, data)), None)


def starting(data: bytes) -> TokenizerFormat | None:
    """The format of a file with this content; None if none is recognised."""
    fits = [one for one in FORMATS.values() if one.starts and re.match(one.starts, data)]
    holds = (one for one in fits if one.holds and re.search(one.holds, data))
    return next(holds, next((one for one in fits if one.holds is None), None))


def reading() -> str:
    """A sentence that lists the formats that digram reads.

    >>> reading()[:47]
    'digram reads tokenizer.json, .tiktoken, .gguf, '
    """
    known = [format.files for format in FORMATS.values() if format.starts or format.pairs]
    return f"digram reads {', '.join(known[:-1])}, and {known[-1]}."


def both_files() -> Iterator[tuple[TokenizerFormat, tuple[str, str]]]:
    """The pairs of files that are read together, each with its format."""
    return ((format, pair) for format in FORMATS.values() for pair in format.pairs)
