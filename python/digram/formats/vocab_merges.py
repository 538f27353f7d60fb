"""GPT-2's two files in a folder: `vocab.json` (token to id) and `merges.txt` (one pair per line).

Tokens are written in GPT-2's letters (see `_letters`). The files store neither the pattern nor
which tokens are special: the caller names the pretokenizer, or a published encoding. The original
names `encoder.json` and `vocab.bpe` are read too.

The first line of `merges.txt`, which readers skip, has a digest of both files, to detect truncated
files and files of different saves.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from os import PathLike

from digram._util.storage import read_pair, write_pair
from digram._util.validation import path_name
from digram.errors import CorruptFileError, VocabError
from digram.formats._check import Place, check, id_table, named_merges
from digram.formats._json import decoded, dump, expect, parse
from digram.formats._letters import from_letters, to_letters
from digram.formats._loss import (
    ranked,
    refuse_ignore_merges,
    refuse_input,
    refuse_matching,
    refuse_normalizer,
    refuse_rules,
    refuse_special_tokens,
)
from digram.formats._published import MISSING, PretokenizerLike, check_count, pretokenizer_of
from digram.formats._registry import FORMATS
from digram.formats._show import show
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition

__all__ = ["NAMES", "dumps", "load", "loads", "read", "write"]

NAMES = FORMATS["vocab_merges"].pairs
"""The names of the two files: those for writing, and those of GPT-2's first release."""

_SUFFIX = "</w>"
_WHAT = "a folder with vocab.json and merges.txt"
_DIGEST = re.compile(r"#version: .* sha256=([0-9a-f]{64})")


def read(
    folder: str | PathLike[str],
    *,
    pretokenizer: PretokenizerLike = MISSING,
    encoding: str | None = None,
) -> Definition:
    """Read the definition in the two files of a folder; see `loads`. Also raises OSError."""
    folder = path_name(folder, "folder")
    # Checked before the files are read: they name no pretokenizer.
    pretokenizer_of(pretokenizer, encoding, folder)
    names = next(
        (pair for pair in NAMES if os.path.exists(os.path.join(folder, pair[0]))), NAMES[0]
    )
    vocab, merges = read_pair(folder, *names)
    vocab_path, merges_path = (os.path.join(folder, name) for name in names)
    return loads(
        vocab,
        merges,
        vocab_path,
        merges_path,
        pretokenizer=pretokenizer,
        encoding=encoding,
    )


def load(folder: str, _: None, pretokenizer: PretokenizerLike, encoding: str | None) -> Definition:
    """Load the two files of a folder."""
    return read(folder, pretokenizer=pretokenizer, encoding=encoding)


def write(definition: Definition, folder: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write `vocab.json` and `merges.txt` to a folder, both or neither; see `dumps`.

    The folder is created if it is missing. Also raises OSError.
    """
    vocab, merges = dumps(definition, allow_loss=allow_loss)
    write_pair(folder, (NAMES[0][0], vocab), (NAMES[0][1], merges))


def dumps(definition: Definition, *, allow_loss: bool = False) -> tuple[bytes, bytes]:
    """The bytes of `vocab.json` and of `merges.txt`.

    The pretokenizer is not stored; it must be named when the files are loaded. Raises `VocabError`
    for special tokens and `ignore_merges`, unless `allow_loss` leaves them out, for a character
    vocabulary, and for a merge that readers would skip as a comment.
    """
    model = ranked(definition, _WHAT)
    if definition.unit != "byte":
        raise VocabError(
            f"{_WHAT} cannot store a character vocabulary.",
            hint='Save it with format="huggingface".',
        )
    refuse_rules(definition, _WHAT)
    refuse_normalizer(definition, _WHAT)
    refuse_matching(definition, _WHAT)
    refuse_special_tokens(definition, _WHAT, allow_loss)
    refuse_input(definition, _WHAT, allow_loss)
    refuse_ignore_merges(model, _WHAT, allow_loss)
    letters = [None if token is None else to_letters(token) for token in definition.tokens]
    vocab = dump({name: i for i, name in enumerate(letters) if name is not None})
    lines = [f"{letters[left]} {letters[right]}\n" for left, right, _ in model.merges]
    for rank, line in enumerate(lines):
        if line.startswith("#version"):
            raise VocabError(
                f"merge {rank}, {show(line.rstrip())}, looks like the first line of merges.txt: "
                "readers would skip it.",
                hint='Save it with format="huggingface".',
            )
    body = "".join(lines).encode()
    head = f"#version: 0.2 - digram, sha256={_digest(vocab, body)}\n"
    return vocab, head.encode() + body


def loads(
    vocab: bytes,
    merges: bytes,
    vocab_path: str | None = None,
    merges_path: str | None = None,
    *,
    pretokenizer: PretokenizerLike = MISSING,
    encoding: str | None = None,
) -> Definition:
    r"""The definition in the bytes of `vocab.json` and `merges.txt`; paths are for messages.

    >>> vocab = {to_letters(bytes([i])): i for i in range(256)} | {"th": 256, "Ġth": 257}
    >>> loads(dump(vocab), "#version: 0.2\nt h\nĠ th\n".encode(), pretokenizer="gpt2").model.merges
    [(116, 104, 256), (32, 256, 257)]

    `pretokenizer` names the pattern; `encoding` names a published encoding, which includes pattern
    and special tokens and must have the same number of tokens. Without it, an entry that no merge
    makes becomes an ordinary, unreachable token, since the files do not say which tokens are
    special. Lines may end in CR LF.

    Raises `OptionError` if neither is given, `CorruptFileError` with the line for damaged files and
    for files of different saves, `VocabError` with the line for an inconsistent vocabulary.
    """
    cut, published = pretokenizer_of(pretokenizer, encoding, vocab_path)
    ids = expect(parse(vocab, vocab_path), dict, "the file", vocab_path)
    if not set(map(type, ids.values())) <= {int}:
        for name, token_id in ids.items():
            expect(token_id, int, f"the id of {show(name)}", vocab_path)
    special = {} if published is None else dict(published.special_tokens)
    for text, token_id in special.items():
        if ids.get(text) == token_id:  # the entry of a special token
            del ids[text]
    if encoding is not None:
        check_count(encoding, len(ids), vocab_path)
    pairs, first_line = _pairs(merges, vocab, merges_path)
    _refuse_suffix(ids, pairs, vocab_path)
    place = Place(vocab_path, merges_path, first_line)
    tokens = id_table([*ids.values()], _bytes_of(ids, vocab_path), vocab_path)
    definition = Definition(
        tokens=tokens,
        model=BpeModel(named_merges(pairs, ids, place)),
        pretokenizer=cut,
        special_tokens=special,
    )
    return check(definition, place)


def _refuse_suffix(ids: dict[str, int], pairs: list[list[str]], path: str | None) -> None:
    """Raise `VocabError` if tokens that end a word have a suffix, as in CLIP and GPT-1."""
    made = {left + right for left, right in pairs}
    ends = [name for name in ids if len(name) == 1 + len(_SUFFIX) and name.endswith(_SUFFIX)]
    ends = [name for name in ends if name not in made]
    if ends:
        raise VocabError(
            f"tokens at the end of words have the suffix {_SUFFIX!r} ({show(ends[0])}).",
            path=path,
            value=ends[0],
            hint="Load the tokenizer.json of the model, which says how words are made, or the "
            "file bpe_simple_vocab_16e6.txt.gz of CLIP.",
        )


def _bytes_of(ids: dict[str, int], path: str | None) -> list[bytes]:
    try:
        return from_letters(ids)
    except UnicodeEncodeError as error:
        name = error.object
        raise VocabError(
            f"token {show(name)} (id {ids[name]}) is not written in GPT-2's letters.",
            path=path,
            value=name,
            hint="If it is a special token, remove it from a copy of the file and add it after "
            f"loading, in Python, with with_special_tokens({{{json.dumps(name)}: {ids[name]}}}).",
        ) from None


def _pairs(data: bytes, vocab: bytes, path: str | None) -> tuple[list[list[str]], int]:
    """The merges, and the line number of the first."""
    text = decoded(data, path)
    lines = text.replace("\r\n", "\n").split("\n")
    if lines.pop():
        raise CorruptFileError(
            f"the file ends inside the line {show(text.splitlines()[-1])}.",
            path=path,
            line=len(lines) + 1,
            offset=len(data),
            hint="The file is truncated; copy it again. If nothing is missing, end the line with a "
            "newline.",
        )
    first_line = 1
    if lines[0].startswith("#version"):
        _check_digest(lines.pop(0), data, vocab, path)
        first_line = 2
    pairs = [line.split(" ") for line in lines]
    for rank, pair in enumerate(pairs):
        if len(pair) != 2 or not all(pair):
            raise CorruptFileError(
                f"{show(lines[rank])} is not two tokens with a space between them.",
                path=path,
                line=first_line + rank,
                value=lines[rank],
                hint="A merge is a line like: Ġ t",
            )
    return pairs, first_line


def _check_digest(head: str, data: bytes, vocab: bytes, path: str | None) -> None:
    match = _DIGEST.match(head)
    if match is not None and match[1] != _digest(vocab, data.partition(b"\n")[2]):
        raise CorruptFileError(
            "this file or the vocab.json beside it was changed after saving, or they are from "
            "different saves.",
            path=path,
            line=1,
            hint="Save or copy both again. If the change was intended, shorten this line to "
            '"#version: 0.2".',
        )


def _digest(vocab: bytes, body: bytes) -> str:
    # Line ends may have been converted.
    return hashlib.sha256((vocab + body).replace(b"\r\n", b"\n")).hexdigest()
