"""Words in the letters of bytes: `ByteLevel` before a model whose tokens have a prefix or a suffix.

Such a model does not get bytes but their letters, each of which is a character at some place of a
word. A letter is never a space, so spaces can mark where words begin and end, whatever text is.
"""

from __future__ import annotations

from itertools import product

from digram.errors import VocabError
from digram.formats._json import unsupported
from digram.formats._letters import LETTERS
from digram.formats._stages import DIGITS
from digram.formats._words import nested, unnested
from digram.pretokenizers.normalizers import Words
from digram.pretokenizers.pretokenizer import Pretokenizer, Regex
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition

__all__ = ["has_all_letters", "in_letters", "is_in_letters", "to_bytes"]


def is_in_letters(cut: Pretokenizer) -> bool:
    """Whether words are written in the letters of bytes."""
    return cut.words is not None and cut.words.last.letters


def in_letters(cut: Pretokenizer, prefix: str, suffix: str, path: str | None) -> Pretokenizer:
    """A pretokenizer of bytes as one of letters, whose words have spaces at their ends.

    Raises `VocabError` for one that splits the letters themselves.
    """
    if cut.byte_patterns:
        raise unsupported("a pre_tokenizer after ByteLevel with tokens that depend on words", path)
    digits = [Regex(DIGITS[cut.digits])] if cut.digits else []
    splits = (*digits, *map(Regex, cut.patterns))
    letters = Words(splits, prefix=prefix, suffix=suffix, letters=True)
    if cut.words is None:
        return Pretokenizer(None, normalizer=[*cut.normalizer, letters])
    words = nested([*unnested(cut.words), letters])
    return Pretokenizer(None, normalizer=[*cut.normalizer[:-1], words])


def to_bytes(cut: Pretokenizer, prefix: str, suffix: str) -> Pretokenizer:
    """The reverse of `in_letters`; raises `VocabError` for what it never gives."""
    assert cut.words is not None
    *rules, letters = unnested(cut.words)
    splits = letters.splits
    if letters != Words(splits, None, prefix, suffix, letters=True) or cut.patterns or cut.rules:
        raise VocabError(
            f"a tokenizer.json with tokens in the letters of bytes cannot store {cut!r}.",
            value=cut,
            hint='Save it with format="digram".',
        )
    before = [nested(rules)] if rules else []
    return Pretokenizer(splits or None, normalizer=[*cut.normalizer[:-1], *before])


def has_all_letters(definition: Definition) -> bool:
    """Whether no text has a letter that is no token, wherever in a word it is."""
    model = definition.model
    if not isinstance(model, BpeModel) or not is_in_letters(definition.pretokenizer):
        return False
    marks = (("", " ") if affix else ("",) for affix in (model.prefix, model.suffix))
    forms = [*product(*marks)]
    tokens = {*definition.tokens}
    return all(f"{a}{letter}{b}".encode() in tokens for letter in LETTERS for a, b in forms)
