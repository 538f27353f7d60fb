"""OpenAI's `.tiktoken`: a line for each token, with its bytes in base64, a space, and its rank.

The rank is the id, and also the order of merging. The file stores neither the merges, which follow
from the ranks, nor the pattern, nor special tokens: the caller names them, as in
`digram.load("ranks.tiktoken", pretokenizer="cl100k")`. The files that OpenAI published are known by
their digests.
"""

from __future__ import annotations

from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from os import PathLike
from typing import TYPE_CHECKING, NoReturn

from digram import _core
from digram._util.storage import LARGEST, atomic_write, read_file
from digram._util.validation import path_name
from digram._util.warning import warn
from digram.errors import (
    CorruptFileError,
    InternalError,
    LimitExceededError,
    OptionError,
    VocabError,
)
from digram.formats._check import check_bytes, check_special, id_table
from digram.formats._loss import (
    ranked,
    refuse_input,
    refuse_matching,
    refuse_normalizer,
    refuse_rules,
    refuse_special_tokens,
)
from digram.formats._published import (
    MISSING,
    PretokenizerLike,
    check_count,
    encoding_of_file,
    encoding_of_name,
    pretokenizer_of,
)
from digram.formats._ranks import RANKS, check_ranks
from digram.formats._show import BOMS, show
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.bpe import BpeKernel
from digram.vocab.packed import Compact
from digram.vocab.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from digram.vocab.definition import Definition

__all__ = [
    "compact",
    "dumps",
    "load",
    "loads",
    "of_ranks",
    "ranks_of",
    "read",
    "spelled",
    "write",
]


def read(
    path: str | PathLike[str],
    *,
    pretokenizer: PretokenizerLike = MISSING,
    encoding: str | None = None,
) -> Definition:
    """Read the definition in a `.tiktoken` file; see `loads`. Also raises OSError."""
    name = path_name(path)
    if pretokenizer is not MISSING or encoding is not None:
        pretokenizer_of(pretokenizer, encoding, name)  # checked before the file is read
    return loads(read_file(path), name, pretokenizer=pretokenizer, encoding=encoding)


def load(path: str, data: bytes, pretokenizer: PretokenizerLike, encoding: str | None) -> Compact:
    """Load a file, with the tokens and merges in the core."""
    return compact(data, path, pretokenizer=pretokenizer, encoding=encoding)


def write(definition: Definition, path: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write a `.tiktoken` file atomically; see `dumps`. Also raises OSError."""
    atomic_write(path, dumps(definition, allow_loss=allow_loss), LARGEST)


def dumps(definition: Definition, *, allow_loss: bool = False) -> bytes:
    """The bytes of a `.tiktoken` file.

    The pretokenizer is not stored; it must be named when the file is loaded. Special tokens are not
    stored either, so they are an error unless `allow_loss` is true; `with_special_tokens` adds them
    again after loading.

    Raises `VocabError` if the ranks would not restore the same ids: for a character vocabulary, for
    merges that are not in the order of their ids, and for merges that differ from those that follow
    from the ranks.
    """
    tokens = ranks_of(definition, "a .tiktoken file")
    refuse_matching(definition, "a .tiktoken file")
    refuse_special_tokens(definition, "a .tiktoken file", allow_loss)
    refuse_input(definition, "a .tiktoken file", allow_loss)
    return spelled(tokens)


def ranks_of(definition: Definition, what: str) -> list[bytes | None]:
    """The tokens by rank; raises `VocabError` if `what`, which has only them, gives other ids."""
    model = ranked(definition, what)
    if definition.unit != "byte":
        raise VocabError(
            f"{what} cannot store a character vocabulary.",
            hint='Save it with format="huggingface".',
        )
    refuse_rules(definition, what)
    refuse_normalizer(definition, what)
    check_ranks(definition.tokens, model, what)
    return definition.tokens


def spelled(tokens: list[bytes | None]) -> bytes:
    """The lines of a `.tiktoken` file."""
    lines = [
        b"%s %d\n" % (b2a_base64(token, newline=False) or _EMPTY, rank)
        for rank, token in enumerate(tokens)
        if token is not None
    ]
    return b"".join(lines)


def loads(
    data: bytes,
    path: str | None = None,
    *,
    pretokenizer: PretokenizerLike = MISSING,
    encoding: str | None = None,
) -> Definition:
    r"""The definition in the bytes of a `.tiktoken` file; `path` is for messages.

    >>> from base64 import b64encode
    >>> data = b"".join(b64encode(bytes([i])) + b" %d\n" % i for i in range(256))
    >>> loads(data + b64encode(b"th") + b" 256\n", pretokenizer="gpt2").model.merges
    [(116, 104, 256)]

    `pretokenizer` names the pattern; `encoding` names a published encoding, which includes pattern
    and special tokens and must have the same number of tokens. Without both, a file with the digest
    of a published one has its encoding. Ranks may have gaps, as in published files at the ids of
    special tokens. Lines may end in CR LF.

    Raises `OptionError` if neither is given for another file, `CorruptFileError` with the line for
    an invalid line, `VocabError` for duplicate tokens or ranks, for missing bytes, and for an
    encoding with another number of tokens.
    """
    return compact(data, path, pretokenizer=pretokenizer, encoding=encoding).plain()


def compact(
    data: bytes,
    path: str | None = None,
    *,
    pretokenizer: PretokenizerLike = MISSING,
    encoding: str | None = None,
) -> Compact:
    """Like `loads`, but keep the tokens and merges in the core.

    The core reads files that are written like the published ones. Python reads all others: files
    with different spacing, and invalid files, in which it finds the line.
    """
    ranks = _in_core(data, path)
    if encoding is None:
        encoding = _encoding(data, path, is_needed=pretokenizer is MISSING)
    cut, published = pretokenizer_of(pretokenizer, encoding, path)
    if encoding is not None:
        check_count(encoding, len(ranks), path)
    return _of(ranks, cut, {} if published is None else dict(published.special_tokens), path)


def _encoding(data: bytes, path: str | None, *, is_needed: bool) -> str | None:
    """The published encoding of a file for which none is named, if one is needed.

    A file with the name of a published one and other bytes is an error then, and otherwise a
    warning: it is probably a part of that file.
    """
    named = encoding_of_name(path)
    if not is_needed and named is None:
        return None
    found = encoding_of_file(data)
    if found is None and named is not None:
        problem = f"the file has the name of that of the encoding {named}, but other bytes."
        hint = "Is it complete? Copy it again, or rename it."
        if is_needed:
            own = 'For a vocabulary of your own name its pretokenizer, as in pretokenizer="cl100k".'
            raise OptionError(problem, path=path, value=named, hint=f"{hint} {own}")
        warn(f"{path}: {problem} {hint}")
    return found if is_needed else None


def of_ranks(
    ranks: Mapping[bytes, int], pretokenizer: Pretokenizer, special_tokens: dict[str, int]
) -> Compact:
    """A tokenizer from tokens and their ranks, which are also the ids.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256}
    >>> of_ranks(ranks, Pretokenizer("gpt2"), {"<s>": 257}).plain().model.merges
    [(116, 104, 256)]

    Raises `VocabError` for ranks that occur twice or are too high, for missing bytes, and for a
    special token with the id or the text of another token.
    """
    tokens = id_table(list(ranks.values()), list(ranks), None)
    return _of(_core.Ranks(tokens), pretokenizer, special_tokens, None)


def _of(
    ranks: _core.Ranks, cut: Pretokenizer, special_tokens: dict[str, int], path: str | None
) -> Compact:
    try:
        model = _core.Model.from_ranks(ranks)
    except VocabError as error:
        raise VocabError(error.message, path=path, hint=RANKS) from None
    check_special(special_tokens, model.token, path)
    check_bytes(list(model.missing_bytes()), path)
    # Without tokens that no merge makes, `ignore_merges` has no effect.
    kernel = BpeKernel(ignore_merges=bool(model.unmade()))
    settings = Settings(pretokenizer=cut, kernel=kernel)
    return Compact(model, special_tokens, settings)


def _in_core(data: bytes, path: str | None) -> _core.Ranks:
    ranks = _core.Ranks.read(data)
    if ranks is not None:
        return ranks
    tokens = _tokens(data, path)
    try:
        return _core.Ranks(tokens)
    except LimitExceededError as error:
        raise LimitExceededError(error.message, path=path) from None


def _tokens(data: bytes, path: str | None) -> list[bytes | None]:
    lines = data.rstrip().splitlines()
    fields = data.split()
    if not lines or list(map(b" ".join, zip(fields[0::2], fields[1::2], strict=False))) != lines:
        fields = _fields(lines, path)  # other spacing, or invalid
    try:
        tokens = list(map(_decoded, fields[0::2]))
        ranks = _ranks(fields[1::2])
        if len(set(tokens)) != len(tokens):
            raise ValueError
        return id_table(ranks, tokens, path)
    except (ValueError, VocabError):
        _fail(lines, path)


_EMPTY = b"="
"""The empty token, as in Whisper's vocabulary; tiktoken reads it."""


def _decoded(token: bytes) -> bytes:
    return b"" if token == _EMPTY else a2b_base64(token, strict_mode=True)


def _fields(lines: list[bytes], path: str | None) -> list[bytes]:
    fields = [line.split() for line in lines]
    if set(map(len, fields)) != {2}:
        _fail(lines, path)
    return [field for pair in fields for field in pair]


def _ranks(fields: list[bytes]) -> list[int]:
    in_order = list(range(len(fields)))
    if fields == [b"%d" % rank for rank in in_order]:
        return in_order
    if not all(map(bytes.isdigit, fields)) or max(map(len, fields)) > 10:
        raise ValueError
    return list(map(int, fields))


def _fail(lines: list[bytes], path: str | None) -> NoReturn:
    """Find the invalid line and raise an error for it."""
    if lines and lines[0].startswith(BOMS):
        raise CorruptFileError(
            "the file starts with a byte order mark.", path=path, hint="Save it without one."
        )
    if not lines:
        raise CorruptFileError("the file is empty.", path=path, hint="Copy it again.")
    tokens: dict[bytes, int] = {}
    ranks: dict[int, int] = {}
    for number, line in enumerate(lines, 1):
        token, rank = _line(line, number, path, last=number == len(lines))
        twice = f"token {show(token)}" if token in tokens else f"rank {rank}"
        other = tokens.setdefault(token, ranks.setdefault(rank, number))
        if other != number:
            raise VocabError(
                f"{twice} also occurs in line {other}.",
                path=path,
                line=number,
                value=line,
                hint="Keep one of them.",
            )
    id_table([*ranks], tokens, path)
    raise InternalError(f"{path}: the file was refused, but all its lines are valid.")


_FORM = "A line is a token in base64, a space and a rank, as in: aGVsbG8= 15339"


def _line(line: bytes, number: int, path: str | None, *, last: bool) -> tuple[bytes, int]:
    fields = line.split()
    if len(fields) == 2 and fields[1].isdigit() and len(fields[1]) <= 10:
        try:
            return _decoded(fields[0]), int(fields[1])
        except Base64Error as error:
            problem = f"{show(fields[0])} is not base64 ({str(error).lower()})."
    elif not fields:
        problem = "the line is empty."
    elif last and len(fields) == 1:
        problem = f"the file ends inside the line {show(line)}."
        raise CorruptFileError(
            problem, path=path, line=number, hint="The file is truncated; copy it again."
        )
    else:
        problem = f"{show(line)} is not a token and a rank."
    raise CorruptFileError(problem, path=path, line=number, value=line, hint=_FORM)
