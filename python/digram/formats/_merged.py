"""SentencePiece's BPE for formats that have merges or that other programs read as merges, and back.

The scores become merges with the same result (see `_scores`), and the stage `SentencePiece` becomes
those of a tokenizer.json of Llama 2: the symbol "▁" is a space, and a space is put before a text.
The reverse makes a `.model` of such a file. Where another library would give other ids, there is an
error.
"""

from __future__ import annotations

from dataclasses import replace

from digram.errors import VocabError
from digram.formats._gguf_unknown import SYMBOL
from digram.formats._scores import check_scores, merges_of, scores_of, without
from digram.formats._show import show
from digram.pretokenizers.normalizers import Normalizer, Prepend, Replace, SentencePiece
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.scores import ScoredModel
from digram.vocab.special_tokens import Matching, SpecialToken

__all__ = ["in_stages", "merged", "scored"]

_BACK = Replace(SYMBOL, " ")
_OTHERS = ([_BACK], [_BACK, Prepend(" ")])
"""The normalizers of tokenizers that have real spaces in place of the symbol."""

_IN_JSON = "Save it as a tokenizer.json."
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
    return one if _has_space(text) else replace(one, normalized=False)


def _found_as_given(definition: Definition) -> str | None:
    """A piece with spaces that is found before the text is normalized; None if there is none."""
    found = definition.matching.items()
    return next((text for text, one in found if _has_space(text) and not one.normalized), None)


def _has_space(text: str) -> bool:
    return " " in text or SYMBOL in text


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


def scored(definition: Definition, what: str) -> Definition:
    """A tokenizer of characters with merges as one with a `ScoredModel`, and any other as it is.

    `what` is the kind of file that is to be written, for messages. Raises `VocabError` if no scores
    mean the merges, or if the normalizer `SentencePiece` does something else than that of the
    tokenizer. Some 10 µs per token.
    """
    model = definition.model
    if not isinstance(model, BpeModel) or definition.unit != "char":
        return definition
    _check_scored(definition, model, what)
    byte_ids = set(definition.byte_ids or ())
    ids = {
        token.decode(): token_id
        for token_id, token in enumerate(definition.tokens)
        if token is not None and token_id not in byte_ids
    }
    found = {text for text, one in definition.matching.items() if one.always}
    names = [token.decode(errors="replace") if token else "" for token in definition.tokens]
    scores = scores_of(len(names), model.merges)
    check_scores(names, without(ids, found), scores, model.merges, what, _IN_JSON)
    of_tokens = {*ids.values()}
    rules = SentencePiece(
        add_space="before" if definition.strip_first_space else None,
        remove_spaces=False,
        symbols=tuple(text.replace(" ", SYMBOL) for text in definition.matching),
    )
    return replace(
        definition,
        model=ScoredModel([one if i in of_tokens else None for i, one in enumerate(scores)]),
        pretokenizer=Pretokenizer(None, normalizer=[rules]),
        matching={text: replace(one, normalized=True) for text, one in definition.matching.items()},
        space_symbol=None,
        training=None,
    )


def _check_scored(definition: Definition, model: BpeModel, what: str) -> None:
    """Raise `VocabError` for what surrounds merges and cannot surround scores."""
    cut = definition.pretokenizer
    stages = [*cut.normalizer]
    problem = None
    if stages not in _OTHERS or cut.patterns or cut.digits or cut.rules:
        problem = f"{cut!r}, which is not that of Llama 2 or Gemma"
    elif definition.strip_first_space is not (len(stages) > 1):
        problem = f"strip_first_space={definition.strip_first_space} with this normalizer"
    elif model != BpeModel(model.merges, fuse_unknown=model.fuse_unknown):
        problem = "merges that are not applied by rank alone"
    elif isinstance(definition.on_unknown, SpecialToken | bytes) and not model.fuse_unknown:
        problem = "an unknown token for each of several unknown characters beside each other"
    elif definition.decoding is not None or definition.dropout is not None:
        problem = "a decoder of its own" if definition.decoding else "dropout"
    elif definition.strip_first_space and definition.matching:
        problem = "user-defined pieces with a space before a text (it puts one behind each)"
    elif (spaced := _found_as_given(definition)) is not None:
        cause = "(it finds one where the symbol of spaces stands, too)"
        problem = f"the user-defined piece {show(spaced)} in the given text alone {cause}"
    elif (
        definition.on_unknown == "bytes"
        and (definition.special_roles.unk or "<unk>") not in definition.special_tokens
    ):
        problem = 'a tokenizer without a special token for unknown characters, as "<unk>"'
    if problem is not None:
        raise VocabError(f"{what} cannot store {problem}.", value=cut, hint=_IN_JSON)
