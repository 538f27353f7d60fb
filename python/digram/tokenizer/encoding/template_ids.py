"""The template of a tokenizer, with ids instead of names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from digram._util.validation import instance, word
from digram.errors import OptionError, show
from digram.tokenizer.encoding.trimming import Trimming
from digram.vocab.limits import Padding, Truncation
from digram.vocab.packed import Settings
from digram.vocab.template import SEQUENCES, Piece, Template

__all__ = ["ADDED", "Layout", "Part"]

ADDED = -1

_PLAIN = Template("$A", pair="$A $B:1")
"""The template of tokenizers without one: the tokens of the texts, with the usual type ids."""


class Part(NamedTuple):
    """A part of a template: the tokens of text 0 or 1, or a single token if `sequence` is -1."""

    sequence: int
    id: int
    type_id: int


class Layout(NamedTuple):
    """The template, context size and pad token of a tokenizer, with ids instead of names."""

    single: tuple[Part, ...]
    single_plain: tuple[Part, ...]
    pair: tuple[Part, ...] | None
    pair_plain: tuple[Part, ...] | None
    context_size: int | None
    pad_id: int | None
    trimming: Trimming | None

    @classmethod
    def of(cls, settings: Settings, special_tokens: Mapping[str, int]) -> Layout:
        """The layout of a tokenizer. `OptionError` for names that are not special tokens."""
        size = settings.context_size
        if size is not None and (type(size) is not int or size < 1):
            raise OptionError(
                f"context_size={show(size)} is not a whole number of at least 1.", value=size
            )
        template = _PLAIN if settings.template is None else settings.template
        instance("template", template, Template)
        pad = None if settings.pad_token is None else word("pad_token", settings.pad_token)
        padding = settings.padding
        if settings.truncation is not None:
            instance("truncation", settings.truncation, Truncation)
        if padding is not None:
            instance("padding", padding, Padding)
        padded = [] if padding is None or padding.id is not None else [padding.token]
        for name in (*template.tokens, *([] if pad is None else [pad]), *padded):
            if name not in special_tokens:
                what = "pad_token" if name == pad else "the template"
                what = "padding" if name in padded else what
                raise OptionError(
                    f"{what} names {show(name)}, which is not a special token of this tokenizer.",
                    value=name,
                    hint="Add it by with_special_tokens.",
                )
        single = _parts(template.single, special_tokens)
        pair = None if template.pair is None else _parts(template.pair, special_tokens)
        pair_plain = None if pair is None else _plain(pair)
        pad_id = None if pad is None else special_tokens[pad]
        trimming = Trimming.of(settings, special_tokens)
        return cls(single, _plain(single), pair, pair_plain, size, pad_id, trimming)

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


def _parts(pieces: tuple[Piece, ...], special_tokens: Mapping[str, int]) -> tuple[Part, ...]:
    return tuple(
        Part(SEQUENCES.index(name), 0, type_id)
        if name in SEQUENCES
        else Part(ADDED, special_tokens[name], type_id)
        for name, type_id in pieces
    )
