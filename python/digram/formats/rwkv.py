r"""RWKV's word list, such as `rwkv_vocab_v20230424.txt`: a token of bytes in each line.

A line has an id, the token as Python writes it, and its length in bytes:

    257 '\t\t' 2
    4127 b'\xe2\x80' 2

The longest token is taken at each place of a text (`GreedyModel`). The file has no pretokenizer and
no special tokens; id 0, which models use for the end of a text, is not in it. The ids are those of
RWKV's own tokenizer. (github.com/BlinkDL/ChatRWKV, tokenizer/rwkv_tokenizer.py)
"""

from __future__ import annotations

from os import PathLike
from typing import NoReturn

from digram._util.storage import LARGEST, atomic_write, read_file
from digram._util.validation import path_name
from digram.errors import CorruptFileError, VocabError
from digram.formats._check import Place, check, check_range
from digram.formats._loss import (
    refuse_input,
    refuse_normalizer,
    refuse_reserved,
    refuse_rules,
    refuse_special_tokens,
)
from digram.formats._rwkv_names import literal, of_literal
from digram.formats._show import show
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.definition import Definition
from digram.vocab.greedy import GreedyModel

__all__ = ["dumps", "load", "loads", "read", "write"]

_WHAT = "RWKV's word list"


def read(path: str | PathLike[str]) -> Definition:
    """Read the definition in a word list; see `loads`. Also raises OSError."""
    return loads(read_file(path), path_name(path))


def load(path: str, data: bytes, *_: object) -> Definition:
    """Load a file; it has no pretokenizer, so the other arguments are ignored."""
    return loads(data, path)


def write(definition: Definition, path: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write a word list atomically; see `dumps`. Also raises OSError."""
    atomic_write(path, dumps(definition, allow_loss=allow_loss), LARGEST)


def loads(data: bytes, path: str | None = None) -> Definition:
    """The definition in the bytes of a word list; `path` is for messages.

    Raises `CorruptFileError` with the line for a damaged file, and `VocabError` for a vocabulary
    without all bytes, or with a token or an id twice. Takes some µs per line.
    """
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        at = data.count(b"\n", 0, error.start) + 1
        raise CorruptFileError("the line is not UTF-8.", path=path, line=at) from None
    ids: dict[int, bytes] = {}
    for number, full in enumerate(lines, 1):
        line = full.removesuffix("\r")
        if not line:
            continue
        token_id, token = _of_line(line, number, path)
        if ids.setdefault(token_id, token) != token:
            raise VocabError(
                f"the id {token_id} has two tokens, {show(ids[token_id])} and {show(token)}.",
                path=path,
                line=number,
                value=token_id,
                hint="Remove one of them.",
            )
    check_range(ids, path)
    tokens: list[bytes | None] = [None] * (max(ids, default=-1) + 1)
    for token_id, token in ids.items():
        tokens[token_id] = token
    definition = Definition(tokens=tokens, model=GreedyModel(), pretokenizer=Pretokenizer(None))
    return check(definition, Place(path))


def _of_line(line: str, number: int, path: str | None) -> tuple[int, bytes]:
    """The id and the token of a line."""

    def fail(problem: str) -> NoReturn:
        raise CorruptFileError(
            f"{problem}: {show(line)}.",
            path=path,
            line=number,
            hint="A line has an id, a token as Python writes it, and its length in bytes.",
        )

    first, _, rest = line.partition(" ")
    written, _, last = rest.rpartition(" ")
    if not (_is_number(first) and _is_number(last)):
        fail("the line has no id or no length")
    token = of_literal(written, f"line {number}", path)
    if not token or len(token) != int(last):
        fail(f"the token has {len(token)} bytes")
    return int(first), token


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def dumps(definition: Definition, *, allow_loss: bool = False) -> bytes:
    """The bytes of a word list. They depend only on the tokens.

    Raises `VocabError` for a model other than `GreedyModel`, for a pretokenizer and a normalizer;
    for special tokens, a template and other settings unless `allow_loss` leaves them out.
    """
    model, cut = definition.model, definition.pretokenizer
    if not isinstance(model, GreedyModel):
        raise VocabError(
            f"{_WHAT} means that the longest token is taken, but the model of this tokenizer is of "
            f"the kind {show(model.kind)}.",
            value=model.kind,
            hint='Save it with format="huggingface".',
        )
    refuse_rules(definition, _WHAT)
    refuse_normalizer(definition, _WHAT)
    if cut.patterns or cut.digits:
        raise VocabError(
            f"{_WHAT} means that text is not split, but this tokenizer has {cut!r}.",
            value=cut,
            hint='Save it with format="digram".',
        )
    refuse_special_tokens(definition, _WHAT, allow_loss)
    refuse_input(definition, _WHAT, allow_loss)
    refuse_reserved(definition, _WHAT, allow_loss)
    if b"" in definition.tokens:
        raise VocabError(f"{_WHAT} cannot store the empty token.")
    lines = [
        f"{token_id} {literal(token)} {len(token)}\n"
        for token_id, token in enumerate(definition.tokens)
        if token is not None
    ]
    return "".join(lines).encode()
