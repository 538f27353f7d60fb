"""The `.model` file of minbpe: a pattern, special tokens, and a merge on each line.

    minbpe v1
    '(?i:[sdmt]|ll|ve|re)|...    the pattern; empty for BasicTokenizer, which does not split
    1                            the number of special tokens
    <|endoftext|> 257            each with its id
    97 110                       merges: two ids; the result has the id 256 plus the place

Ids below 256 are the bytes. minbpe's GPT4Tokenizer, which exchanges bytes, saves no such file; load
its vocabulary from `cl100k_base.tiktoken`.
(github.com/karpathy/minbpe, minbpe/base.py)
"""

from __future__ import annotations

import re
from os import PathLike
from typing import NoReturn

from digram._util.storage import LARGEST, atomic_write, read_file
from digram._util.validation import path_name
from digram.errors import CorruptFileError, VocabError
from digram.formats._check import Place, check, check_range
from digram.formats._findall import from_pattern, to_pattern
from digram.formats._json import decoded
from digram.formats._loss import ranked_bytes, refuse_ignore_merges
from digram.formats._show import show
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition

__all__ = ["dumps", "load", "loads", "read", "write"]

_WHAT = "a .model file of minbpe"
_OTHER = 'Save it with format="huggingface".'
_HEAD = "minbpe v1"
_NUMBER = re.compile("[0-9]{1,10}")
_MERGE = re.compile(r"\s*([0-9]{1,10})\s+([0-9]{1,10})\s*")


def read(path: str | PathLike[str]) -> Definition:
    """Read the definition in a file of minbpe; see `loads`. Also raises OSError."""
    return loads(read_file(path), path_name(path))


def load(path: str, data: bytes, *_: object) -> Definition:
    """Load a file; it stores its pretokenizer, so the other arguments are ignored."""
    return loads(data, path)


def write(definition: Definition, path: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write a file of minbpe atomically; see `dumps`. Also raises OSError."""
    atomic_write(path, dumps(definition, allow_loss=allow_loss), LARGEST)


def loads(data: bytes, path: str | None = None) -> Definition:
    r"""The definition in the bytes of a file of minbpe; `path` is for messages.

    >>> found = loads(b"minbpe v1\n\n1\n<s> 257\n97 110\n")
    >>> found.model.merges, found.special_tokens, found.pretokenizer
    ([(97, 110, 256)], {'<s>': 257}, Pretokenizer(None))

    Like minbpe it removes white space around the pattern. Raises `CorruptFileError` with the line
    for a damaged file, `VocabError` for an inconsistent vocabulary and for a pattern that does not
    match all text, and `PatternError` for one that is not supported.
    """
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
    if [line.strip() for line in lines[:1]] != [_HEAD]:
        _fail(f"the first line should be {_HEAD!r}.", lines, 0, path)
    pattern = (
        lines[1].strip() if len(lines) > 1 else _fail("the pattern is missing.", lines, 1, path)
    )
    special, first = _special(lines, path)
    merges, tokens = _merges(lines, first, path)
    check_range(special.values(), path)
    definition = Definition(
        tokens=tokens,
        model=BpeModel(merges),
        pretokenizer=from_pattern(pattern, path) if pattern else Pretokenizer(None),
        special_tokens=dict(sorted(special.items(), key=lambda item: item[1])),
    )
    return check(definition, Place(path, None, first + 1))


def _special(lines: list[str], path: str | None) -> tuple[dict[str, int], int]:
    """The special tokens, and the index of the line after them."""
    count = lines[2].strip() if len(lines) > 2 else ""
    if not _NUMBER.fullmatch(count):
        _fail("this should be the number of special tokens.", lines, 2, path)
    end = 3 + int(count)
    if end > len(lines):
        _fail(f"the file ends before the last of {int(count):,} special tokens.", lines, 2, path)
    found: dict[str, int] = {}
    for index in range(3, end):
        parts = lines[index].split()
        if len(parts) != 2 or not _NUMBER.fullmatch(parts[1]) or parts[0] in found:
            what = "a special token that occurs twice" if parts[:1] and parts[0] in found else None
            _fail(
                f"this is {what}."
                if what
                else "this should be a special token and its id, with "
                "white space between them alone.",
                lines,
                index,
                path,
            )
        found[parts[0]] = int(parts[1])
    return found, end


def _merges(
    lines: list[str], first: int, path: str | None
) -> tuple[list[tuple[int, int, int]], list[bytes | None]]:
    """The merges on the lines from `first` on, and the tokens."""
    tokens = [bytes([byte]) for byte in range(256)]
    merges = []
    length = 0
    for index in range(first, len(lines)):
        pair = _MERGE.fullmatch(lines[index])
        left, right = map(int, pair.groups()) if pair else (-1, -1)
        made = len(tokens)
        if not (0 <= left < made and 0 <= right < made):
            _fail(f"this should be two ids below {made}.", lines, index, path)
        length += len(tokens[left]) + len(tokens[right])
        if length > LARGEST:
            _fail(f"the tokens have more than {LARGEST:,} bytes.", lines, index, path)
        tokens.append(tokens[left] + tokens[right])
        merges.append((left, right, made))
    return merges, [*tokens]


def _fail(problem: str, lines: list[str], index: int, path: str | None) -> NoReturn:
    line = lines[index] if index < len(lines) else None
    raise CorruptFileError(
        problem if line is None else f"{show(line)}: {problem}",
        path=path,
        line=index + 1,
        value=line,
        hint="Is the file complete? Copy it again.",
    )


def dumps(definition: Definition, *, allow_loss: bool = False) -> bytes:
    r"""The bytes of a file of minbpe, in UTF-8.

    Raises `VocabError` for a tokenizer that the file cannot store: a character vocabulary, ids that
    are not the bytes and then the merges in order, a pretokenizer that is not one pattern or none,
    special tokens with white space or that are found in all text; and, unless `allow_loss` leaves
    them out, `ignore_merges`, a template, a context size, a pad token and names of reserved ids.
    """
    model = ranked_bytes(definition, _WHAT, allow_loss)
    refuse_ignore_merges(model, _WHAT, allow_loss)
    pattern = to_pattern(definition.pretokenizer, _WHAT, _OTHER) or ""
    if pattern != pattern.strip() or len(pattern.splitlines()) > 1:
        raise VocabError(
            f"{_WHAT} cannot store the pattern {show(pattern)}, which has a line end, or white "
            "space around it.",
            value=pattern,
            hint=_OTHER,
        )
    _check_ids(definition, model)
    special = definition.special_tokens
    for text in special:
        if len(text.split()) != 1 or text.split() != [text]:
            raise VocabError(
                f"{_WHAT} cannot store the special token {show(text)}, which has white space.",
                value=text,
                hint=_OTHER,
            )
    lines = [
        *(_HEAD, pattern, str(len(special))),
        *(f"{text} {token_id}" for text, token_id in special.items()),
        *(f"{left} {right}" for left, right, _ in model.merges),
    ]
    return "\n".join([*lines, ""]).encode()


def _check_ids(definition: Definition, model: BpeModel) -> None:
    """Raises `VocabError` unless the ids are the bytes, and the merges in order."""
    tokens = definition.tokens
    ordinary = sum(token is not None for token in tokens)
    made = [token_id for _, _, token_id in model.merges]
    in_order = made == [*range(256, 256 + len(made))] and ordinary == 256 + len(made)
    if not in_order or tokens[:256] != [bytes([byte]) for byte in range(256)]:
        raise VocabError(
            f"in {_WHAT} the first ids are the 256 bytes in the order of their values, and those "
            "of the merges follow in order; those of this tokenizer do not.",
            hint=_OTHER,
        )
