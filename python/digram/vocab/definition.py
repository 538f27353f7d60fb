"""The definition of a tokenizer as plain values, shared by training, files and the core."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from digram._util.validation import instance
from digram.decoders.decoding import Decoding
from digram.pretokenizers.normalizers import described
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.limits import Padding, Truncation
from digram.vocab.model import Kernel, Model
from digram.vocab.settings import OnUnknown, Side, TrimOffsets, Unit
from digram.vocab.special_roles import SpecialRoles
from digram.vocab.special_tokens import Matching, SpecialToken, flags_of
from digram.vocab.template import Template

if TYPE_CHECKING:
    from digram.vocab.settings import Settings

__all__ = [
    "Definition",
    "Packed",
    "StopReason",
    "TrainingRecord",
    "check_record",
    "digest",
    "digest_of",
    "packed",
]

StopReason = Literal["vocab_size", "max_merges", "min_frequency", "no_pairs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRecord:
    """How a tokenizer was trained; `tok.training`. It does not affect equality or the digest.

    >>> import digram
    >>> record = digram.train("banana", max_merges=1, pretokenizer=None).training
    >>> record.stop_reason, record.bytes, record.counts
    ('max_merges', 6, [2])

    `bytes` and `pretokens` are totals over the corpus, `distinct_pretokens` is the number of
    distinct ones. `counts[r]` is the count of the pair of the merge of rank r in the corpus when it
    was chosen, None if it is not known because an earlier tokenizer was extended. `options` are the
    arguments that determined the result. `runners_up[r]` are the pairs that came next at that step,
    as (left id, right id, count), if they were requested. `skipped` is the number of records of
    files and tables without text, which are skipped only under `on_error="skip"`. `languages[r]` is
    the language for which the merge of rank r was made, in whose text its count was taken, or None
    for all languages; only `train_fair` sets it.
    """

    ties: str
    stop_reason: StopReason
    documents: int
    bytes: int
    pretokens: int
    distinct_pretokens: int
    options: dict[str, Any]
    counts: list[int | None] = field(repr=False)  # one for each merge
    version: str
    runners_up: list[list[tuple[int, int, int]]] | None = field(default=None, repr=False)
    skipped: int = 0
    languages: list[str | None] | None = field(default=None, repr=False)


_OF_RECORD: dict[str, type | UnionType] = {
    **dict.fromkeys(("ties", "stop_reason", "version"), str),
    **dict.fromkeys(("documents", "bytes", "pretokens", "distinct_pretokens", "skipped"), int),
    "options": dict,
    "counts": list,
    **dict.fromkeys(("runners_up", "languages"), list | None),
}


def check_record(record: TrainingRecord) -> None:
    """Check the type of a training record and of its fields.

    Raises `TypeError`. Takes some µs, and some ns for each runner-up.
    """
    instance("training", record, TrainingRecord)
    for name, kind in _OF_RECORD.items():
        value = getattr(record, name)
        if not isinstance(value, kind):
            raise TypeError(f"training.{name} is of type {type(value).__name__}")
    for pairs in record.runners_up or ():
        if not isinstance(pairs, list | tuple) or any(len(pair) != 3 for pair in pairs):
            raise TypeError("training.runners_up contains lists of (left id, right id, count)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A tokenizer as plain values: everything that determines how it encodes.

    >>> import digram
    >>> definition = digram.train("low low", max_merges=2).definition
    >>> definition.tokens[257], definition.model.merges[1]
    (b'low', (256, 119, 257))
    >>> from dataclasses import replace
    >>> digram.Tokenizer(replace(definition, special_tokens={"<s>": 258})).special_tokens
    {'<s>': 258}

    `tokens[id]` are the bytes of an ordinary token; None marks a gap or a special token. `model`
    determines the tokens of a pretoken: a `BpeModel` has the merges. With unit "char" the base
    tokens are characters, `on_unknown` says how other characters are encoded ("error", "bytes", a
    `SpecialToken` of `special_tokens`, or the bytes of an ordinary token that text may become too
    and that no merge uses), and `byte_ids` are the 256 ids of the single bytes if
    they are the fallback. These fields are not part of the model, since every kind of model has
    them.

    `template`, `context_size` and `pad_token` apply only to `tok(text)`: the special tokens around
    a text, the number of tokens for `max_length="context"`, and the special token for padding.

    `special_roles` says which special tokens begin and end texts and so on. `chat_templates` are
    the templates of the model's chats by name, as transformers has them; "default" is the usual
    one. digram keeps both for other programs.

    `matching` says of some special tokens where their text is the token; the others are found
    exactly as written, and only where `special=` allows it.

    `space_symbol` is the symbol that files of other programs write in tokens in place of a space,
    such as "▁". With `strip_first_space` decoded text is without the space that it starts with, and
    in WordPiece special tokens are words too. With `cleanup`, for WordPiece, it is also without
    spaces before punctuation and some endings.

    `decoding` is how ids become text, if that is by steps; then the two fields before do not apply
    to decoded text.

    `dropout` is the probability with which other libraries leave out merges in every call, as a
    tokenizer.json may say it for training a model; None for none. digram keeps it, and leaves out
    merges only where a call says so, as in `tok.encode(text, dropout=tok.dropout, seed=1)`.

    `trim_offsets` says that the offsets of `tok(text)` leave out the spaces at the ends of tokens,
    as a post-processor of a tokenizer.json may say: "spaces", or "spaces but the prefix", of which
    the first token of a text keeps one.

    `truncation` and `padding` are kept as a tokenizer.json has them. They apply only to calls that
    say so, as in `tok(texts, **tok.call_options)`. `truncation_side` and `padding_side` are the
    sides, "left" or "right", of calls that do not say which. Like the training record these four
    are not in the digest.

    `reserved` maps names to blocks of ids, those of the special tokens `<|name_0|>`, `<|name_1|>`,
    ...

    A definition is not checked; `digram.Tokenizer(definition)` raises `VocabError` if it is
    inconsistent.
    """

    tokens: list[bytes | None]
    model: Model
    pretokenizer: Pretokenizer
    special_tokens: dict[str, int] = field(default_factory=dict)
    unit: Unit = "byte"
    on_unknown: OnUnknown = "error"
    byte_ids: list[int] | None = None
    template: Template | None = None
    context_size: int | None = None
    pad_token: str | None = None
    special_roles: SpecialRoles = SpecialRoles()  # noqa: RUF009 - it is immutable
    chat_templates: dict[str, str] = field(default_factory=dict)
    matching: dict[str, Matching] = field(default_factory=dict)
    space_symbol: str | None = None
    strip_first_space: bool = False
    cleanup: bool = False
    decoding: Decoding | None = None
    dropout: float | None = None
    trim_offsets: TrimOffsets | None = None
    truncation: Truncation | None = None
    padding: Padding | None = None
    truncation_side: Side = "right"
    padding_side: Side = "right"
    reserved: dict[str, range] = field(default_factory=dict)
    training: TrainingRecord | None = None


_KEPT = (
    *("context_size", "pad_token", "space_symbol", "strip_first_space", "cleanup", "dropout"),
    "trim_offsets",
)
"""Settings that the digest includes as they are, if they are set."""


class Packed(NamedTuple):
    """Tokens and merges as input of the digest; numbers are 64 bits, little-endian.

    A model of another kind has its own numbers instead of merges (`Model.rows`).
    """

    tokens: int
    """One more than the highest id."""
    merges: int
    lengths: bytes
    """The length of each token by id, -1 for none."""
    spelled: bytes
    """The bytes of all tokens, one after the other."""
    triples: bytes
    """The left id, the right id and the resulting id of each merge, in rank order."""


def packed(definition: Definition) -> Packed:
    """Pack the content of a definition; `Model.packed` in the core does the same."""
    tokens, rows = definition.tokens, definition.model.rows()
    end = max((i + 1 for i, token in enumerate(tokens) if token is not None), default=0)
    return Packed(
        end,
        len(rows),
        _numbers(-1 if token is None else len(token) for token in tokens[:end]),
        b"".join([token for token in tokens if token is not None]),
        _numbers(chain.from_iterable(rows)),
    )


def digest(definition: Definition) -> str:
    """SHA-256, in hexadecimal, of everything that determines the behaviour of a tokenizer.

    Two definitions have the same digest if and only if they have the same tokens, merges,
    pretokenizer, special tokens and settings; the training record is not included. Files store the
    digest, so its input must never change: a line of JSON with the settings, the lengths of the
    tokens (-1 for none), their bytes, and the merges, with little-endian numbers of 64 bits. Newer
    settings (template, context size, pad token, dropout, trimming, special roles, chat templates,
    reserved blocks, rules, scheme, normalizer, patterns of bytes, matching, spaces, decoding) are
    included only if they are set. Linear, some 0.2 µs per token.
    """
    special, kernel = definition.special_tokens, definition.model.kernel()
    return digest_of(definition, kernel, special, packed(definition))


def digest_of(
    definition: Definition | Settings,
    kernel: Kernel,
    special_tokens: dict[str, int],
    packed_model: Packed,
) -> str:
    """The digest of a definition whose tokens and merges are packed already."""
    import hashlib
    import json

    unknown = definition.on_unknown
    settings: dict[str, Any] = {
        "unit": definition.unit,
        "on_unknown": _described(unknown),
        "byte_ids": definition.byte_ids,
        "patterns": definition.pretokenizer.patterns,
        "digits": definition.pretokenizer.digits,
        "special_tokens": sorted((i, text) for text, i in special_tokens.items()),
        "tokens": packed_model.tokens,
        "merges": packed_model.merges,
        **kernel.to_dict(),
    }
    if definition.template is not None:
        settings["template"] = [definition.template.single, definition.template.pair]
    if definition.pretokenizer.rules is not None:
        settings["rules"] = definition.pretokenizer.rules.to_dict()
    if definition.pretokenizer.normalizer:
        settings["normalizer"] = described(definition.pretokenizer.normalizer)
    if definition.pretokenizer.byte_patterns:
        settings["byte_patterns"] = definition.pretokenizer.byte_patterns
    if definition.matching:
        settings["matching"] = {t: flags_of(one) for t, one in definition.matching.items()}
    if definition.special_roles is not None and definition.special_roles.to_dict():
        settings["special_roles"] = definition.special_roles.to_dict()
    if definition.chat_templates:
        settings["chat_templates"] = definition.chat_templates
    for name in _KEPT:
        if getattr(definition, name) not in (None, False):
            settings[name] = getattr(definition, name)
    if definition.decoding is not None:
        settings["decoding"] = definition.decoding._described()
    if definition.reserved:
        settings["reserved"] = {n: [ids.start, len(ids)] for n, ids in definition.reserved.items()}
    sha = hashlib.sha256(json.dumps(settings, sort_keys=True).encode() + b"\n")
    for part in (packed_model.lengths, packed_model.spelled, packed_model.triples):
        sha.update(part)
    return sha.hexdigest()


def _described(unknown: OnUnknown) -> object:
    if isinstance(unknown, SpecialToken):
        return {"special": unknown.text}
    return {"token": unknown.decode("latin-1")} if isinstance(unknown, bytes) else unknown


def _numbers(values: Iterable[int]) -> bytes:
    numbers = array("q", values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
