"""What a new vocabulary holds beside its merges: base, special tokens, reserved ids, padding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from digram import _core
from digram._util.validation import flag
from digram.errors import OptionError
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.merge_loop import Learned, Start
from digram.training.options import ByteOrder, Limits, base_tokens, room_for_merges
from digram.vocab.definition import Definition, OnUnknown, TrainingRecord, Unit
from digram.vocab.reserved_ids import blocks, padded, with_blocks
from digram.vocab.rule_tokens import preferring, protecting
from digram.vocab.special_tokens import Special

__all__ = ["Shape", "listed"]


@dataclass(slots=True)
class Shape:
    """How a vocabulary is laid out; the names are those of `digram.train`."""

    limits: Limits
    special_tokens: list[str]
    special_first: bool
    alphabet: list[str] | None
    on_unknown: OnUnknown
    byte_order: ByteOrder
    reserve: Mapping[str, int] | None
    pad_to_multiple: int | None
    ruled: Pretokenizer | None = None
    """The pretokenizer, where it has rules."""
    _reserved: dict[str, int] = field(default_factory=dict)

    def start(self, counts: _core.Counts | _core.SortedCounts, unit: Unit) -> Start:
        """What merging starts from, and how much room it has."""
        special, unknown = self.special_tokens, self.on_unknown
        if isinstance(unknown, Special) and unknown.text not in special:
            special.append(unknown.text)
        self._reserved = blocks(self.reserve, self.pad_to_multiple, special)
        limits = self.limits
        base = base_tokens(
            unit, self.alphabet, limits.limit_alphabet, unknown, self.byte_order, counts
        )
        reserved, shift = (
            sum(self._reserved.values()),
            len(special) if flag("special_first", self.special_first) else 0,
        )
        if self.ruled is not None:
            begun = _begun(base, self.ruled, unit, limits)
            size = begun.vocab_size
            room = room_for_merges(limits.vocab_size, size, len(special), reserved)
            return Start(begun, False, room, shift)
        with_bytes = unknown == "bytes"
        first = len(base) + 256 * with_bytes
        room = room_for_merges(limits.vocab_size, first, len(special), reserved)
        return Start(base, with_bytes, room, shift)

    def tokenizer(self, found: Learned, options: Mapping[str, Any]) -> Tokenizer:
        """The tokenizer of what was learned. `options` go into the record beside those of here."""
        shift, tokens = found.start.shift, found.tokens
        first_special = 0 if flag("special_first", self.special_first) else len(tokens)
        begun = found.start.base
        given = begun.definition.merges if isinstance(begun, Tokenizer) else []
        record = found.record({**self._options(), **options})
        definition = Definition(
            tokens=[None] * shift + tokens,
            merges=[(a + shift, b + shift, id + shift) for a, b, id in given] + found.merges,
            pretokenizer=found.cut,
            special_tokens={text: first_special + i for i, text in enumerate(self.special_tokens)},
            unit=found.unit,
            on_unknown=self.on_unknown,
            byte_ids=list(range(shift, shift + 256)) if found.start.with_bytes else None,
            ignore_merges=self.ruled is not None,
            training=_preferred_first(record, len(given)),
            scheme=found.scheme,
        )
        return Tokenizer(padded(with_blocks(definition, self._reserved), self.pad_to_multiple))

    def _options(self) -> dict[str, Any]:
        limits, multiple = self.limits, self.pad_to_multiple
        return {
            "vocab_size": limits.vocab_size,
            "min_frequency": limits.min_frequency,
            "max_merges": limits.max_merges,
            "max_token_length": limits.max_token_length,
            "byte_order": self.byte_order,
            "special_first": self.special_first,
            # What came later is there only where it was asked for.
            **({"whole_characters": True} if limits.whole_characters else {}),
            **({"limit_alphabet": limits.limit_alphabet} if limits.limit_alphabet else {}),
            **({"reserve": self._reserved} if self._reserved else {}),
            **({"pad_to_multiple": multiple} if multiple else {}),
        }


def listed(special_tokens: Iterable[str]) -> list[str]:
    """Special tokens as a list, each named once; not a text, whose characters would be tokens."""
    if isinstance(special_tokens, str):
        raise TypeError("special_tokens is several texts; put the one in a list")
    special = list(special_tokens)
    if len(set(special)) < len(special):
        twice = next(text for at, text in enumerate(special) if text in special[:at])
        raise OptionError(f"special_tokens= names {twice!r} twice.", value=twice)
    return special


def _preferred_first(record: TrainingRecord, preferred: int) -> TrainingRecord:
    """The record with so many merges more at the beginning, which nobody counted."""
    runners_up = record.runners_up
    return replace(
        record,
        counts=[*[None] * preferred, *record.counts],
        runners_up=runners_up and [[] for _ in range(preferred)] + runners_up,
    )


def _begun(base: str | bytes, cut: Pretokenizer, unit: Unit, limits: Limits) -> Tokenizer:
    """What training begins with under rules: the base, the tokens of rules, preferred merges."""
    assert cut.rules is not None
    tokens: list[bytes | None] = [bytes([byte]) for byte in base] if isinstance(base, bytes) else []
    definition = Definition(tokens=tokens, merges=[], pretokenizer=cut, unit=unit)
    ruled = protecting(definition, cut.rules)
    limit, whole = limits.max_token_length, limits.whole_characters
    return Tokenizer(preferring(ruled, cut.rules, limit, whole))
