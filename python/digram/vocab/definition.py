"""What a tokenizer is, as plain values: the meeting point of training, files and the core."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from digram._util.validation import instance
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.model import Kernel, Model
from digram.vocab.special_tokens import SpecialToken
from digram.vocab.template import Template

if TYPE_CHECKING:
    from digram.vocab.packed import Settings

__all__ = [
    "Definition",
    "OnUnknown",
    "Packed",
    "StopReason",
    "TrainingRecord",
    "Unit",
    "check_record",
    "digest",
    "digest_of",
    "packed",
]

Unit = Literal["byte", "char"]
OnUnknown = Literal["error", "bytes"] | SpecialToken
StopReason = Literal["vocab_size", "max_merges", "min_frequency", "no_pairs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRecord:
    """Where a trained tokenizer comes from. It takes no part in equality or in the digest.

    `bytes` and `pretokens` are totals over the corpus, `distinct_pretokens` counts different ones;
    `counts[r]` is how often the pair of the merge of rank r stood in the corpus when it was
    chosen, None where a tokenizer was extended that did not say it; `options` holds the arguments
    that shaped the result. `runners_up[r]` are the pairs that came next at that moment, as
    (left id, right id, count), where they were asked for. `skipped` counts the records of files
    and tables that held no text and were passed over, which happens under `on_error="skip"` alone.
    `languages[r]` is the language that the merge of rank r was made for, in whose text its count
    was taken, or None for all of them; only `train_fair` knows of languages.
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
    """Refuses what is not a training record, and one with fields of other types.

    Raises `TypeError`. Cost: some µs, and for runners-up some ns each.
    """
    instance("training", record, TrainingRecord)
    for name, kind in _OF_RECORD.items():
        value = getattr(record, name)
        if not isinstance(value, kind):
            raise TypeError(f"training.{name} is of type {type(value).__name__}")
    for pairs in record.runners_up or ():
        if not isinstance(pairs, list | tuple) or any(len(pair) != 3 for pair in pairs):
            raise TypeError("training.runners_up holds lists of (left id, right id, count)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """Everything that decides what a tokenizer does.

    `tokens[id]` are the bytes of an ordinary token; None marks a hole or a special token.
    `model` says how a pretoken becomes tokens: a `BpeModel` holds the merges. With unit "char" each
    character is a base token, `on_unknown` says what becomes of the others ("error", "bytes", or a
    `SpecialToken` of `special_tokens`), and `byte_ids` are the 256 ids of the single bytes
    where they are the fallback. These four are not the model's: every kind of model has tokens, a
    unit and text that it has no token for.

    `template`, `context_size` and `pad_token` concern `tok(text)` alone: the special tokens around
    a text, how many tokens `max_length="context"` means, and the special token that pads.

    `reserved` names blocks of ids: those of the special tokens `<|name_0|>`, `<|name_1|>`, ...
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
    reserved: dict[str, range] = field(default_factory=dict)
    training: TrainingRecord | None = None


class Packed(NamedTuple):
    """Tokens and merges as a digest takes them; numbers are 64 bits, the lowest byte first.

    A model of another kind has its own numbers in the place of merges (`Model.rows`).
    """

    tokens: int
    """One more than the highest id."""
    merges: int
    lengths: bytes
    """Of each token by its id, -1 for none."""
    spelled: bytes
    """The bytes of all tokens, one after the other."""
    triples: bytes
    """The left id, the right id and the resulting id of each merge, in rank order."""


def packed(definition: Definition) -> Packed:
    """What is in a definition; `Model.packed` in the core gives the same of a tokenizer."""
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
    """SHA-256, in hexadecimal, of everything that decides what a tokenizer does.

    Two definitions share it exactly when they hold the same tokens, merges, pretokenizer, special
    tokens and settings; where they come from plays no part. Files carry it, so it is fixed for
    good: a line of JSON with the settings, the lengths of the tokens (-1 for none), their bytes,
    and the merges, numbers as 64 bits with the lowest byte first. What came later, the template,
    the context size, the pad token, reserved blocks, rules and the scheme, is among the settings
    only where it is set. Linear, some 0.2 µs a token.
    """
    special, kernel = definition.special_tokens, definition.model.kernel()
    return digest_of(definition, kernel, special, packed(definition))


def digest_of(
    definition: Definition | Settings, kernel: Kernel, special_tokens: dict[str, int], held: Packed
) -> str:
    """The same of a definition in parts, for who has the tokens and merges packed already."""
    import hashlib
    import json

    unknown = definition.on_unknown
    settings: dict[str, Any] = {
        "unit": definition.unit,
        "on_unknown": {"special": unknown.text} if isinstance(unknown, SpecialToken) else unknown,
        "byte_ids": definition.byte_ids,
        "patterns": definition.pretokenizer.patterns,
        "digits": definition.pretokenizer.digits,
        "special_tokens": sorted((i, text) for text, i in special_tokens.items()),
        "tokens": held.tokens,
        "merges": held.merges,
        **kernel.to_dict(),
    }
    if definition.template is not None:
        settings["template"] = [definition.template.single, definition.template.pair]
    if definition.pretokenizer.rules is not None:
        settings["rules"] = definition.pretokenizer.rules.to_dict()
    for name in ("context_size", "pad_token"):
        if getattr(definition, name) is not None:
            settings[name] = getattr(definition, name)
    if definition.reserved:
        settings["reserved"] = {n: [ids.start, len(ids)] for n, ids in definition.reserved.items()}
    sha = hashlib.sha256(json.dumps(settings, sort_keys=True).encode() + b"\n")
    for part in (held.lengths, held.spelled, held.triples):
        sha.update(part)
    return sha.hexdigest()


def _numbers(values: Iterable[int]) -> bytes:
    numbers = array("q", values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
