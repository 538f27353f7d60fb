"""Training of Unigram: tokens with probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from digram import _core
from digram._util.progress import progress_of_all
from digram._util.validation import real_number, whole_number
from digram.errors import OptionError, several, show
from digram.pretokenizers.normalizers import SentencePiece
from digram.pretokenizers.pretokenizer import MISSING, Pretokenizer, PretokenizerLike, resolve
from digram.pretokenizers.regex import Regex
from digram.pretokenizers.words import SPACE_BEFORE, SPACE_BEHIND
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Corpora, Counts
from digram.training.id_layout import reserved_of
from digram.training.merge_loop import Learned, Merged, Start, learned
from digram.training.options import RunOptions, TrainOptions, alphabet_of
from digram.training.spelled_tokens import Spotter
from digram.vocab.definition import Definition
from digram.vocab.reserved_ids import padded, with_blocks
from digram.vocab.scores import UnigramModel, in_single
from digram.vocab.settings import OnUnknown, Unit
from digram.vocab.special_tokens import SpecialToken

__all__ = ["Unigram", "train_unigram", "unigram_defaults", "unknown_of"]

UNKNOWN = SpecialToken("<unk>")
"""The unknown token, unless another one is named."""
_LONGEST = 1000
"""The greatest length of a token, in characters: files of SentencePiece store 8,000 bytes."""
PENALTY = 10.0
"""The score of an unknown character is so much lower than the lowest one of a token."""
DEFAULT = Pretokenizer(SPACE_BEFORE, normalizer=SentencePiece())
"""How text is cut for learning, unless a pretokenizer is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unigram:
    """Unigram, for `digram.train(..., model=Unigram())`.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", model=digram.Unigram(), vocab_size=12)
    >>> tok.tokens(tok.encode("lowest lower"))
    [b' lowe', b's', b't', b' lowe', b'r']

    Each token has a probability, and a text becomes the tokens whose product of probabilities is
    the highest. Training starts from the `seed_size` substrings of the corpus with the highest
    products of count and length, of at most `max_piece_length` characters. In each round
    expectation maximization, with `sub_iterations` steps, gives them probabilities; then those
    without which the likelihood of the corpus falls least are dropped, so that the share
    `shrinking` of them remains, until the vocabulary has the requested size. The most frequent
    characters that make up the share `character_coverage` of the corpus are always tokens; the
    others are unknown. The defaults are those of SentencePiece. Raises `OptionError` for other
    values. Source: Kudo, "Subword Regularization", ACL 2018.
    """

    seed_size: int = 1_000_000
    shrinking: float = 0.75
    sub_iterations: int = 2
    max_piece_length: int = 16
    character_coverage: float = 0.9995

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("seed_size", whole_number("seed_size", self.seed_size, 1, _core.MAX_VOCAB_SIZE))
        put("sub_iterations", whole_number("sub_iterations", self.sub_iterations, 1, 1000))
        length = whole_number("max_piece_length", self.max_piece_length, 1, _LONGEST)
        put("max_piece_length", length)
        for name, highest in (("shrinking", False), ("character_coverage", True)):
            share = real_number(name, getattr(self, name))
            if not 0 < share < 1 and not (highest and share == 1):
                raise OptionError(
                    f"{name}={share} is not above 0 and {'at most' if highest else 'below'} 1.",
                    value=share,
                )
            put(name, share)

    def _metadata(self) -> dict[str, Any]:
        """The options for the training record."""
        return {
            "kind": "unigram",
            "seed_size": self.seed_size,
            "shrinking": self.shrinking,
            "sub_iterations": self.sub_iterations,
            "max_piece_length": self.max_piece_length,
            "character_coverage": self.character_coverage,
        }


def unigram_defaults(
    counts: Counts | None, unit: Unit | None, on_unknown: OnUnknown, cut: PretokenizerLike
) -> tuple[Unit, OnUnknown, Pretokenizer]:
    """The unit, the rule for unknown characters and the pretokenizer, where they are not given.

    Raises `OptionError` for values that Unigram does not support.
    """
    if unit not in (None, "char"):
        raise OptionError(
            'Unigram needs unit="char", since its tokens are whole characters.',
            value=unit,
            hint='Leave out unit=. on_unknown="bytes" encodes unknown characters as bytes.',
        )
    given = DEFAULT if counts is None else counts.pretokenizer
    words = given if cut is MISSING else resolve(cut)
    if words.rules is not None:
        raise OptionError("Unigram does not support rules.", value=words.rules)
    if counts is None and _is_sentencepiece(words):
        # Words repeat and texts do not, so that words take much less memory.
        stages = words.normalizer
        words = Pretokenizer(_pattern(stages[-1]), normalizer=stages)
    return "char", UNKNOWN if on_unknown == "error" else on_unknown, words


def unknown_of(on_unknown: OnUnknown, words: Pretokenizer) -> tuple[str, ...]:
    """The unknown token, which files of SentencePiece have even if no text becomes it."""
    needs = on_unknown == "bytes" and _is_sentencepiece(_without_words(words))
    return (UNKNOWN.text,) if needs else ()


def _is_sentencepiece(cut: Pretokenizer) -> bool:
    """Whether a pretokenizer is that of a `.model` file, which does not split."""
    stages, is_split = cut.normalizer, cut.patterns or cut.digits or cut.rules
    return bool(stages) and isinstance(stages[-1], SentencePiece) and not is_split


def _pattern(stage: object) -> Regex:
    """The words between which no token reaches."""
    behind = isinstance(stage, SentencePiece) and stage.add_space == "behind"
    return SPACE_BEHIND if behind else SPACE_BEFORE


def _without_words(cut: Pretokenizer) -> Pretokenizer:
    """The pretokenizer for encoding: that of a `.model` file in place of its words."""
    stages = cut.normalizer
    if stages and isinstance(stages[-1], SentencePiece):
        unsplit = Pretokenizer(None, normalizer=stages)
        if cut == Pretokenizer(_pattern(stages[-1]), normalizer=stages):
            return unsplit
    return cut


def train_unigram(
    corpus: Corpora,
    options: TrainOptions,
    way: Unigram,
    run: RunOptions,
    *,
    weights: Mapping[str, Any] | None,
    spotter: Spotter | None,
    more: Mapping[str, Any],
) -> Tokenizer:
    """Count a corpus, learn tokens, and make the tokenizer. `more` are options for the record."""
    scores: list[float] = []
    symbols = _symbols(options.pretokenizer)
    room = _room(options, way, symbols)

    def merge(counts: _core.Counts | _core.SortedCounts, _: Start, limit: int | None) -> Merged:
        with progress_of_all("Pruning", "tokens", run.progress) as tell:
            found, is_full = _core.train_unigram(
                counts,
                pieces=room,
                seeds=way.seed_size,
                min_count=max(2, options.floor),
                max_chars=way.max_piece_length,
                shrinking=way.shrinking,
                steps=way.sub_iterations,
                alphabet=_alphabet(options, symbols),
                limit_alphabet=options.limit_alphabet,
                coverage=way.character_coverage,
                spaces=_spaces(options.pretokenizer),
                symbols=symbols,
                threads=run.threads,
                memory=run.memory,
                on_progress=tell,
            )
        scores.extend(score for _, score in found)
        stop: Literal["max_merges", "min_frequency"] = "max_merges" if is_full else "min_frequency"
        return [token for token, _ in found], [], [], [], stop

    found = learned(
        corpus,
        lambda _counts, _unit: Start("", options.on_unknown == "bytes", room),
        options,
        run,
        deciding_options={**options.deciding_options(), "model": "unigram"},
        weights=weights,
        spotter=spotter,
        merge=merge,
    )
    return _tokenizer(options, way, found, scores, more)


def _symbols(cut: Pretokenizer) -> list[str]:
    """The user-defined tokens: the symbols of the normalizer, with spaces as in other tokens."""
    symbols = {
        symbol.replace("▁", " "): symbol
        for stage in cut.normalizer
        if isinstance(stage, SentencePiece)
        for symbol in stage.symbols
    }
    for text, symbol in symbols.items():
        if not text.strip(" "):
            raise OptionError(
                f"the symbol {show(symbol)} is a space, where words are cut.", value=symbol
            )
    return [*symbols]


def _spaces(cut: Pretokenizer) -> Literal["uncut", "first", "last"]:
    """Where the core cuts at spaces, which those of a pattern have done already."""
    encoding = _without_words(cut)
    if not _is_sentencepiece(encoding):
        return "uncut"
    return "last" if _pattern(encoding.normalizer[-1]) == SPACE_BEHIND else "first"


def _alphabet(options: TrainOptions, symbols: list[str]) -> str | None:
    if options.alphabet is None:
        return None
    named = {*symbols}
    return "".join(one for one in alphabet_of(options.alphabet) if one not in named)


def _room(options: TrainOptions, way: Unigram, symbols: list[str]) -> int:
    """The number of tokens to learn."""
    if options.vocab_size is None:
        raise OptionError(
            "Unigram needs vocab_size: the number of tokens at which it stops dropping others.",
            value=None,
            hint="vocab_size=32_000 is a common size.",
        )
    fallback = 256 if options.on_unknown == "bytes" else 0
    special, reserved = len(options.special), sum(reserved_of(options).values())
    taken = fallback + len(symbols) + special + reserved
    room = options.vocab_size - taken
    if room < 1:
        raise OptionError(
            f"vocab_size={options.vocab_size} leaves no room for tokens of text: "
            f"{several(taken, 'id')} are those of special tokens, symbols and bytes.",
            value=options.vocab_size,
            hint=f"It must be at least {taken + 1}.",
        )
    if way.seed_size < room:
        raise OptionError(
            f"seed_size={way.seed_size} is less than the {room} tokens to learn.",
            value=way.seed_size,
            hint="Raise it, or leave it out.",
        )
    return room


def _with_few_digits(score: float) -> float:
    """A score that Hugging Face's reader of JSON does not round: it has at most 15 digits."""
    return round(score, 12) + 0.0


def _tokenizer(
    options: TrainOptions,
    way: Unigram,
    found: Learned,
    learned_scores: list[float],
    more: Mapping[str, Any],
) -> Tokenizer:
    """Make the tokenizer from the learned tokens. `more` are further options for the record."""
    cut, words = _without_words(found.cut), found.cut.words
    is_sentencepiece = _is_sentencepiece(cut)
    symbols = _symbols(cut)
    first = len(options.special) if options.special_first else 0
    fallback = [bytes([byte]) for byte in range(256)] if options.on_unknown == "bytes" else []
    of_file = in_single if is_sentencepiece else _with_few_digits
    learned_scores = [*map(of_file, learned_scores)]
    unknown = min(learned_scores, default=0.0) - PENALTY
    tokens: list[bytes | None] = [None] * first
    tokens += [*fallback, *(symbol.encode() for symbol in symbols), *found.tokens]
    scores: list[float | None] = [None] * (first + len(fallback))
    scores += [in_single(0.1 * (len(symbol.encode()) - 1)) for symbol in symbols]
    begin = first + len(fallback)
    stage = cut.normalizer[-1] if is_sentencepiece else None
    strips = words is not None and words.last.prefix == " "
    if isinstance(stage, SentencePiece):
        strips = stage.add_space is not None or stage.remove_spaces
    first_special = 0 if options.special_first else len(tokens)
    reserved = reserved_of(options)
    record = found.record({**options.recorded(reserved), **more, "model": way._metadata()})
    definition = Definition(
        tokens=tokens,
        model=UnigramModel(
            [*scores, *learned_scores],
            unknown=in_single(unknown) if is_sentencepiece else unknown,
            addition="single" if is_sentencepiece else "double",
            user_defined=tuple(range(begin, begin + len(symbols))),
        ),
        pretokenizer=cut,
        special_tokens={text: first_special + i for i, text in enumerate(options.special)},
        unit="char",
        on_unknown=options.on_unknown,
        byte_ids=[*range(first, first + 256)] if fallback else None,
        space_symbol=None if words is None else words.last.space_symbol,
        strip_first_space=strips,
        training=replace(record, counts=[], runners_up=None),
    )
    return Tokenizer(padded(with_blocks(definition, reserved), options.pad_to_multiple))
