"""Two plain files in a folder: `vocabulary.json` and `merges.json`, bytes written as numbers.

    vocabulary.json   {"256": {"bytes": [97, 110], "text": "an"}, ...}    text is Latin-1
    merges.json       {"merges": [[[97, 110], 256], ...]}

This is the format of a tokenizer for teaching: ids 0 to 255 are the bytes, merges are in the order
of ids, text is not split before merging (pretokenizer None), and there are no special tokens. The
files are identical, byte for byte, to those of that program.
"""

from __future__ import annotations

import json
import os
from os import PathLike
from typing import Any

from digram._util.storage import read_pair, write_pair
from digram._util.validation import path_name
from digram.errors import CorruptFileError, VocabError
from digram.formats._check import Place, check, id_table
from digram.formats._json import expect, parse
from digram.formats._loss import (
    ranked,
    refuse_ignore_merges,
    refuse_input,
    refuse_matching,
    refuse_normalizer,
    refuse_rules,
    refuse_special_tokens,
)
from digram.formats._registry import FORMATS
from digram.formats._show import show
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition

__all__ = ["NAMES", "dumps", "load", "loads", "read", "write"]

[NAMES] = FORMATS["seed_pair"].pairs
"""The names of the two files."""

_WHAT = "a folder with vocabulary.json and merges.json"
_OTHER = 'Save it with format="huggingface".'


def read(folder: str | PathLike[str]) -> Definition:
    """Read the definition in the two files of a folder; see `loads`. Also raises OSError."""
    folder = path_name(folder, "folder")
    vocabulary, merges = read_pair(folder, *NAMES)
    return loads(vocabulary, merges, *(os.path.join(folder, name) for name in NAMES))


def load(folder: str, *_: object) -> Definition:
    """Load the two files of a folder; the format has no pretokenizer."""
    return read(folder)


def write(definition: Definition, folder: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write the two files to a folder, both or neither; see `dumps`.

    The folder is created if it is missing. Also raises OSError.
    """
    vocabulary, merges = dumps(definition, allow_loss=allow_loss)
    write_pair(folder, (NAMES[0], vocabulary), (NAMES[1], merges))


def dumps(definition: Definition, *, allow_loss: bool = False) -> tuple[bytes, bytes]:
    """The bytes of `vocabulary.json` and of `merges.json`.

    >>> from digram.pretokenizers.pretokenizer import Pretokenizer
    >>> tokens = [bytes([byte]) for byte in range(256)] + [b"an"]
    >>> cut = Pretokenizer(None)
    >>> model = BpeModel([(97, 110, 256)])
    >>> pair = dumps(Definition(tokens=tokens, model=model, pretokenizer=cut))
    >>> json.loads(pair[0])["256"], json.loads(pair[1])
    ({'bytes': [97, 110], 'text': 'an'}, {'merges': [[[97, 110], 256]]})

    Raises `VocabError` for data that the files cannot store: unit "char", a pretokenizer, base ids
    other than the bytes, merges that are not in the order of their ids; and, unless `allow_loss`
    leaves them out, special tokens and `ignore_merges`.
    """
    model = ranked(definition, _WHAT)
    if definition.unit != "byte":
        raise VocabError(f"{_WHAT} cannot store a character vocabulary.", hint=_OTHER)
    refuse_rules(definition, _WHAT)
    refuse_normalizer(definition, _WHAT)
    refuse_matching(definition, _WHAT)
    if definition.pretokenizer != Pretokenizer(None):
        cut = definition.pretokenizer
        name = cut.name or ("a regex" if cut.patterns else "none")
        digits = "" if cut.digits is None else f", digits {cut.digits}"
        raise VocabError(
            f"{_WHAT} cannot store a pretokenizer, but this tokenizer has one: {name}{digits}.",
            hint=_OTHER,
        )
    refuse_special_tokens(definition, _WHAT, allow_loss)
    refuse_input(definition, _WHAT, allow_loss)
    refuse_ignore_merges(model, _WHAT, allow_loss)
    _check_ids(definition, model, Place())
    view = {
        str(i): {"bytes": list(token), "text": token.decode("latin-1")}
        for i, token in enumerate(definition.tokens)
        if token is not None
    }
    merges = {"merges": [[[left, right], made] for left, right, made in model.merges]}
    return json.dumps(view, indent=2).encode(), json.dumps(merges, indent=2).encode()


def loads(
    vocabulary: bytes,
    merges: bytes,
    vocabulary_path: str | None = None,
    merges_path: str | None = None,
) -> Definition:
    """The definition in the bytes of the two files; paths are for messages.

    Raises `CorruptFileError` for damaged files, `VocabError` for inconsistent ones.
    """
    place = Place(vocabulary_path, merges_path)
    view = expect(parse(vocabulary, vocabulary_path), dict, "the file", vocabulary_path)
    tokens = [_token(name, entry, vocabulary_path) for name, entry in view.items()]
    ids = [_number(name, vocabulary_path) for name in view]
    top = expect(parse(merges, merges_path), dict, "the file", merges_path)
    if list(top) != ["merges"]:
        raise CorruptFileError(
            f"the file should have the key 'merges' only, not {show(list(top))}.", path=merges_path
        )
    entries = expect(top["merges"], list, "merges", merges_path)
    model = BpeModel([_merge(rank, entry, merges_path) for rank, entry in enumerate(entries)])
    definition = Definition(
        tokens=id_table(ids, tokens, vocabulary_path),
        model=model,
        pretokenizer=Pretokenizer(None),
    )
    check(definition, place)
    _check_ids(definition, model, place)
    return definition


def _number(name: str, path: str | None) -> int:
    if not (name.isascii() and name.isdigit() and str(int(name[:10])) == name):
        raise CorruptFileError(
            f"the key {show(name)} is not an id.",
            path=path,
            value=name,
            hint='Ids are written as "256".',
        )
    return int(name)


def _token(name: str, entry: Any, path: str | None) -> bytes:
    token = expect(entry, dict, f"entry {show(name)}", path)
    numbers = expect(token.get("bytes"), list, f"bytes of {show(name)}", path)
    if not set(map(type, numbers)) <= {int} or not all(0 <= byte <= 255 for byte in numbers):
        shown = show(numbers)
        raise CorruptFileError(f"bytes of {show(name)} should be 0 to 255, not {shown}.", path=path)
    found = bytes(numbers)
    if token.keys() != {"bytes", "text"} or token["text"] != found.decode("latin-1"):
        raise CorruptFileError(
            f"entry {show(name)} should be its bytes and their text in Latin-1, not {show(token)}.",
            path=path,
            value=token,
            hint="Copy the file again, or undo the last edit.",
        )
    return found


def _merge(rank: int, entry: Any, path: str | None) -> tuple[int, int, int]:
    pair = entry[0] if isinstance(entry, list) and len(entry) == 2 else None
    if not isinstance(pair, list) or len(pair) != 2:
        raise CorruptFileError(
            f"merge {rank} should be a pair of ids and an id, not {show(entry)}.",
            path=path,
            value=entry,
            hint="Write it as [[97, 110], 256].",
        )
    where = f"merge {rank}"
    left, right = (expect(part, int, where, path) for part in pair)
    return left, right, expect(entry[1], int, where, path)


def _check_ids(definition: Definition, model: BpeModel, place: Place) -> None:
    for byte in range(256):
        if definition.tokens[byte : byte + 1] != [bytes([byte])]:
            raise VocabError(
                f"id {byte} should be the byte {byte} in this format.",
                path=place.path,
                value=byte,
                hint='Train with byte_order="value" and without special_first, or save it '
                'with format="huggingface".',
            )
    made_by_merges = {made for _, _, made in model.merges}
    for i, token in enumerate(definition.tokens):
        if i > 255 and token is not None and i not in made_by_merges:
            raise VocabError(
                f"no merge makes token {i}, {show(token)}; in this format every token except the "
                "bytes needs one.",
                path=place.path,
                value=i,
                hint="Were the two files saved together?" if place.path else _OTHER,
            )
    before = -1
    for rank, (left, right, made) in enumerate(model.merges):
        if made <= before:
            tokens = definition.tokens
            problem = (
                f"{show(tokens[left])} + {show(tokens[right])} makes id {made}, which is not above "
                "that of the previous merge; this format merges by id."
            )
            raise place.bad_merge(rank, problem, made, _OTHER)
        before = made
