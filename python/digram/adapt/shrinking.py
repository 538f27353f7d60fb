"""Shrink a vocabulary to one that the same training gives for a smaller size."""

from __future__ import annotations

from digram._util.validation import instance
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.reserved_ids import shrunk

__all__ = ["shrink"]


def shrink(tok: Tokenizer, vocab_size: int) -> Tokenizer:
    """Return the tokenizer that the same training gives for a smaller `vocab_size`.

    >>> import digram
    >>> text = "low low lower lowest"
    >>> tok = digram.train(text, vocab_size=264, special_tokens=["<|end|>"])
    >>> small = digram.shrink(tok, 260)
    >>> small == digram.train(text, vocab_size=260, special_tokens=["<|end|>"])
    True
    >>> small.merges == tok.merges[:3], small.special_tokens
    (True, {'<|end|>': 259})

    So one training run gives every smaller vocabulary. The last merges are removed. The ids above
    them (special tokens, reserved blocks) move down and keep their gaps. The training record is
    that of the smaller run, so the saved bytes are the same too. If the size was padded, the
    smaller one is padded to the same multiple.

    Loaded vocabularies can be shrunk if their ids follow the order of merges, as in `.tiktoken`
    files; otherwise `VocabError` is raised. It is also raised if training in two stages
    (`superwords="two-stage"`) would have learned fewer words for the smaller size. Raises
    `OptionError` if the size is larger than that of `tok` before padding, or too small for a merge.
    Takes time linear in the size of the vocabulary.
    """
    instance("tok", tok, Tokenizer)
    return Tokenizer(shrunk(tok.definition, vocab_size))
