"""Superwords: tokens that span several words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

from digram import _core
from digram._util.progress import differences
from digram._util.progress import progress as progress_bar
from digram._util.validation import choice
from digram.errors import OptionError, show
from digram.pretokenizers.pretokenizer import (
    MISSING,
    Pretokenizer,
    PretokenizerLike,
    Regex,
    resolve,
)
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import (
    Corpora,
    Counting,
    Counts,
    check_made,
    have_first,
    weights_without_names,
)
from digram.training.merge_loop import (
    Learned,
    Reporter,
    Start,
    merge_options,
    merged,
    most_merges,
    unknown_first,
)
from digram.training.options import RunOptions, TrainOptions
from digram.training.spelled_tokens import Spotter
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.schemes import Superwords
from digram.vocab.settings import Unit

__all__ = ["Boundless", "Joins", "SuperwordsLike", "TwoStage", "learned_superwords", "named"]

Joins = Literal["letters", "no_digits", "all"]

LINES = Regex(r"[^\r\n]*\s*[\r\n]+|[^\r\n]+")
"""Lines, each with the line ends and blank lines that follow it."""

LINES_AND_NUMBERS = (Regex(r"\p{N}{1,3}"), Regex(r"[^\r\n]+|[\r\n]+"))
"""Numbers in groups of three digits, and between them the rest of each line."""


@dataclass(frozen=True, slots=True)
class TwoStage:
    r"""SuperBPE: merges inside words up to some size, then merges across words.

    >>> import digram
    >>> text = "of the cat and of the dog and of the cow\n" * 3
    >>> tok = digram.train(text, vocab_size=285, superwords=digram.TwoStage(subwords=270))
    >>> tok.tokens(tok.encode("of the cat\n"))
    [b'of the', b' cat', b'\n']

    `subwords` is the size of the vocabulary at which the second stage begins, without special
    tokens and reserved ids, or the share of merges of the first stage (0.9 leaves one in ten for
    superwords). `pretokenizer` splits text in the second stage and when encoding: by default
    numbers into groups of three digits, and the text between them into lines. The result merges by
    rank like any other tokenizer, so every format that can store the pretokenizer can store it; a
    `tokenizer.json` has two splits.

    Source: Liu, Hayase, Hofmann, Oh, Smith and Choi, "SuperBPE: Space Travel for Language Models",
    COLM 2025 (arXiv 2503.13423).
    """

    subwords: int | float = 0.9
    pretokenizer: PretokenizerLike = LINES_AND_NUMBERS

    kind: ClassVar[str] = "two-stage"

    def __post_init__(self) -> None:
        share = isinstance(self.subwords, float)
        if isinstance(self.subwords, bool) or not (share or isinstance(self.subwords, int)):
            raise TypeError(f"subwords is a size or a share, not {show(self.subwords)}")
        if share and not 0 <= self.subwords <= 1:
            raise OptionError(
                f"subwords={show(self.subwords)} is not a share of the merges, from 0.0 to 1.0.",
                value=self.subwords,
                hint="A size of the vocabulary is a whole number.",
            )
        _check_cut(self.pretokenizer)

    def merges_of_words(self, base: int, max_merges: int | None) -> int | None:
        """The maximum number of merges of the first stage, out of `max_merges`."""
        if isinstance(self.subwords, float):
            return None if max_merges is None else int(max_merges * self.subwords)
        if self.subwords < base or (max_merges is not None and self.subwords > base + max_merges):
            most = "on" if max_merges is None else f"to {base + max_merges}"
            raise OptionError(
                f"subwords={self.subwords} is not a size at which superwords can begin.",
                value=self.subwords,
                hint=f"Choose from {base} {most}; special tokens and reserved ids do not count.",
            )
        return self.subwords - base

    def _metadata(self, words: Pretokenizer) -> dict[str, Any]:
        """The entry in the training record; `words` is the pretokenizer of words."""
        return {"kind": self.kind, "subwords": self.subwords, **_words_metadata(words)}


@dataclass(frozen=True, slots=True)
class Boundless:
    r"""BoundlessBPE: each step merges two parts of a word or two whole words, by frequency.

    >>> import digram
    >>> text = "of the cat and of the dog and of the cow\n" * 3
    >>> tok = digram.train(text, vocab_size=275, superwords=digram.Boundless())
    >>> tok.tokens(tok.encode("of the cat\n"))
    [b'of the', b' cat', b'\n']

    A word can join its neighbours when it is a single token. So no size at which superwords begin
    has to be chosen, and the tokens of a word do not depend on its neighbours. `joins` says which
    words may join: "letters" those with a letter and without digits, "no_digits" all without
    digits, including punctuation, "all" all. `pretokenizer` splits text into pieces, by default
    lines; no superword spans two pieces. `train(pretokenizer=...)` splits the pieces into words.

    Merging words first and then joining them is not merging by rank, so only digram's own format
    can store the result (`save(format="digram")`). `dropout` is not supported.

    Source: Schmidt, Reddy, Tanner and Pinter, "Boundless Byte Pair Encoding: Breaking the
    Pre-tokenization Barrier", COLM 2025 (arXiv 2504.00178), without its removal of tokens.
    """

    joins: Joins = "no_digits"
    pretokenizer: PretokenizerLike = LINES

    kind: ClassVar[str] = "boundless"

    def __post_init__(self) -> None:
        choice("joins", self.joins, *get_args(Joins))
        _check_cut(self.pretokenizer)

    def _metadata(self, words: Pretokenizer) -> dict[str, Any]:
        """The entry in the training record; `words` is the pretokenizer of words."""
        return {"kind": self.kind, "joins": self.joins, **_words_metadata(words)}


def _words_metadata(cut: Pretokenizer) -> dict[str, Any]:
    """The pretokenizer of words: its name or patterns, and the digit policy if there is one."""
    digits = {} if cut.digits is None else {"digits": cut.digits}
    return {"words": cut.name or [*cut.patterns], **digits}


def _check_cut(pretokenizer: PretokenizerLike) -> None:
    """Raises for an invalid pretokenizer, and for one with rules, which superwords would break."""
    if pretokenizer is MISSING:
        return
    cut = resolve(pretokenizer)
    refuse_normalizer(cut)
    rules = cut.rules
    if rules is not None:
        raise OptionError(
            "superwords do not support rules, but the pretokenizer has some.",
            value=rules,
            hint="Pass a pretokenizer without rules=.",
        )


def refuse_normalizer(cut: Pretokenizer) -> None:
    """Raises `OptionError` for a pretokenizer with a normalizer or with patterns of bytes."""
    if cut.byte_patterns:
        raise OptionError(
            "superwords do not support byte_patterns, but the pretokenizer has some.",
            value=cut.byte_patterns,
            hint="Pass a pretokenizer without byte_patterns=.",
        )
    if cut.normalizer:
        raise OptionError(
            "superwords do not support a normalizer, but the pretokenizer has one.",
            value=cut.normalizer,
            hint="Normalize the corpus before, and pass a pretokenizer without normalizer=.",
        )


SuperwordsLike: TypeAlias = Literal["two-stage", "boundless"] | TwoStage | Boundless


def named(superwords: SuperwordsLike) -> TwoStage | Boundless:
    """The method of a name, with its defaults."""
    if isinstance(superwords, TwoStage | Boundless):
        return superwords
    if not isinstance(superwords, str):
        raise TypeError(
            "superwords is a name, or a digram.TwoStage(...) or digram.Boundless(...), not "
            f"{show(superwords)}"
        )
    ways = {way.kind: way for way in (TwoStage, Boundless)}
    if superwords not in ways:
        raise OptionError(
            f"superwords={show(superwords)} is not known.",
            value=superwords,
            hint=f"Choose from {tuple(ways)}, or pass digram.TwoStage(...), digram.Boundless(...).",
        )
    return ways[superwords]()


class _How(NamedTuple):
    """The arguments of both methods."""

    start: Start
    cut: Pretokenizer
    options: TrainOptions
    """With the pretokenizer that splits words."""
    run: RunOptions

    @property
    def max_merges(self) -> int | None:
        """The maximum number of merges."""
        return most_merges(self.start, self.options)

    def merged(
        self,
        counts: _core.Counts,
        start: Start,
        limit: int | None,
        title: str,
        on_merge: Reporter | None = None,
    ) -> Any:
        """Learn merges from counts."""
        return merged(
            counts,
            merge_options(start, limit, self.options, runners_up=self.options.runners_up),
            limit,
            on_merge=on_merge,
            progress=self.run.progress,
            title=title,
        )

    def reporter(self, start: Start, first_rank: int = 0) -> Reporter | None:
        """The function to call with each merge, if there is one."""
        return None if self.run.on_merge is None else Reporter(self.run.on_merge, start, first_rank)

    def learned(self, counted: _Counted, found: Any) -> Learned:
        """The result with final ids."""
        pieces, skipped, max_merges = counted.pieces, counted.skipped, self.max_merges
        return Learned.of(
            self.start, self.cut, "byte", found, pieces, skipped, max_merges, self.options
        )


class _Counted(NamedTuple):
    """The counts of pieces, and of the words in them."""

    pieces: _core.Counts
    words: _core.Counts
    skipped: int


def learned_superwords(
    corpus: Corpora,
    start: Callable[[_core.Counts | _core.SortedCounts, Unit], Start],
    way: TwoStage | Boundless,
    options: TrainOptions,
    run: RunOptions,
    *,
    weights: Mapping[str, Any] | None,
    spotter: Spotter | None = None,
) -> Learned:
    """Count a corpus and learn words and superwords from it.

    The arguments are those of `learned`; the pretokenizer of the options splits words.
    """
    if options.unit != "byte":
        raise OptionError('superwords need bytes: leave out unit="char".', value=options.unit)
    cut = resolve(LINES if way.pretokenizer is MISSING else way.pretokenizer)
    counted = _counted(corpus, cut, options, run, weights, spotter)
    how = _How(start(counted.words, "byte"), cut, options, run)
    return (
        _two_stages(way, counted, how) if isinstance(way, TwoStage) else _joined(way, counted, how)
    )


def _counted(
    corpus: Corpora,
    cut: Pretokenizer,
    options: TrainOptions,
    run: RunOptions,
    weights: Mapping[str, Any] | None,
    spotter: Spotter | None,
) -> _Counted:
    if isinstance(corpus, Counts):
        made = (corpus.pretokenizer, corpus.unit)
        check_made(made, (cut, "byte"), "these counts", "but superwords need", fixed=True)
        if weights is not None:
            raise weights_without_names()
        known, skipped = corpus.has_first, corpus.skipped
        held: _core.Counts | _core.SortedCounts = corpus._held
    else:
        known = not isinstance(corpus, Mapping) or have_first(corpus)
        counting = Counting(cut, "byte", run.threads, run.progress, spotter=spotter)
        held, skipped = counting.count(corpus, weights)
        if spotter is not None:
            spotter.warn()
    if options.ties == "first_seen" and not known:
        raise unknown_first()
    pieces = held.to_memory() if isinstance(held, _core.SortedCounts) else held
    return _Counted(pieces, pieces.cut_again(options.pretokenizer.splitter()), skipped)


def _two_stages(way: TwoStage, counted: _Counted, how: _How) -> Learned:
    """SuperBPE: learn merges from words, then further merges from pieces."""
    max_merges = how.max_merges
    first = way.merges_of_words(len(how.start.tokens()), max_merges)
    inner = how.merged(counted.words, how.start, first, "Words", how.reporter(how.start))
    tokens, merges, counts, runners_up, _ = inner
    again = Start(_plain(tokens, merges, how.cut), shift=how.start.shift)
    rest = None if max_merges is None else max_merges - len(merges)
    outer = how.merged(counted.pieces, again, rest, "Superwords", how.reporter(again, len(merges)))
    tokens, more, more_counts, more_runners_up, stop = outer
    both = tokens, merges + more, counts + more_counts, runners_up + more_runners_up, stop
    return how.learned(counted, both)


def _joined(way: Boundless, counted: _Counted, how: _How) -> Learned:
    """BoundlessBPE: learn words first, since joining does not change them; then interleave."""
    options, max_merges = how.options, how.max_merges
    if options.runners_up:
        raise OptionError(
            "runners_up= is not supported if merges of words and of superwords are interleaved.",
            value=options.runners_up,
        )
    tokens, merges, counts, _, stop_of_words = how.merged(
        counted.words, how.start, max_merges, "Words"
    )
    if max_merges is None:  # no limit was given
        max_merges = _core.MAX_VOCAB_SIZE - len(how.start.tokens())
    with progress_bar(
        "Superwords", total=max_merges, unit="merges", enabled=how.run.progress
    ) as advance:
        made = differences(advance)
        tokens, merges, counts, ranks, stop = _core.join_words(
            counted.pieces,
            _plain(tokens, merges, options.pretokenizer),
            counts,
            _may_join(tokens, way.joins),
            max_merges=max_merges,
            min_frequency=options.floor,
            max_token_length=options.max_token_length,
            whole_characters=options.whole_characters,
            ties=options.ties,
            on_merge=how.reporter(how.start),
            on_progress=made,
        )
        made(len(merges))
    if stop == "no_pairs":  # the stop reason of words applies
        stop = stop_of_words if stop_of_words == "min_frequency" else stop
    found = how.learned(counted, (tokens, merges, counts, [], stop))
    return found._replace(scheme=Superwords(options.pretokenizer, tuple(ranks)))


def _plain(
    tokens: list[bytes], merges: list[tuple[int, int, int]], pretokenizer: Pretokenizer
) -> Tokenizer:
    model = BpeModel(merges)
    return Tokenizer(Definition(tokens=[*tokens], model=model, pretokenizer=pretokenizer))


def _may_join(tokens: list[bytes], joins: Joins) -> list[bool]:
    """Whether each token may be part of a superword."""
    if joins == "all":
        return [True] * len(tokens)
    # A digit or letter is split from a punctuation character after it.
    digits, letters = (Pretokenizer(Regex(one)).splitter() for one in (r"\p{N}", r"\p{L}"))

    def may(token: bytes) -> bool:
        marked = token + b"!"
        if len(digits.split(marked)) > 1:
            return False
        return joins == "no_digits" or len(letters.split(marked)) > 1

    return [may(token) for token in tokens]
