"""Padding is removed before a change of a vocabulary, and added again after it."""

from __future__ import annotations

from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.reserved_ids import multiple_of, without_padding

__all__ = ["unpadded"]


def unpadded(tok: Tokenizer) -> tuple[Tokenizer, int | None]:
    """The tokenizer without padding ids, and the multiple that its size is padded to."""
    definition = tok.definition
    multiple = multiple_of(definition)
    return (tok if multiple is None else Tokenizer(without_padding(definition))), multiple
