r"""Codes of subword-nmt and of fastBPE: a merge on each line, and nothing else.

    #version: 0.2          in files of subword-nmt
    t h
    th e</w>

fastBPE writes a third column, the count of each pair, and no first line. `</w>` is at the end of
tokens that end a word; both programs write `@@` behind the others in segmented text instead.

There are no ids in such a file. digram numbers them: 0 is the special token `<unk>` for characters
that are in no merge, then come the characters of the merges in order of code points, each of them
first inside and then at the end of a word, and then the tokens in the order in which merges make
them. Words are separated by spaces and by line ends.

In version 0.1, whose files have no first line and no counts, `</w>` is a symbol of its own behind
the last character of each word. Here that is a space, which is a character of the vocabulary: if no
merge joins it, it is the last token of a word, which subword-nmt does not print.
(github.com/rsennrich/subword-nmt, subword_nmt/apply_bpe.py; github.com/glample/fastBPE)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from os import PathLike

from digram._util.storage import LARGEST, atomic_write, read_file
from digram._util.validation import path_name
from digram.decoders import Decoding, Fuse, StripEnds
from digram.errors import CorruptFileError, VocabError
from digram.formats._affixes import name_of
from digram.formats._check import Place, check, named_merges
from digram.formats._json import decoded, unsupported
from digram.formats._loss import LEFT_OUT, ranked
from digram.formats._show import show
from digram.pretokenizers.normalizers import Words
from digram.pretokenizers.pretokenizer import Pretokenizer, Regex
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.special_tokens import SpecialToken

__all__ = ["dumps", "load", "loads", "read", "write"]

_WHAT = "a file of codes"
_SUFFIX = "</w>"
_UNKNOWN = "<unk>"
_HEAD = "#version: "
_OLD, _NEW, _COUNTED = "0.1", "0.2", "of fastBPE"
_WITHOUT_LAST_SPACE = Decoding([Fuse(), StripEnds(" ", 0, 1)])
"""The text of version 0.1, in which the last word has a space behind it, too."""
_COUNT = re.compile("[0-9]+")

_WORDS = Words((Regex(r"[ \r\n]+"),), removed=Regex(r"[ \r\n]"), suffix=" ")


def read(path: str | PathLike[str]) -> Definition:
    """Read the definition in a file of codes; see `loads`. Also raises OSError."""
    return loads(read_file(path), path_name(path))


def load(path: str, data: bytes, *_: object) -> Definition:
    """Load a file, which implies the pretokenizer, so the other arguments are ignored."""
    return loads(data, path)


def write(definition: Definition, path: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write a file of codes atomically; see `dumps`. Also raises OSError."""
    atomic_write(path, dumps(definition, allow_loss=allow_loss), LARGEST)


def loads(data: bytes, path: str | None = None) -> Definition:
    r"""The definition in the bytes of a file of codes; `path` is for messages.

    >>> found = loads(b"#version: 0.2\nl o\nlo w</w>\n")
    >>> found.tokens
    [None, b'l', b'l ', b'o', b'o ', b'w', b'w ', b'lo', b'low ']

    >>> loads(b"l o\nw </w>\n").tokens  # version 0.1
    [None, b' ', b'l', b'o', b'w', b'lo', b'w ']

    Of equal merges the first counts, as in subword-nmt. Raises `CorruptFileError` with the line for
    a damaged file, and `VocabError` for an inconsistent vocabulary and for other versions.
    """
    lines, first, version = _lines(data, path)
    is_old = version == _OLD
    if not lines:
        raise CorruptFileError("the file has no merges.", path=path, hint="Copy it again.")
    pairs, ranks = [], dict[tuple[str, str], int]()
    for rank, line in enumerate(lines):
        pair = _pair(line, version, Place(path, None, first), rank)
        if ranks.setdefault(pair, rank) == rank:
            pairs.append(pair)
    letters = sorted({letter for pair in pairs for part in pair for letter in part} - {" "})
    known = dict.fromkeys(name for letter in letters for name in (letter, letter + " "))
    if is_old:
        known = dict.fromkeys([" ", *letters])
    for pair in pairs:
        for part in pair:
            if part not in known:
                problem = f"{show(part)} is neither a character nor made by a merge before this."
                hint = "A merge is a line of two tokens that come before it."
                raise Place(path, None, first).bad_merge(ranks[pair], problem, part, hint)
        known["".join(pair)] = None
    ids = {name: id for id, name in enumerate(known, 1)}
    definition = Definition(
        tokens=[None, *(name.encode() for name in known)],
        model=BpeModel(named_merges(pairs, ids, Place(path)), suffix="" if is_old else _SUFFIX),
        pretokenizer=Pretokenizer(None, normalizer=_WORDS),
        special_tokens={_UNKNOWN: 0},
        unit="char",
        on_unknown=SpecialToken(_UNKNOWN),
        decoding=_WITHOUT_LAST_SPACE if is_old else None,
    )
    return check(definition, Place(path))


def dumps(definition: Definition, *, allow_loss: bool = False) -> bytes:
    """The bytes of a file of subword-nmt. They depend only on the definition.

    The version is 0.2, or 0.1 for a vocabulary that was read from such a file. The file implies
    everything but the merges. Raises `VocabError`, naming what differs, for a tokenizer that would
    not be read again as it is; `allow_loss` changes nothing.
    """
    model = ranked(definition, _WHAT, affixes=True)
    is_old = not model.suffix and definition.decoding == _WITHOUT_LAST_SPACE
    if definition.unit != "char" or model.prefix or not (is_old or model.suffix == _SUFFIX):
        raise _unstored(f"a vocabulary without the suffix {_SUFFIX!r} of characters", model.suffix)
    named = _old_name if is_old else name_of(model, definition.unit)
    names = [named(token or b"") for token in definition.tokens]
    merges = "".join(f"{names[left]} {names[right]}\n" for left, right, _ in model.merges)
    data = f"{_HEAD}{_OLD if is_old else _NEW}\n{merges}".encode()
    try:
        again = loads(data)
    except (CorruptFileError, VocabError) as error:
        raise _unstored("these merges", error.message) from None
    for field in fields(Definition):
        mine = getattr(definition, field.name)
        if field.name not in LEFT_OUT and mine != getattr(again, field.name):
            raise _unstored(f"this {field.name.replace('_', ' ')}", mine)
    return data


def _old_name(token: bytes) -> str:
    """The name of a token in version 0.1."""
    text = token.decode()
    return text.removesuffix(" ") + _SUFFIX if text.endswith(" ") else text


def _unstored(what: str, value: object) -> VocabError:
    return VocabError(
        f"{_WHAT} cannot store {what}; it implies everything but the merges.",
        value=value,
        hint='Save it with format="huggingface".',
    )


def _lines(data: bytes, path: str | None) -> tuple[Sequence[str], int, str]:
    """The lines of the merges, the number of the first, and the version."""
    lines = decoded(data, path).replace("\r\n", "\n").split("\n")
    if lines.pop():
        raise CorruptFileError(
            "the file ends inside a line.",
            path=path,
            line=len(lines) + 1,
            offset=len(data),
            hint="The file is truncated; copy it again. If nothing is missing, end the line with a "
            "newline.",
        )
    if lines[0].startswith("#version:"):
        version = lines[0].removeprefix("#version:").strip()
        if version not in (_OLD, _NEW):
            hint = "Learn the codes again with subword-nmt 0.2 or newer, or with fastBPE."
            raise unsupported(f"version {show(version)} of subword-nmt's codes", path, hint=hint)
        return lines[1:], 2, version
    has_count = len(lines) > 0 and len(lines[0].strip(" ").split(" ")) != 2
    return lines, 1, _COUNTED if has_count else _OLD


def _pair(line: str, version: str, place: Place, rank: int) -> tuple[str, str]:
    """The tokens of a merge, with a space in place of the suffix."""
    parts = line.strip(" ").split(" ")
    has_count = version == _COUNTED
    if len(parts) != 2 + has_count or not all(parts) or (has_count and not _is_count(parts[2])):
        raise place.bad_merge(
            rank,
            f"{show(line)} is not two tokens{' and a count' * has_count}, with a space between.",
            line,
            "A merge is a line like: t h" + " 1234" * has_count,
        )
    left, right = parts[:2]
    if left.endswith(_SUFFIX):
        problem = f"{show(left)} is the end of a word, so nothing follows it."
        raise place.bad_merge(rank, problem, left, "Remove the merge.")
    ends = right.endswith(_SUFFIX)
    if right == _SUFFIX and version != _OLD:
        problem = f"the token {_SUFFIX!r} alone is one of subword-nmt's version 0.1."
        raise place.bad_merge(
            rank, problem, right, "Begin the file with #version: 0.1, or without."
        )
    return left, right.removesuffix(_SUFFIX) + " " * ends


def _is_count(text: str) -> bool:
    return _COUNT.fullmatch(text) is not None
