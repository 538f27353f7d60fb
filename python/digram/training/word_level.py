"""Training of WordLevel: the most frequent words are the tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from digram import _core
from digram._util.wording import said
from digram.errors import OptionError
from digram.pretokenizers.pretokenizer import MISSING, Pretokenizer, PretokenizerLike, resolve
from digram.pretokenizers.words import SPACED_WORDS
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Corpora, Counts
from digram.training.id_layout import reserved_of
from digram.training.merge_loop import Merged, Start, learned
from digram.training.options import RunOptions, TrainOptions, room_for_merges
from digram.training.spelled_tokens import Spotter
from digram.vocab.definition import Definition
from digram.vocab.reserved_ids import padded, with_blocks
from digram.vocab.settings import OnUnknown, Unit
from digram.vocab.special_tokens import SpecialToken
from digram.vocab.word_level import WordLevelModel

__all__ = ["WordLevel", "train_word_level", "word_level_defaults"]

UNKNOWN = SpecialToken("[UNK]")
"""The unknown token, unless another one is named."""
WORDS = Pretokenizer(None, normalizer=SPACED_WORDS)
"""How text is cut into words, unless a pretokenizer is named: at white space."""


@dataclass(frozen=True, slots=True)
class WordLevel:
    """WordLevel has no options of its own."""


def word_level_defaults(
    counts: Counts | None, unit: Unit | None, on_unknown: OnUnknown, cut: PretokenizerLike
) -> tuple[Unit, OnUnknown, Pretokenizer]:
    """The unit, the unknown token and the pretokenizer of WordLevel, where they are not given.

    Raises `OptionError` for values that WordLevel does not support.
    """
    if unit not in (None, "char"):
        raise OptionError(
            'WordLevel needs unit="char", since it has one token for unknown words.',
            value=unit,
            hint="Leave out unit=.",
        )
    if on_unknown == "bytes":
        raise OptionError(
            'on_unknown="bytes" is not supported by WordLevel, in which whole words are unknown.',
            value=on_unknown,
            hint="Pass a special token, as "
            f"""{said('digram.SpecialToken("[UNK]")', "'[UNK]'")}, or leave it out.""",
        )
    unknown = UNKNOWN if on_unknown == "error" else on_unknown
    given = WORDS if counts is None else counts.pretokenizer
    words = given if cut is MISSING else resolve(cut)
    if words.rules is not None:
        raise OptionError("WordLevel does not support rules.", value=words.rules)
    return "char", unknown, words


def train_word_level(
    corpus: Corpora,
    options: TrainOptions,
    run: RunOptions,
    *,
    weights: Mapping[str, Any] | None,
    spotter: Spotter | None,
    more: Mapping[str, Any],
) -> Tokenizer:
    """Count a corpus, and make a tokenizer of its most frequent words.

    Of equally frequent words those come first whose characters have lower code points, as in the
    trainer of Hugging Face's libraries. A word that is the text of a special token is left out.
    `more` are options for the record.
    """
    found = learned(
        corpus,
        lambda counts, unit: _start(options),
        options,
        run,
        deciding_options=options.deciding_options(),
        weights=weights,
        spotter=spotter,
        merge=partial(_most_frequent, options),
    )
    shift = found.start.shift
    tokens: list[bytes | None] = [*found.tokens]
    first_special = 0 if options.special_first else len(tokens)
    words, reserved = found.cut.words, reserved_of(options)
    recorded = {**options.recorded(reserved), **more, "model": {"kind": WordLevelModel.kind}}
    definition = Definition(
        tokens=[*[None] * shift, *tokens],
        model=WordLevelModel(),
        pretokenizer=found.cut,
        special_tokens={text: first_special + i for i, text in enumerate(options.special)},
        unit="char",
        on_unknown=options.on_unknown,
        strip_first_space=words is not None and words.last.prefix == " ",
        training=replace(found.record(recorded), counts=[], runners_up=None),
    )
    return Tokenizer(padded(with_blocks(definition, reserved), options.pad_to_multiple))


def _start(options: TrainOptions) -> Start:
    """No tokens, and the number of words that the size of the vocabulary allows."""
    special = len(options.special)
    room = room_for_merges(options.vocab_size, 0, special, sum(reserved_of(options).values()))
    return Start("", False, room, special if options.special_first else 0)


def _most_frequent(
    options: TrainOptions,
    counts: _core.Counts | _core.SortedCounts,
    begun: Start,
    limit: int | None,
) -> Merged:
    """The words by falling count, and why there are no more."""
    assert isinstance(counts, _core.Counts), "a memory limit is refused"
    special = {text.encode() for text in options.special}
    special |= {b" " + text for text in special}
    items = [(word, count) for word, count in counts.items(0, len(counts)) if word not in special]
    frequent = [(-count, word) for word, count in items if count >= options.floor]
    words = [word for _, word in sorted(frequent)]
    if limit is not None and limit < len(words):
        return words[:limit], [], [], [], "max_merges"
    return words, [], [], [], "min_frequency" if len(frequent) < len(items) else "no_pairs"
