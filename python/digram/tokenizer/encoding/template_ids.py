"""The template of a tokenizer, with ids instead of names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from digram._util.validation import choice, instance, word
from digram.errors import OptionError, show
from digram.tokenizer.encoding.trimming import Trimming
from digram.vocab.settings import Settings, Side
from digram.vocab.special_tokens import named_tokens

if TYPE_CHECKING:  # most tokenizers have none of them
    from digram.vocab.limits import Padding, Truncation
    from digram.vocab.template import Piece, Template

__all__ = ["ADDED", "Layout", "Part"]

ADDED = -1


class Part(NamedTuple):
    """A part of a template: the tokens of text 0 or 1, or a single token if `sequence` is -1."""

    sequence: int
    id: int
    type_id: int


_PLAIN = (Part(0, 0, 0),), (Part(0, 0, 0), Part(1, 0, 1))
"""A text and a pair without a template: the tokens of the texts, with the usual type ids."""


class Layout(NamedTuple):
    """The template of a tokenizer, with ids instead of names, and what else calls need."""

    single: tuple[Part, ...]
    single_plain: tuple[Part, ...]
    pair: tuple[Part, ...] | None
    pair_plain: tuple[Part, ...] | None
    context_size: int | None
    pad_id: int | None
    trimming: Trimming | None
    truncation_side: Side
    padding_side: Side

    @classmethod
    def of(cls, settings: Settings, special_tokens: Mapping[str, int]) -> Layout:
        """The layout of a tokenizer. `OptionError` for names that are not special tokens."""
        size = settings.context_size
        if size is not None and (type(size) is not int or size < 1):
            raise OptionError(
                f"context_size={show(size)} is not a whole number of at least 1.", value=size
            )
        template, padding = settings.template, settings.padding
        if template is not None:
            _check_template(template)
        _check_limits(settings.truncation, padding)
        pad = None if settings.pad_token is None else word("pad_token", settings.pad_token)
        padded = [] if padding is None or padding.id is not None else [padding.token]
        added = [] if template is None else template.tokens
        for name in (*added, *([] if pad is None else [pad]), *padded):
            if name not in special_tokens:
                what = "pad_token" if name == pad else "the template"
                what = "padding" if name in padded else what
                raise OptionError(
                    f"{what} names {show(name)}, which is not a special token of this tokenizer.",
                    value=name,
                    hint=f"{named_tokens(special_tokens)} In Python, with_special_tokens adds one.",
                )
        single, pair = _PLAIN if template is None else _parts_of(template, special_tokens)
        pair_plain = None if pair is None else _plain(pair)
        pad_id = None if pad is None else special_tokens[pad]
        trimming = Trimming.of(settings, special_tokens)
        sides = settings.truncation_side, settings.padding_side
        for name, side in zip(("truncation_side", "padding_side"), sides, strict=True):
            choice(name, side, "left", "right")
        return cls(single, _plain(single), pair, pair_plain, size, pad_id, trimming, *sides)

    def parts(self, pair: bool, add_special_tokens: bool) -> tuple[Part, ...]:
        """The parts for a text, or for a text with its pair, with or without added tokens."""
        if pair:
            parts = self.pair if add_special_tokens else self.pair_plain
        else:
            parts = self.single if add_special_tokens else self.single_plain
        if parts is None:
            raise OptionError(
                "the template of this tokenizer is for single texts.",
                hint="Set one with pair=, as in "
                'with_template(digram.Template("<s> $A", pair="<s> $A $B:1")).',
            )
        return parts


def _plain(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(part for part in parts if part.sequence >= 0)


def _check_template(template: Template) -> None:
    from digram.vocab.template import Template

    instance("template", template, Template)


def _check_limits(truncation: Truncation | None, padding: Padding | None) -> None:
    if truncation is None and padding is None:
        return
    from digram.vocab.limits import Padding, Truncation

    if truncation is not None:
        instance("truncation", truncation, Truncation)
    if padding is not None:
        instance("padding", padding, Padding)


def _parts_of(
    template: Template, special_tokens: Mapping[str, int]
) -> tuple[tuple[Part, ...], tuple[Part, ...] | None]:
    """The parts for a text, and those for a pair."""
    from digram.vocab.template import SEQUENCES

    def parts(pieces: tuple[Piece, ...]) -> tuple[Part, ...]:
        return tuple(
            Part(SEQUENCES.index(name), 0, type_id)
            if name in SEQUENCES
            else Part(ADDED, special_tokens[name], type_id)
            for name, type_id in pieces
        )

    return parts(template.single), None if template.pair is None else parts(template.pair)
