"""The layout of ids in a new vocabulary: base, merges, special tokens, reserved ids, padding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from digram import _core
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.merge_loop import Learned, Start
from digram.training.options import TrainOptions, base_tokens, room_for_merges
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition, TrainingRecord
from digram.vocab.reserved_ids import blocks, padded, with_blocks
from digram.vocab.rule_tokens import preferring, protecting
from digram.vocab.settings import Unit

__all__ = ["preferred_first", "reserved_of", "start_of", "tokenizer_of"]


def start_of(options: TrainOptions, counts: _core.Counts | _core.SortedCounts, unit: Unit) -> Start:
    """The start of merging, with the maximum number of merges; `unit` is that of the counts."""
    special, reserved = len(options.special), sum(reserved_of(options).values())
    shift = special if options.special_first else 0
    base = base_tokens(options, counts)
    if options.pretokenizer.rules is not None:
        begun = _begun(base, options, unit)
        room = room_for_merges(options.vocab_size, begun.vocab_size, special, reserved)
        return Start(begun, False, room, shift)
    with_bytes = options.on_unknown == "bytes"
    first = len(base) + 256 * with_bytes
    room = room_for_merges(options.vocab_size, first, special, reserved)
    return Start(base, with_bytes, room, shift)


def tokenizer_of(options: TrainOptions, found: Learned, more: Mapping[str, Any]) -> Tokenizer:
    """Make the tokenizer from the learned merges. `more` are further options for the record."""
    shift, tokens = found.start.shift, found.tokens
    first_special = 0 if options.special_first else len(tokens)
    begun, reserved = found.start.base, reserved_of(options)
    given = begun._model.merges() if isinstance(begun, Tokenizer) else []
    record = found.record({**options.recorded(reserved), **more})
    definition = Definition(
        tokens=[None] * shift + tokens,
        model=BpeModel(
            [(a + shift, b + shift, id + shift) for a, b, id in given] + found.merges,
            ignore_merges=options.pretokenizer.rules is not None,
            scheme=found.scheme,
        ),
        pretokenizer=found.cut,
        special_tokens={text: first_special + i for i, text in enumerate(options.special)},
        unit=found.unit,
        on_unknown=options.on_unknown,
        byte_ids=list(range(shift, shift + 256)) if found.start.with_bytes else None,
        training=preferred_first(record, len(given)),
    )
    return Tokenizer(padded(with_blocks(definition, reserved), options.pad_to_multiple))


def reserved_of(options: TrainOptions) -> dict[str, int]:
    """The number of reserved ids by name."""
    return blocks(options.reserve, options.pad_to_multiple, options.special)


def preferred_first(record: TrainingRecord, preferred: int) -> TrainingRecord:
    """The record with preferred merges at the beginning, which have no counts."""
    runners_up, languages = record.runners_up, record.languages
    return replace(
        record,
        counts=[*[None] * preferred, *record.counts],
        runners_up=runners_up and [[] for _ in range(preferred)] + runners_up,
        languages=languages and [*[None] * preferred, *languages],
    )


def _begun(base: str | bytes, options: TrainOptions, unit: Unit) -> Tokenizer:
    """The start of training with rules: the base, the tokens of rules, and preferred merges."""
    cut = options.pretokenizer
    assert cut.rules is not None
    tokens: list[bytes | None] = [bytes([byte]) for byte in base] if isinstance(base, bytes) else []
    definition = Definition(tokens=tokens, model=BpeModel([]), pretokenizer=cut, unit=unit)
    ruled = protecting(definition, cut.rules)
    limit, whole = options.max_token_length, options.whole_characters
    return Tokenizer(preferring(ruled, cut.rules, limit, whole))
