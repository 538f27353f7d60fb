"""Mistral's `tekken.json`: tokens in the order of ranks, a pattern, and special tokens before them.

The id of a token is its rank plus the number of special tokens, which have the first ids. As in
`.tiktoken` the rank is the order of merging, so the file has no merges. It may have more tokens
than are used: `default_vocab_size` says how many.

Text is never searched for special tokens, as in digram unless it is requested. What the file says
of images, audio and prompts is not part of a tokenizer here.
(github.com/mistralai/mistral-common, src/mistral_common/tokens/tokenizers/tekken.py)
"""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import Error as Base64Error
from binascii import a2b_base64
from os import PathLike
from typing import Any, NoReturn

from digram import _core
from digram._util.storage import LARGEST, atomic_write, read_file
from digram._util.validation import path_name
from digram.errors import CorruptFileError, InternalError, VocabError
from digram.formats._check import check_bytes, check_range, check_special
from digram.formats._findall import from_pattern, to_pattern
from digram.formats._json import dump, expect, parse, unsupported
from digram.formats._loss import ranked_bytes
from digram.formats._ranks import RANKS, check_ranks
from digram.formats._show import show
from digram.vocab.bpe import BpeKernel
from digram.vocab.definition import Definition
from digram.vocab.packed import Compact
from digram.vocab.settings import Settings

__all__ = ["compact", "dumps", "load", "loads", "read", "write"]

_WHAT = "a tekken.json"
_OTHER = 'Save it with format="huggingface".'
_TOP = {
    *("config", "vocab", "special_tokens", "version", "type"),
    *("image", "multimodal", "audio", "model_settings_builder"),
}
_CONFIG = {
    *("pattern", "num_vocab_tokens", "default_vocab_size", "default_num_special_tokens"),
    "version",
}
_VERSION = re.compile(r"v([0-9]{1,4})")
_LAST_WITHOUT = 7
"""The last version whose files may leave out the special tokens, which are then these."""
_BUILT_IN = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]"),
    *("[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    "[TOOL_CONTENT]",
)
_WRITTEN = "v13"
"""The version in files that are written: it is the oldest that decides nothing but prompts."""


def read(path: str | PathLike[str]) -> Definition:
    """Read the definition in a tekken.json; see `loads`. Also raises OSError."""
    return loads(read_file(path), path_name(path))


def load(path: str, data: bytes, *_: object) -> Compact:
    """Load a file; it stores its pretokenizer, so the other arguments are ignored."""
    return compact(data, path)


def write(definition: Definition, path: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write a tekken.json atomically; see `dumps`. Also raises OSError."""
    atomic_write(path, dumps(definition, allow_loss=allow_loss), LARGEST)


def loads(data: bytes, path: str | None = None) -> Definition:
    """The definition in the bytes of a tekken.json; `path` is for messages.

    Special tokens without a name in the file are named `<SPECIAL_20>` and so on, by their ids.
    Raises `CorruptFileError` for a damaged file, `VocabError` for an inconsistent vocabulary and
    for a pattern that does not match all text, and `PatternError` for one that is not supported.
    """
    return compact(data, path).plain()


def compact(data: bytes, path: str | None = None) -> Compact:
    """Like `loads`, but keep the tokens and merges in the core."""
    top = expect(parse(data, path), dict, "the file", path)
    _only(top, _TOP, "", path)
    config = expect(top.get("config"), dict, "config", path)
    _only(config, _CONFIG, "config.", path)
    pattern = expect(config.get("pattern"), str, "config.pattern", path)
    special = _special(top, config, path)
    size = _number(config, "default_vocab_size", path) - len(special)
    entries = expect(top.get("vocab"), list, "vocab", path)
    if not 256 <= size <= len(entries):
        raise VocabError(
            f"config.default_vocab_size is {size + len(special):,}, of which {len(special):,} are "
            f"special tokens, but vocab has {len(entries):,} tokens.",
            path=path,
            value=size,
            hint="Is the file complete?",
        )
    tokens = _tokens(entries[:size], path)
    try:
        model = _core.Model.from_ranks(_core.Ranks([*[None] * len(special), *tokens]))
    except VocabError as error:
        raise VocabError(error.message, path=path, hint=RANKS) from None
    check_special(special, model.token, path)
    check_bytes(list(model.missing_bytes()), path)
    kernel = BpeKernel(ignore_merges=bool(model.unmade()))
    return Compact(model, special, Settings(from_pattern(pattern, path), kernel))


def _only(found: dict[str, Any], known: set[str], where: str, path: str | None) -> None:
    for key in found:
        if key not in known:
            raise unsupported(f"the key {show(where + key)}", path)


def _number(config: dict[str, Any], key: str, path: str | None) -> int:
    value = expect(config.get(key), int, f"config.{key}", path)
    if value < 0:
        raise CorruptFileError(f"config.{key} is {show(value)}.", path=path, value=value)
    return value


def _special(top: dict[str, Any], config: dict[str, Any], path: str | None) -> dict[str, int]:
    """The special tokens by their ids, which are the first."""
    names = _names(top, config, path)
    count = _number(config, "default_num_special_tokens", path)
    check_range([count], path)
    if len(names) > count:
        raise VocabError(
            f"special_tokens has {len(names):,} tokens, but config.default_num_special_tokens is "
            f"{count:,}.",
            path=path,
            value=count,
        )
    names += [f"<SPECIAL_{token_id}>" for token_id in range(len(names), count)]
    found = {name: token_id for token_id, name in enumerate(names)}
    if len(found) < len(names):
        twice = next(name for token_id, name in enumerate(names) if found[name] != token_id)
        raise VocabError(f"special token {show(twice)} occurs twice.", path=path, value=twice)
    return found


def _names(top: dict[str, Any], config: dict[str, Any], path: str | None) -> list[str]:
    version = expect(config.get("version"), str, "config.version", path)
    number = _VERSION.fullmatch(version)
    if number is None:
        raise unsupported(f"config.version {show(version)}", path)
    if top.get("special_tokens") is None:
        if int(number[1]) > _LAST_WITHOUT:
            raise CorruptFileError(
                "special_tokens is missing, which files of version v1 to v7 alone may leave out.",
                path=path,
                value=version,
            )
        return [*_BUILT_IN]
    names = []
    for index, entry in enumerate(expect(top["special_tokens"], list, "special_tokens", path)):
        where = f"special_tokens[{index}]"
        fields = expect(entry, dict, where, path)
        rank = expect(fields.get("rank"), int, f"{where}.rank", path)
        if rank != index:
            raise VocabError(
                f"{where}.rank should be {index}, not {show(rank)}.", path=path, value=rank
            )
        names.append(expect(fields.get("token_str"), str, f"{where}.token_str", path))
        expect(fields.get("is_control"), bool, f"{where}.is_control", path)
    return names


def _tokens(entries: list[Any], path: str | None) -> list[bytes]:
    """The bytes of each token by rank."""
    tokens: list[bytes] = []
    for rank, entry in enumerate(entries):
        try:
            if entry["rank"] != rank:
                break
            tokens.append(a2b_base64(entry["token_bytes"], strict_mode=True))
        except (TypeError, KeyError, ValueError):  # also of base64
            break
    if len(tokens) < len(entries):
        _fail(entries[len(tokens)], len(tokens), path)
    if len(set(tokens)) < len(tokens):
        ranks: dict[bytes, int] = {}
        for rank, token in enumerate(tokens):
            if ranks.setdefault(token, rank) != rank:
                raise VocabError(
                    f"vocab[{rank}] is token {show(token)}, as vocab[{ranks[token]}] is.",
                    path=path,
                    value=token,
                    hint="Keep one of them.",
                )
    return tokens


def _fail(entry: Any, rank: int, path: str | None) -> NoReturn:
    """Raise the error for an entry that could not be read."""
    where = f"vocab[{rank}]"
    fields = expect(entry, dict, where, path)
    found = expect(fields.get("rank"), int, f"{where}.rank", path)
    if found != rank:
        raise VocabError(
            f"{where}.rank should be {rank}, not {show(found)}.", path=path, value=found
        )
    text = expect(fields.get("token_bytes"), str, f"{where}.token_bytes", path)
    try:
        a2b_base64(text, strict_mode=True)
    except (Base64Error, ValueError) as error:
        raise CorruptFileError(
            f"{where}.token_bytes {show(text)} is not base64 ({str(error).lower()}).",
            path=path,
            value=text,
        ) from None
    raise InternalError(f"{where} was refused, but is valid.")


def dumps(definition: Definition, *, allow_loss: bool = False) -> bytes:
    """The bytes of a tekken.json.

    Raises `VocabError` for a tokenizer that the file cannot store: a character vocabulary, merges
    that do not follow from the ranks, special tokens that do not have the first ids, first ordinary
    tokens other than the 256 bytes in order, gaps, a pretokenizer that is not one pattern, tokens
    that are found in all text; and, unless `allow_loss` leaves them out, a template, a context
    size, a pad token and names of reserved ids.
    """
    model = ranked_bytes(definition, _WHAT, allow_loss)
    pattern = to_pattern(definition.pretokenizer, _WHAT, _OTHER)
    if pattern is None:
        raise VocabError(f"{_WHAT} needs a pretokenizer, and this tokenizer has none.", hint=_OTHER)
    names = _first(definition.special_tokens)
    tokens = definition.tokens[len(names) :]
    while tokens and tokens[-1] is None:
        tokens.pop()
    _check_order(definition.tokens[: len(names)], tokens)
    check_ranks(definition.tokens, model, _WHAT)
    vocab = [_entry(rank, token or b"") for rank, token in enumerate(tokens)]
    return dump(
        {
            "config": {
                "pattern": pattern,
                "num_vocab_tokens": len(vocab),
                "default_vocab_size": len(vocab) + len(names),
                "default_num_special_tokens": len(names),
                "version": _WRITTEN,
            },
            "vocab": vocab,
            "special_tokens": [
                {"rank": rank, "token_str": name, "is_control": True}
                for rank, name in enumerate(names)
            ],
        }
    )


def _entry(rank: int, token: bytes) -> dict[str, Any]:
    try:
        text = token.decode()
    except UnicodeDecodeError:
        text = None
    return {"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": text}


def _first(special_tokens: dict[str, int]) -> list[str]:
    """The special tokens by their ids, which must be the first."""
    names = sorted(special_tokens, key=special_tokens.__getitem__)
    for token_id, name in enumerate(names):
        if special_tokens[name] != token_id:
            raise VocabError(
                f"in {_WHAT} the special tokens have the first ids, but {show(name)} has the id "
                f"{special_tokens[name]}, and not {token_id}.",
                value=special_tokens[name],
                hint='Train with special_first=True, or save it with format="huggingface".',
            )
    return names


def _check_order(before: list[bytes | None], tokens: list[bytes | None]) -> None:
    """Raises `VocabError` unless the ordinary tokens follow, the bytes first and in order."""
    wrong = next((one for one in before if one is not None), None)
    at = next((n for n in range(256) if tokens[n : n + 1] != [bytes([n])]), None)
    if wrong is not None or at is not None:
        raise VocabError(
            f"in {_WHAT} the first ordinary tokens are the 256 bytes in the order of their values, "
            "and those of this tokenizer are not.",
            hint=_OTHER,
        )
    if None in tokens:
        raise VocabError(
            f"{_WHAT} has no gaps among ids, but no token has the id "
            f"{tokens.index(None) + len(before)}.",
            hint=_OTHER,
        )
