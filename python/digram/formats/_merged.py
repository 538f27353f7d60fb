"""SentencePiece's BPE for formats that store merges or that other programs read as merges.

The scores become merges with the same result (see `_scores`), and the stage `SentencePiece` becomes
those of a tokenizer.json of Llama 2: the symbol "▁" is a space, and a space is put before a text.
Where another library would give other ids, there is an error.
"""

from __future__ import annotations

from dataclasses import replace

from digram.errors import VocabError
from digram.formats._gguf_unknown import SYMBOL
from digram.formats._scores import merges_of
from digram.formats._show import show
from digram.pretokenizers.normalizers import Normalizer, Prepend, Replace, SentencePiece
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.scores import ScoredModel
from digram.vocab.special_tokens import Matching

__all__ = ["in_stages", "merged"]

_BACK = Replace(SYMBOL, " ")
_OTHERS = ([_BACK], [_BACK, Prepend(" ")])
"""The normalizers of tokenizers that have real spaces in place of the symbol."""

_HINT = 'Save it with format="sentencepiece", or with format="digram", which only digram can read.'


def merged(definition: Definition, what: str) -> Definition:
    """A tokenizer with a `ScoredModel` as one with merges, and any other as it is.

    `what` is the kind of file that is to be written, for messages. Raises `VocabError` if no merges
    mean the same, or if no normalizer of other libraries does. Some 10 µs per token.
    """
    model = definition.model
    if not isinstance(model, ScoredModel):
        return definition
    staged = in_stages(definition, what)
    scores = [score or 0.0 for score in model.scores]
    ids = {
        token.decode(): token_id
        for token_id, token in enumerate(definition.tokens)
        if token is not None and model.scores[token_id] is not None
    }
    try:
        merges = merges_of(ids, scores, None)
    except VocabError as error:
        raise VocabError(
            f"{what} has merges, and none mean the scores of this tokenizer: {error.message}",
            value=error.value,
            hint=_HINT,
        ) from None
    fuses = definition.on_unknown != "bytes"
    # A training record is about merges, and that of scores has none.
    return replace(staged, model=BpeModel(merges, fuse_unknown=fuses), training=None)


def in_stages(definition: Definition, what: str) -> Definition:
    """A tokenizer with a `ScoredModel` with the normalizer of others, and any other as it is.

    Raises `VocabError` if no normalizer of other libraries does the same.
    """
    model, cut = definition.model, definition.pretokenizer
    if not isinstance(model, ScoredModel):
        return definition
    if [*cut.normalizer] in _OTHERS and not model.unused:
        return definition
    return replace(
        definition,
        pretokenizer=Pretokenizer(None, normalizer=_stages(definition, model, what)),
        matching={text: _found(text, one) for text, one in definition.matching.items()},
        space_symbol=SYMBOL,
    )


def _found(text: str, one: Matching) -> Matching:
    """How a piece is found; one without spaces is the same in the normalized text."""
    return one if " " in text or SYMBOL in text else replace(one, normalized=False)


def _stages(definition: Definition, model: ScoredModel, what: str) -> list[Normalizer]:
    """The normalizer of other libraries; raises `VocabError` if there is none."""
    cut = definition.pretokenizer
    rules = cut.normalizer[0] if len(cut.normalizer) == 1 else None
    problem = None
    if model.unused:
        problem = "tokens that are split again, as pieces that are not in use"
    elif not isinstance(rules, SentencePiece) or cut.patterns or cut.digits or cut.rules:
        problem = f"the pretokenizer {cut!r} with scores"
    elif rules.charsmap:
        problem = "the map of characters of a SentencePiece normalizer"
    elif rules.remove_spaces:
        problem = "the removal of spaces of a SentencePiece normalizer"
    elif rules.add_space not in ("before", None):
        problem = f"add_space={show(rules.add_space)} of a SentencePiece normalizer"
    elif definition.strip_first_space is not (rules.add_space is not None):
        problem = f"strip_first_space={definition.strip_first_space} with this normalizer"
    elif rules.add_space and definition.matching:
        problem = "user-defined pieces with a space before a text (others put one behind each)"
    if problem is not None:
        raise VocabError(f"{what} cannot store {problem}.", value=cut, hint=_HINT)
    assert isinstance(rules, SentencePiece)
    return [_BACK, *([Prepend(" ")] if rules.add_space else [])]
