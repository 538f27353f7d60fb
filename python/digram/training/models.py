"""The models that are trained, apart from plain BPE: their names, options and functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from digram._util.validation import choice
from digram.errors import OptionError
from digram.pretokenizers.pretokenizer import (
    MISSING,
    Pretokenizer,
    PretokenizerLike,
    resolve,
)
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.affixed import Affixed, train_affixed
from digram.training.counts import Corpora, Counts
from digram.training.options import RunOptions, TrainOptions
from digram.training.spelled_tokens import Spotter
from digram.training.unigram import Unigram, train_unigram, unigram_defaults, unknown_of
from digram.training.word_level import WordLevel, train_word_level, word_level_defaults
from digram.training.wordpiece import WordPiece, train_wordpiece, wordpiece_defaults
from digram.vocab.settings import OnUnknown, Unit

__all__ = [
    "ModelLike",
    "model_defaults",
    "named_model",
    "needed_special",
    "refuse_beside_model",
    "train_model",
]

ModelLike = Literal["bpe", "wordpiece", "unigram", "wordlevel"] | WordPiece | Unigram
"""A model: its name, or its options."""
Trained: TypeAlias = WordPiece | Unigram | WordLevel | Affixed
"""The options of a model that is not plain BPE."""

_NAMED = {"wordpiece": WordPiece, "unigram": Unigram, "wordlevel": WordLevel}
_OF_LARGE_RUNS = frozenset({"memory_limit", "checkpoint"})
_OF_MERGES = frozenset({"ties", "on_merge", "max_merges", "max_token_length", "whole_characters"})
_OF_ALPHABET = frozenset({"alphabet", "limit_alphabet"})
_HINTS = {
    "max_merges": "Give vocab_size= instead.",
    "max_token_length": "Give Unigram(max_piece_length=...) instead, in characters.",
}


def named_model(model: ModelLike | Affixed) -> Trained | None:
    """The options of a model that is not plain BPE. Raises `OptionError` for an unknown name."""
    if isinstance(model, WordPiece | Unigram | Affixed):
        return model
    choice("model", model, "bpe", *_NAMED)
    return _NAMED[model]() if model != "bpe" else None


def refuse_beside_model(way: Trained, others: Mapping[str, object]) -> None:
    """`OptionError` for options that a model other than BPE does not support.

    `others` are options by name, with None for those that are not given.
    """
    name = next((name for name, kind in _NAMED.items() if isinstance(way, kind)), "bpe")
    what = f"like= with {way.named}" if isinstance(way, Affixed) else f"model={name!r}"
    for option, value in others.items():
        if value is not None and option not in _allowed(way):
            raise OptionError(
                f"{what} and {option}= cannot be combined.",
                value=value,
                hint=_HINTS.get(option, "Leave out one of them.")
                if isinstance(way, Unigram)
                else "Leave out one of them.",
            )


def _allowed(way: Trained) -> frozenset[str]:
    """Options that a model supports, of those that BPE supports and other models may not."""
    if isinstance(way, WordLevel):
        return frozenset()
    if isinstance(way, Affixed):
        return (_OF_LARGE_RUNS | _OF_MERGES | _OF_ALPHABET) - {"memory_limit"}
    if isinstance(way, Unigram):
        return _OF_LARGE_RUNS | _OF_ALPHABET | {"whole_characters"}
    if way.rule == "likelihood":
        return (_OF_MERGES | _OF_ALPHABET) - {"ties"}
    return _OF_LARGE_RUNS | _OF_MERGES | _OF_ALPHABET


def model_defaults(
    way: Trained,
    counts: Counts | None,
    unit: Unit | None,
    on_unknown: OnUnknown,
    cut: PretokenizerLike,
) -> tuple[Unit, OnUnknown, Pretokenizer]:
    """The unit, the rule for unknown characters and the pretokenizer, where they are not given.

    Raises `OptionError` for values that the model does not support.
    """
    if isinstance(way, Affixed):
        assert unit is not None, "the tokenizer that it is like has one"
        assert cut is not MISSING, "the tokenizer that it is like has one"
        return unit, on_unknown, resolve(cut)
    if isinstance(way, WordLevel):
        return word_level_defaults(counts, unit, on_unknown, cut)
    choose = unigram_defaults if isinstance(way, Unigram) else wordpiece_defaults
    return choose(counts, unit, on_unknown, cut)


def needed_special(
    way: Trained, on_unknown: OnUnknown, cut: Pretokenizer, given: tuple[str, ...]
) -> tuple[str, ...]:
    """The given special tokens, and those that the model needs beside them."""
    needed = unknown_of(on_unknown, cut) if isinstance(way, Unigram) else ()
    return given + tuple(text for text in needed if text not in given)


def train_model(
    corpus: Corpora,
    options: TrainOptions,
    way: Trained,
    run: RunOptions,
    *,
    weights: Mapping[str, Any] | None,
    spotter: Spotter | None,
    more: Mapping[str, Any],
) -> Tokenizer:
    """Train the model on a corpus. `more` are options for the record."""
    if isinstance(way, Affixed):
        return train_affixed(corpus, options, way, run, weights=weights, spotter=spotter, more=more)
    if isinstance(way, Unigram):
        return train_unigram(corpus, options, way, run, weights=weights, spotter=spotter, more=more)
    if isinstance(way, WordLevel):
        return train_word_level(corpus, options, run, weights=weights, spotter=spotter, more=more)
    return train_wordpiece(corpus, options, way, run, weights=weights, spotter=spotter, more=more)
