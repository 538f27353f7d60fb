"""Training of WordPiece: joining tokens by count or by likelihood."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

from digram import _core
from digram._util.progress import differences
from digram._util.progress import progress as progress_bar
from digram._util.validation import choice, whole_number
from digram._util.wording import said
from digram.errors import OptionError
from digram.pretokenizers.normalizers import BertNormalizer
from digram.pretokenizers.pretokenizer import MISSING, Pretokenizer, PretokenizerLike, resolve
from digram.pretokenizers.words import BERT_WORDS
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Corpora, Counts
from digram.training.id_layout import reserved_of
from digram.training.merge_loop import Learned, Merged, Reporter, Start, learned, merge_options
from digram.training.options import RunOptions, TrainOptions, alphabet_of, room_for_merges
from digram.training.spelled_tokens import Spotter
from digram.vocab.definition import Definition
from digram.vocab.reserved_ids import padded, with_blocks
from digram.vocab.settings import OnUnknown, Unit
from digram.vocab.special_tokens import SpecialToken
from digram.vocab.wordpiece import MAX_WORD_CHARS, PREFIX, WordPieceModel

__all__ = ["WordPiece", "train_wordpiece", "wordpiece_defaults"]

Rule = Literal["count", "likelihood"]

UNKNOWN = SpecialToken("[UNK]")
"""The unknown token, unless another one is named."""
BERT = Pretokenizer(
    None, normalizer=[BertNormalizer(lowercase=False, strip_accents=False), BERT_WORDS]
)
"""How text is cut into words, unless a pretokenizer is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordPiece:
    """WordPiece, for `digram.train(..., model=WordPiece())`.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", model=digram.WordPiece(), vocab_size=16)
    >>> tok.tokens(tok.encode("lowest lower"))
    [b' low', b'e', b's', b't', b' low', b'e', b'r']

    The letters are tokens, once for the start of a word and once for its inside. Then the best pair
    of adjacent tokens is joined, again and again. `rule` says which one is the best. "count": the
    most frequent pair, as in BPE; this is the rule of Hugging Face's trainer. "likelihood": the
    pair with the highest count divided by the product of the counts of its two tokens, which
    raises the likelihood of the corpus most; Google describes WordPiece so. This rule prefers
    tokens whose parts are rare elsewhere, so use it with `min_frequency`.

    `max_word_chars` and `prefix` are those of `digram.WordPieceModel`. Raises `OptionError` for
    other values.
    """

    rule: Rule = "count"
    max_word_chars: int = MAX_WORD_CHARS
    prefix: str = PREFIX

    def __post_init__(self) -> None:
        choice("rule", self.rule, *get_args(Rule))
        whole_number("max_word_chars", self.max_word_chars, 1)
        if not self.prefix:
            raise OptionError("the prefix of WordPiece is empty.", value=self.prefix)
        WordPieceModel(max_word_chars=self.max_word_chars, prefix=self.prefix).kernel().core()

    def _metadata(self) -> dict[str, Any]:
        """The options for the training record."""
        return {"kind": "wordpiece", "rule": self.rule}


def wordpiece_defaults(
    counts: Counts | None, unit: Unit | None, on_unknown: OnUnknown, cut: PretokenizerLike
) -> tuple[Unit, OnUnknown, Pretokenizer]:
    """The unit, the unknown token and the pretokenizer of WordPiece, where they are not given.

    Raises `OptionError` for values that WordPiece does not support.
    """
    if unit not in (None, "char"):
        raise OptionError(
            'WordPiece needs unit="char", since it has one token for unknown words.',
            value=unit,
            hint="Leave out unit=.",
        )
    if on_unknown == "bytes":
        raise OptionError(
            'on_unknown="bytes" is not supported by WordPiece, in which whole words are unknown.',
            value=on_unknown,
            hint="Pass a special token, as "
            f"""{said('digram.SpecialToken("[UNK]")', "'[UNK]'")}, or leave it out.""",
        )
    unknown = UNKNOWN if on_unknown == "error" else on_unknown
    given = BERT if counts is None else counts.pretokenizer
    words = given if cut is MISSING else resolve(cut)
    _check_words(words)
    return "char", unknown, words


def _check_words(cut: Pretokenizer) -> None:
    """Raises `OptionError` for a pretokenizer whose pretokens do not begin with a space."""
    if cut.rules is not None:
        raise OptionError("WordPiece does not support rules.", value=cut.rules)
    if not all(word.startswith(" ") for word in cut.splitter().split("one two")):
        raise OptionError(
            f"WordPiece needs words with a space before each, which {cut!r} does not make.",
            value=cut,
            hint="Leave out pretokenizer=, or give it a normalizer that ends with "
            "digram.pretokenizers.BERT_WORDS or SPACED_WORDS.",
        )


def _start(
    options: TrainOptions, way: WordPiece, counts: _core.Counts | _core.SortedCounts
) -> Start:
    """The letters from which training starts, as a tokenizer that makes them of words."""
    letters, inner = counts.letters(options.limit_alphabet)
    if options.alphabet is not None:
        letters = alphabet_of(options.alphabet)
        inner = "".join(sorted({*inner} & {*letters}))
    tokens = [*(f" {letter}".encode() for letter in letters), *(one.encode() for one in inner)]
    special = len(options.special)
    room = room_for_merges(
        options.vocab_size, len(tokens), special, sum(reserved_of(options).values())
    )
    # The unknown token of the base has an id of its own, which the new tokenizer leaves out.
    shift = (special if options.special_first else 0) - 1
    return Start(base_of(tokens), False, room, shift)


def base_of(letters: Sequence[bytes]) -> Tokenizer:
    """A tokenizer that makes letters of words, and an unknown token of words with other ones."""
    definition = Definition(
        tokens=[*letters],
        model=WordPieceModel(max_word_chars=sys.maxsize, prefix=""),
        pretokenizer=Pretokenizer(None),
        special_tokens={UNKNOWN.text: len(letters)},
        unit="char",
        on_unknown=UNKNOWN,
    )
    return Tokenizer(definition)


def train_wordpiece(
    corpus: Corpora,
    options: TrainOptions,
    way: WordPiece,
    run: RunOptions,
    *,
    weights: Mapping[str, Any] | None,
    spotter: Spotter | None,
    more: Mapping[str, Any],
) -> Tokenizer:
    """Count a corpus, join tokens, and make the tokenizer. `more` are options for the record."""
    forbid = _forbidden(way)
    found = learned(
        corpus,
        lambda counts, _: _start(options, way, counts),
        options,
        run,
        deciding_options={**options.deciding_options(), "model": f"wordpiece by {way.rule}"},
        weights=weights,
        spotter=spotter,
        forbid=forbid,
        merge=partial(_by_likelihood, options, run, forbid) if way.rule == "likelihood" else None,
    )
    return _tokenizer(options, way, found, more)


def _by_likelihood(
    options: TrainOptions,
    run: RunOptions,
    forbid: _core.Forbidden,
    counts: _core.Counts | _core.SortedCounts,
    begun: Start,
    limit: int | None,
) -> Merged:
    """Join tokens by likelihood in the core."""
    with progress_bar("Joining", total=limit, unit="tokens", enabled=run.progress) as advance:
        made = differences(advance)
        tokens, merges, found, stop = _core.train_by_likelihood(
            counts,
            merge_options(begun, limit, options, forbid=forbid),
            on_merge=None if run.on_merge is None else Reporter(run.on_merge, begun, 0),
            on_progress=made,
        )
        made(len(merges))
    return tokens, merges, found, [], stop


def _forbidden(way: WordPiece) -> _core.Forbidden:
    """Tokens that begin a word and would be written as if they did not."""
    prefix = "".join(f"\\x{{{ord(char):x}}}" for char in way.prefix)
    return _core.Forbidden([], [], [f"(?s: {prefix}.*)"])


def _tokenizer(
    options: TrainOptions, way: WordPiece, found: Learned, more: Mapping[str, Any]
) -> Tokenizer:
    """Make the tokenizer from the learned tokens. `more` are further options for the record."""
    tokens: list[bytes | None] = [token for token in found.tokens if token]
    shift = len(options.special) if options.special_first else 0
    first_special = 0 if options.special_first else len(tokens)
    reserved = reserved_of(options)
    record = found.record({**options.recorded(reserved), **more, "model": way._metadata()})
    definition = Definition(
        tokens=[*[None] * shift, *tokens],
        model=WordPieceModel(max_word_chars=way.max_word_chars, prefix=way.prefix),
        pretokenizer=found.cut,
        special_tokens={text: first_special + i for i, text in enumerate(options.special)},
        unit="char",
        on_unknown=options.on_unknown,
        strip_first_space=True,
        training=replace(record, counts=[], runners_up=None),
    )
    return Tokenizer(padded(with_blocks(definition, reserved), options.pad_to_multiple))
