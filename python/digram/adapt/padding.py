"""What pads a vocabulary's size goes before a change, and comes again after it."""

from __future__ import annotations

from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.reserved_ids import multiple_of, without_padding

__all__ = ["unpadded"]


def unpadded(tok: Tokenizer) -> tuple[Tokenizer, int | None]:
    """The tokenizer without the ids that pad it, and what its size is to be a multiple of."""
    definition = tok.definition
    multiple = multiple_of(definition)
    return (tok if multiple is None else Tokenizer(without_padding(definition))), multiple
