"""Tokenizers as files: one module for each format, their list, and the choice among them.

Each module has `read` and `write` for paths, `loads` and `dumps` for bytes, and `load`, which
`read` of this package calls. All of them raise, with file, line and remedy, for damaged or
inconsistent data, and for data that the format or digram does not support. `_registry.py` says how
to add a format.
"""

from __future__ import annotations

import os
import re
from os import PathLike
from typing import TYPE_CHECKING

from digram._util.collection import without_collection
from digram._util.on_first_use import on_first_use
from digram._util.storage import read_file, read_start
from digram._util.validation import path_name
from digram._util.warning import warn
from digram._util.wording import said
from digram.errors import CorruptFileError, OptionError, VocabError, show
from digram.formats._folder import BESIDE, Inside, inside
from digram.formats._published import ENCODINGS, MISSING, Encoding, Missing, PretokenizerLike
from digram.formats._registry import (
    FORMATS,
    TokenizerFormat,
    both_files,
    certain,
    reading,
    starting,
)
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.packed import Compact, compacted

if TYPE_CHECKING:
    from digram.formats import (
        clip,
        digram,
        gguf,
        huggingface,
        minbpe,
        rwkv,
        seed_pair,
        sentencepiece,
        subword_nmt,
        tekken,
        tiktoken,
        vocab_merges,
        vocab_txt,
    )
    from digram.formats._names import names_of
    from digram.vocab.definition import Definition

__all__ = [
    "ENCODINGS",
    "FORMATS",
    "MISSING",
    "Encoding",
    "Missing",
    "PretokenizerLike",
    "TokenizerFormat",
    "chosen",
    "clip",
    "describes_itself",
    "digram",
    "gguf",
    "huggingface",
    "minbpe",
    "names_of",
    "read",
    "read_compact",
    "rwkv",
    "seed_pair",
    "sentencepiece",
    "subword_nmt",
    "tekken",
    "tiktoken",
    "vocab_merges",
    "vocab_txt",
    "write",
]

__getattr__, __dir__ = on_first_use(__name__, {"_names": ["names_of"]}, FORMATS)

# A tokenizer.json has an object under this key; a plain vocabulary may have a token "model".
_MODEL = re.compile(rb'"model"\s*:\s*\{')
_COUNTED = re.compile(rb"\S+ [0-9]+\r?\n\S+ [0-9]+\r?\n")
_CONTINUED = re.compile(rb"^\S+@@ [0-9]+\r?$", re.MULTILINE)
"""The lines of a list of fairseq: pieces with counts, some of which do not end a word."""
_TWO_COUNTS = re.compile(rb"\S+ ([0-9]{1,18})\r?\n\S+ ([0-9]{1,18})(?: #\S+)?(?:\r?\n|\Z)")
_COUNT = re.compile(rb"\S+ ([0-9]{1,18})(?: #fairseq:overwrite)?")
"""A line of such a list."""
_WITH_CONFIG = ("sentencepiece", "vocab_merges", "vocab_txt")
"""The formats that transformers has in a folder with a tokenizer_config.json."""
_TOKENIZER = "tokenizer.json"
_OF_CLASSES = (_TOKENIZER, "tokenizer_config.json", "config.json")
"""The tokenizer of a folder, and the files that name a class of transformers."""
_START = 64
"""The number of bytes at the start of a file that tell a format that is read in parts."""


def read(
    path: str | PathLike[str],
    *,
    pretokenizer: PretokenizerLike = MISSING,
    encoding: str | None = None,
) -> Definition:
    """Read the definition in a file or folder; the format is recognised by the content.

    `pretokenizer` or `encoding` is required for files that do not store the pretokenizer, except
    those of published encodings, and an error for formats that store it. If a folder contains both
    kinds, the arguments decide which is read. Unreachable tokens are kept, with one UserWarning;
    others say which of several files beside a tokenizer.json is taken. Raises `OptionError`,
    `CorruptFileError`, `VocabError`, `PatternError` and OSError, as the modules do.
    """
    name = path_name(path)
    found, warned = _read(name, pretokenizer, encoding)
    _warn(found, name, warned)
    return found.plain() if isinstance(found, Compact) else found


def read_compact(
    path: str | PathLike[str],
    *,
    pretokenizer: PretokenizerLike = MISSING,
    encoding: str | None = None,
) -> Compact:
    """Like `read`, but keep the tokens and merges in the core."""
    name = path_name(path)
    found, warned = _read(name, pretokenizer, encoding)
    _warn(found, name, warned)
    return found if isinstance(found, Compact) else compacted(found)


def describes_itself(path: str | PathLike[str]) -> bool:
    """Whether a file or folder stores the pretokenizer.

    Others are read with `pretokenizer` or `encoding`. Raises the errors of `read`.
    """
    name = path_name(path)
    if not os.path.isdir(name):
        return _of_file(_content(name), name).describes_itself
    format, file = _inside(name, False)
    if file is not None and _is_ambiguous(format):
        path = os.path.join(name, file)
        format = _of_file(_content(path), path)
    return format.describes_itself or _of_class(name, format) is not MISSING


def write(
    definition: Definition,
    path: str | PathLike[str],
    *,
    format: str | None = None,
    allow_loss: bool = False,
) -> None:
    """Write a definition to a file or folder atomically.

    Without `format` the name decides: `tokenizer.json` is "huggingface", and so is any other
    `.json`, but "digram" for a tokenizer whose model other libraries do not have; `.tiktoken` is
    "tiktoken". Raises `VocabError` for data that the format cannot store, unless `allow_loss` is
    true; `OptionError` for an unknown format, or a name that does not determine one; and OSError.
    """
    name = path_name(path)
    chosen(definition, name, format).module.write(definition, path, allow_loss=allow_loss)


def _folder() -> str:
    """The hint that names the call for a folder for transformers; `save` does not write one."""
    call = said("tok.save_pretrained(folder)", "digram convert --for transformers")
    return f"{call} writes a folder for transformers"


def chosen(definition: Definition, path: str, format: str | None) -> TokenizerFormat:
    """The format to write a definition in: `format`, or the one determined by the path.

    Raises `OptionError` for an unknown format, or a path that does not determine one.
    """
    if format is None:
        base, suffix = os.path.basename(path), os.path.splitext(path)[1].lower()
        own = [one for one in FORMATS.values() if one.in_folder == base]
        if own:
            return own[0]
        any_model = not definition.model.portable
        parts = {part for _, pair in both_files() for part in pair}
        fits = [one for one in FORMATS.values() if one.suffix == suffix and base not in parts]
        if fits:
            return next((one for one in fits if one.any_model >= any_model), fits[0])
        suffixes = dict.fromkeys(one.suffix for one in FORMATS.values() if one.suffix)
        raise OptionError(
            f"the name {show(base)} does not say which format to write.",
            path=path,
            value=path,
            hint='Name it, as in format="vocab_merges" (a folder), or end the path in '
            f"{' or '.join(suffixes)}. {_folder()}.",
        )
    if not isinstance(format, str) or format not in FORMATS:
        program = isinstance(format, str) and format == "transformers"  # not of an array
        raise OptionError(
            f"format={show(format)} is not known.",
            value=format,
            hint=f"Choose from {', '.join(FORMATS)}.{f' {_folder()}.' if program else ''}",
        )
    return FORMATS[format]


def _read(
    name: str, pretokenizer: PretokenizerLike, encoding: str | None
) -> tuple[Definition | Compact, list[str]]:
    """The tokenizer at a path, and warnings about its files."""
    folder = name if os.path.isdir(name) else None
    named = pretokenizer is not MISSING or encoding is not None
    format, file, data = _found(name, named)
    if named and format.describes_itself and not _is_meant(format, pretokenizer, encoding):
        raise OptionError(
            "this format stores the pretokenizer itself.",
            path=name,
            hint="Leave out pretokenizer= and encoding=.",
        )
    with without_collection():
        if folder is not None and format.beside:
            from digram.formats import pretrained

            return pretrained.load(folder, data)
        if folder is not None and not named:
            pretokenizer = _of_class(folder, format)
        path = name if folder is None or file is None else os.path.join(folder, file)
        held = None if format.pairs or format.reads_itself else data
        found: Definition | Compact = format.module.load(path, held, pretokenizer, encoding)
        if folder is None or format.name not in _WITH_CONFIG or isinstance(found, Compact):
            return found, []
        from digram.formats import _beside

        return _beside.joined(folder, file or format.pairs[0][0], format, found)


def _found(name: str, named: bool) -> tuple[TokenizerFormat, str | None, bytes]:
    """The format of a path, the file if the path is a folder, and its content.

    Names such as tokenizer.model are common to several formats, which the content tells apart.
    """
    if not os.path.isdir(name):
        data = _content(name)
        return _of_file(data, name), None, data
    format, file = _inside(name, named)
    if file is None:
        return format, None, b""
    path = os.path.join(name, file)
    data = _content(path)
    if _is_ambiguous(format):
        format = _of_file(data, path)
    return format, file, data


def _inside(folder: str, named: bool) -> Inside:
    """As `inside`; a folder of a class that no files describe is refused with its name."""
    there = {name for name in _OF_CLASSES if os.path.lexists(os.path.join(folder, name))}
    if there and _TOKENIZER not in there:
        from digram.formats._class_rules import refuse_python

        refuse_python(folder)
    return inside(folder, named)


def _is_ambiguous(format: TokenizerFormat) -> bool:
    """Whether a file in a folder that is named as of this format may be of another one."""
    return format.suffix is not None and not format.beside


def _of_class(folder: str, format: TokenizerFormat) -> PretokenizerLike:
    """The pretokenizer of the class that a folder names, if that is certain."""
    if not format.pairs:
        return MISSING
    from digram.formats import _beside

    found = _beside.pretokenizer_of(folder, format)
    return MISSING if found is None else found


def _is_meant(
    format: TokenizerFormat, pretokenizer: PretokenizerLike, encoding: str | None
) -> bool:
    """Whether the arguments ask for no pretokenizer, which is what the format implies anyway."""
    return format.is_uncut and encoding is None and pretokenizer in (None, Pretokenizer(None))


def _content(path: str) -> bytes:
    """The content of a file, or its start if its format reads it in parts."""
    start = read_start(path, _START)
    in_parts = [one.starts for one in FORMATS.values() if one.reads_itself and one.starts]
    return start if any(re.match(starts, start) for starts in in_parts) else read_file(path)


def _refuse_counts(data: bytes, path: str) -> None:
    """Raise `VocabError` for a list of pieces and their counts."""
    # The pattern would read each line of a file of ranks.
    continued = _COUNTED.match(data) and b"@@ " in data and _CONTINUED.search(data)
    if not continued and not _is_counted(data, os.path.basename(path)):
        return
    from digram.formats._json import unsupported

    if continued:
        raise unsupported(
            "a list of fairseq (dict.txt)",
            path,
            hint="Load the file of codes itself, which has ids of its own. fairseq gives the id of "
            "<unk> to every piece that this list lacks, also to those that merges make, so that "
            "the list is no vocabulary.",
        )
    raise unsupported(
        "a list of pieces and their counts, as in dict.txt of fairseq,",
        path,
        hint="Load the tokenizer that made the pieces, such as a SentencePiece .model, or "
        "GPT-2's vocab.json with merges.txt; the list says neither how text becomes pieces "
        "nor their ids, which fairseq counts from the first line.",
    )


def _of_file(data: bytes, path: str) -> TokenizerFormat:
    suffix = os.path.splitext(path)[1].lower()
    if not data or data.isspace():
        raise CorruptFileError("the file is empty.", path=path, hint="Copy it again.")
    # A file of merges has lines like those of codes.
    is_second = os.path.basename(path) in {pair[1] for _, pair in both_files()}
    known = None if is_second else certain(data)
    if known is not None:
        return known
    _refuse_beside(data, path)
    found = starting(data)
    if not is_second:
        _refuse_counts(data, path)
    if found is not None and not is_second and (found.holds is not None or found.reads_itself):
        return found
    if b'"model"' not in data or _MODEL.search(data) is None:
        _refuse_half(data, path)
    if found is not None:
        return found
    for format in FORMATS.values():
        if format.starts is not None and format.suffix == suffix:  # its first bytes are damaged
            return format
    if suffix == ".vocab" and data[0] < 3 and data[1:2] < b"\3":  # its marking, and its encoding
        raise VocabError(
            "this is a vocabulary of TokenMonster, which marks capitals in a text, and compares "
            "several ways to go on at each token by rules that digram does not have.",
            path=path,
            hint="Use TokenMonster itself for it.",
        )
    raise VocabError("this is not a tokenizer that digram knows.", path=path, hint=reading())


def _refuse_beside(data: bytes, path: str) -> None:
    """Raise `VocabError` for a file that is beside a tokenizer, and is none."""
    if os.path.basename(path) not in BESIDE or _MODEL.search(data) is not None:
        return
    folder = os.path.dirname(path) or os.curdir
    raise VocabError(
        "this file says something about a tokenizer that is in another file of its folder.",
        path=path,
        hint=f"Pass the folder instead, {folder!r}.",
    )


def _is_counted(data: bytes, name: str) -> bool:
    """Whether each line is a piece and its count, and no rank of a `.tiktoken` file.

    Counts never rise from line to line. Ranks are numbers from 0 on, each once.
    """
    start = _TWO_COUNTS.match(data)
    if start is None or int(start[2]) > int(start[1]):
        return False
    counts: list[int] = []
    for line in data.splitlines():
        found = _COUNT.fullmatch(line)
        if found is None or (counts and int(found[1]) > counts[-1]):
            return False
        counts.append(int(found[1]))
    ranks = len({*counts}) == len(counts) and counts[0] < 4 * len(counts)
    return name == "dict.txt" or not ranks


def _refuse_half(data: bytes, path: str) -> None:
    """Raise `VocabError` for one file of a pair, saying how to name both."""
    base, folder = os.path.basename(path), os.path.dirname(path) or os.curdir
    named = [one for one in both_files() if base in one[1]]
    found = named or [one for one in both_files() if one[0].half and re.match(one[0].half, data)]
    if not found:
        return
    format, pair = found[0]
    missing = ""
    if named:
        other = pair[base == pair[0]]
        if os.path.exists(os.path.join(folder, other)):
            remedy = f"Pass their folder instead, {folder!r}."
        else:
            missing = f", of which {other} is missing here"
            remedy = f"Copy it into the folder {folder!r}, and pass that."
    else:
        remedy = f"Put both into a folder, under these names, and pass that instead of {base!r}."
    raise VocabError(
        f"this is one of two files that are read together, {' and '.join(pair)}{missing}.",
        path=path,
        hint=f"{remedy} {format.half_hint}".rstrip(),
    )


def _warn(found: Definition | Compact, path: str, warned: list[str]) -> None:
    for reason in warned:
        warn(f"{path}: {reason}.")
    if isinstance(found, Compact):
        if found.settings.unit == "byte" and not found.model.unmade():
            return
        found = found.plain()
    lost = found.model.unreached(found)
    if lost:
        few = ", ".join(f"{i} {show(found.tokens[i])}" for i in lost[:3])
        warn(
            f"{path}: {len(lost):,} of the tokens are unreachable, since no merge makes them "
            f"({few}{', ...' if len(lost) > 3 else ''}). They are kept."
        )
