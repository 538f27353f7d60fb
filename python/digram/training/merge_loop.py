"""The merge loop: count text and learn merges, for a new or an extended vocabulary."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from digram import _core
from digram._util.progress import differences, note
from digram._util.progress import progress as progress_bar
from digram._util.storage import advise_on_full_disk
from digram._util.validation import fraction, mapping
from digram._util.wording import said
from digram.corpus import Corpus
from digram.errors import OptionError, several, show
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.tokenizer.merge import Merge, RunnerUp
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.checkpoint import Checkpoint
from digram.training.counts import (
    Corpora,
    Counting,
    Counts,
    check_made,
    have_first,
    made_with,
    separator_in_words,
    weights_without_names,
)
from digram.training.options import RunOptions, TrainOptions
from digram.training.spelled_tokens import Spotter
from digram.vocab.definition import StopReason, TrainingRecord
from digram.vocab.picky import Picked, learn_events
from digram.vocab.schemes import Scheme
from digram.vocab.settings import Unit

__all__ = [
    "Learned",
    "MergeFunction",
    "Merged",
    "Reporter",
    "Start",
    "learned",
    "merge_options",
    "merged",
    "most_merges",
    "plain",
    "unknown_first",
]

Merged: TypeAlias = tuple[
    list[bytes],
    list[tuple[int, int, int]],
    list[int],
    list[list[tuple[int, int, int]]],
    Literal["max_merges", "min_frequency", "no_pairs"],
]
"""Tokens, merges, counts, runners-up and the stop reason; ids start with those of the base."""

MergeFunction: TypeAlias = Callable[
    [_core.Counts | _core.SortedCounts, "Start", int | None], Merged
]
"""Learns merges from counts, a start, and the maximum number of merges."""


class Start(NamedTuple):
    """The tokens that merging starts from."""

    base: str | bytes | Tokenizer
    """Characters or bytes in the order of their ids, or a tokenizer to extend."""
    with_bytes: bool = False
    """Whether the 256 bytes come before the characters."""
    room: int | None = None
    """The maximum number of merges that the size of the vocabulary allows."""
    shift: int = 0
    """The number of ids before those of the base."""

    def tokens(self) -> list[bytes]:
        """The bytes of the base tokens, by id minus the shift; empty for an id without text."""
        if isinstance(self.base, Tokenizer):
            tokens = [token or b"" for token in self.base._model.tokens()]
            return tokens + [b""] * (self.base.vocab_size - len(tokens))
        fallback = [bytes([byte]) for byte in range(256)] if self.with_bytes else []
        if isinstance(self.base, bytes):
            return fallback + [bytes([byte]) for byte in self.base]
        return fallback + [character.encode() for character in self.base]


class Learned(NamedTuple):
    """The result of learning, with final ids."""

    start: Start
    cut: Pretokenizer
    unit: Unit
    tokens: list[bytes]
    """The tokens of the base and of merges, by id minus the shift."""
    merges: list[tuple[int, int, int]]
    counts: list[int]
    runners_up: list[list[tuple[int, int, int]]] | None
    stop_reason: StopReason
    corpus: _core.Counts | _core.SortedCounts
    skipped: int
    ties: str
    scheme: Scheme | None = None
    languages: list[str | None] | None = None
    """The language for which each merge was made, if there are languages."""

    @classmethod
    def of(
        cls,
        start: Start,
        cut: Pretokenizer,
        unit: Unit,
        found: Merged,
        corpus: _core.Counts | _core.SortedCounts,
        skipped: int,
        limit: int | None,
        options: TrainOptions,
    ) -> Learned:
        """Convert the result of the core to final ids and the stop reason of a tokenizer."""
        shift = start.shift
        tokens, merges, counts, next_pairs, stop = found
        runners_up = [[(a + shift, b + shift, n) for a, b, n in pairs] for pairs in next_pairs]
        return cls(
            start,
            cut,
            unit,
            tokens,
            [(a + shift, b + shift, id + shift) for a, b, id in merges],
            counts,
            runners_up if options.runners_up else None,
            "vocab_size" if stop == "max_merges" and limit == start.room else stop,
            corpus,
            skipped,
            options.ties,
        )

    def record(self, options: dict[str, Any]) -> TrainingRecord:
        """The training record of a tokenizer; `options` are the arguments of training."""
        return TrainingRecord(
            ties=self.ties,
            stop_reason=self.stop_reason,
            documents=self.corpus.documents,
            bytes=self.corpus.bytes,
            pretokens=self.corpus.pretokens,
            distinct_pretokens=len(self.corpus),
            options=options,
            counts=[*self.counts],
            version=_core.__version__,
            runners_up=self.runners_up,
            skipped=self.skipped,
            languages=self.languages,
        )


def learned(
    corpus: Corpora,
    start: Callable[[_core.Counts | _core.SortedCounts, Unit], Start],
    options: TrainOptions,
    run: RunOptions,
    *,
    deciding_options: Mapping[str, Any],
    weights: Mapping[str, Any] | None,
    spotter: Spotter | None = None,
    between: Tokenizer | None = None,
    forbid: _core.Forbidden | None = None,
    merge: MergeFunction | None = None,
) -> Learned:
    """Count a corpus and learn merges from it.

    `start` makes the start of merging from the counts. `deciding_options` are the options that
    determine the merges; a checkpoint identifies the run by them. `between` is a tokenizer whose
    added tokens are left out of the text where they are found in all text. `forbid` are merges that
    are not allowed, and `merge` learns them in another way than by their counts.
    """
    cut, unit = options.pretokenizer, options.unit
    if isinstance(corpus, Counts):
        _check_counts(corpus, options, weights)
        cut, unit, known = corpus.pretokenizer, corpus.unit, corpus.has_first
    else:
        known = not isinstance(corpus, Mapping) or have_first(corpus)
    if options.ties == "first_seen" and not known:
        raise unknown_first()

    with contextlib.ExitStack() as used:
        used.enter_context(advise_on_full_disk())
        point = None
        if run.checkpoint is not None:
            point = _opened(run.checkpoint, cut, unit, corpus, weights, deciding_options)
            used.enter_context(point)
        counting = Counting(
            cut, unit, run.threads, run.progress, run.memory, point, spotter, between
        )
        counts, skipped = counting.count(corpus, weights)
        if spotter is not None:
            spotter.warn()
        if point is not None:
            # The text of a single corpus has a checksum already.
            point.begin(counts.digest() if isinstance(corpus, Counts | Mapping) else "")
        begun = start(counts, unit)
        limit = most_merges(begun, options)
        _say_where_from(point, limit, run.progress)
        if options.picky is not None:
            picked = _picked(counts, begun, options.picky, options, run.progress)
            return Learned(
                begun,
                cut,
                unit,
                picked.tokens,
                [],
                picked.counts,
                None,
                picked.stop_reason,
                counts,
                skipped,
                options.ties,
                picked.scheme,
            )
        if merge is not None:
            found = merge(counts, begun, limit)
            return Learned.of(begun, cut, unit, found, counts, skipped, limit, options)
        old = begun.base._model.merges() if isinstance(begun.base, Tokenizer) else []
        if cut.rules and cut.rules.forbid:
            forbid = cut.rules._forbidden()
        found = merged(
            counts,
            merge_options(begun, limit, options, runners_up=options.runners_up, forbid=forbid),
            limit,
            memory=None if run.memory is None else (run.memory, _folder(point)),
            journal=None if point is None else point.journal,
            on_merge=None if run.on_merge is None else Reporter(run.on_merge, begun, len(old)),
            progress=run.progress,
        )
    return Learned.of(begun, cut, unit, found, counts, skipped, limit, options)


def most_merges(begun: Start, options: TrainOptions) -> int | None:
    """The maximum number of merges."""
    return min((n for n in (begun.room, options.max_merges) if n is not None), default=None)


def merged(
    counts: _core.Counts | _core.SortedCounts,
    options: _core.MergeOptions,
    limit: int | None,
    *,
    memory: tuple[int, str | os.PathLike[str]] | None = None,
    journal: str | os.PathLike[str] | None = None,
    on_merge: Reporter | None = None,
    progress: bool | None,
    title: str = "Merging",
) -> Merged:
    """Learn merges from counts in the core, with a progress bar for the `limit` of the options."""
    with progress_bar(title, total=limit, unit="merges", enabled=progress) as advance:
        made = differences(advance)
        found = _core.train(
            counts,
            options,
            memory=memory,
            journal=journal,
            on_merge=on_merge,
            on_progress=made,
        )
        made(len(found[1]))
    return found


def merge_options(
    begun: Start,
    limit: int | None,
    options: TrainOptions,
    *,
    runners_up: int = 0,
    forbid: _core.Forbidden | None = None,
) -> _core.MergeOptions:
    """The options of training as the core takes them, for at most `limit` merges."""
    return _core.MergeOptions(
        begun.base,
        with_bytes=begun.with_bytes,
        max_merges=limit,
        min_frequency=options.floor,
        max_token_length=options.max_token_length,
        whole_characters=options.whole_characters,
        ties=options.ties,
        runners_up=runners_up,
        forbid=forbid,
    )


def _picked(
    counts: _core.Counts | _core.SortedCounts,
    begun: Start,
    threshold: float,
    options: TrainOptions,
    progress: bool | None,
) -> Picked:
    """Learn from counts by PickyBPE, with a progress bar."""
    assert not isinstance(begun.base, Tokenizer), "PickyBPE starts from single symbols"
    has_size = begun.room is not None
    total, highest = begun.room if has_size else options.max_merges, 0
    with progress_bar(
        "Merging", total=total, unit="tokens" if has_size else "merges", enabled=progress
    ) as advance:

        def made(merges: int, tokens: int) -> None:
            nonlocal highest
            now = tokens if has_size else merges
            # The number of tokens can decrease, but a progress bar should not.
            advance(max(0, now - highest))
            highest = max(highest, now)

        return learn_events(
            counts,
            merge_options(begun, options.max_merges, options),
            begun.base,
            with_bytes=begun.with_bytes,
            threshold=threshold,
            room=begun.room,
            on_progress=made,
        )


def _check_counts(
    counts: Counts,
    options: TrainOptions,
    weights: Mapping[str, Any] | None,
) -> None:
    """Raises if the pretokenizer or unit of counts differ from those requested."""
    made, requested = (counts.pretokenizer, counts.unit), (options.pretokenizer, options.unit)
    check_made(made, requested, "these counts", "but training needs")
    if weights is not None:
        raise weights_without_names()


def unknown_first() -> OptionError:
    """The error for a tie rule that needs first occurrences, which the counts lack."""
    return OptionError(
        'ties="first_seen" needs the first occurrence of each pretoken, but these counts do not '
        "have it.",
        value="first_seen",
        hint='Choose ties="ids", or count the text with '
        f"{said('digram.count_pretokens', 'digram counts make')}. Subtracting, "
        "without_first and tables without a column `first` remove it.",
    )


def _corpus_facts(corpus: Corpora, weights: Mapping[str, Any] | None) -> list[Any]:
    """Facts about the corpus for the checkpoint, other than the text."""
    if isinstance(corpus, Counts):
        return ["counts", corpus.documents]
    if isinstance(corpus, Mapping):
        return [[repr(name) for name in corpus], plain(weights or {})]
    return []


def _opened(
    folder: str | os.PathLike[str],
    cut: Pretokenizer,
    unit: Unit,
    corpus: Corpora,
    weights: Mapping[str, Any] | None,
    deciding_options: Mapping[str, Any],
) -> Checkpoint:
    """Open the checkpoint in a folder."""
    counted = [*made_with(cut, unit, corpus), *_corpus_facts(corpus, weights)]
    stamps = corpus.stamps if isinstance(corpus, Corpus) else None
    kind = "text as its corpus"
    if isinstance(corpus, Counts):
        kind = f"counts of {several(corpus.documents, 'document')} as its corpus"
    elif isinstance(corpus, Mapping):
        kind = f"the corpora {', '.join(map(repr, corpus))}"
    cuts = [f"pretokenizer=digram.Regex({pattern!r})" for pattern in cut.patterns]
    if cut.name or not cuts:
        cuts = [_argument("pretokenizer", cut.name) if cut.name else "pretokenizer=None"]
    digits = f" with digits={cut.digits!r}" if cut.digits else ""
    stages = " then ".join(map(repr, cut.normalizer))
    unknown = 'on_unknown="bytes"'
    options = {
        "corpus": kind,
        "weights": _argument("weights", plain(weights) if weights else None),
        "pretokenizer": f"{' then '.join(cuts)}{digits}",
        "rules": f"rules={cut.rules!r}" if cut.rules else "no rules",
        "normalizer": f"the normalizer {stages}" if stages else "no normalizer",
        "byte_patterns": f"byte_patterns={cut.byte_patterns!r}"
        if cut.byte_patterns
        else "no byte_patterns",
        "unit": _argument("unit", unit),
        "separator": separator_in_words(corpus),
        **{name: _argument(name, value) for name, value in deciding_options.items()},
        "on_unknown": unknown if deciding_options.get("on_unknown") else f"no {unknown}",
    }
    return Checkpoint(
        folder, counted, _distinguishing_values(deciding_options), stamps, options=options
    )


def _distinguishing_values(deciding_options: Mapping[str, Any]) -> list[Any]:
    """The option values that distinguish runs.

    Newer options are included only if they are used, so that older checkpoints remain valid.
    """
    newer = ("whole_characters", "model")
    return [
        value for name, value in deciding_options.items() if value is not None or name not in newer
    ]


def _argument(name: str, value: Any) -> str:
    if value is None:
        return f"no {name}"
    written = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    return f"{name}={written}"


def plain(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Weights as values for JSON. Raises `OptionError` for an invalid weight."""
    mapping("weights", weights, "names and weights")
    for name, weight in weights.items():
        fraction(weight, f"weights[{show(name)}]")
    return {
        name if isinstance(name, str) else repr(name): w if isinstance(w, int | float) else str(w)
        for name, w in weights.items()
    }


def _say_where_from(point: Checkpoint | None, limit: int | None, progress: bool | None) -> None:
    """Print a note if merges of an earlier run are used."""
    noted = 0 if point is None else point.merges
    if point is not None and noted:
        of = f"{noted:,}" if limit is None else f"{min(noted, limit):,} of {limit:,}"
        note(f"Resumed from {of} merges in {point.folder}.", progress)


def _folder(point: Checkpoint | None) -> str | os.PathLike[str]:
    """The folder for data that does not fit into memory."""
    return tempfile.gettempdir() if point is None else point.folder


class Reporter:
    """Calls a callback with each merge: its bytes, final id, and the name of its language."""

    def __init__(
        self,
        on_merge: Callable[[Merge], object],
        start: Start,
        first_rank: int,
        languages: Sequence[str] = (),
    ) -> None:
        self._on_merge = on_merge
        self._languages = languages
        self._tokens = start.tokens()
        self._first = len(self._tokens) - first_rank
        self._shift = start.shift

    def __call__(
        self,
        left: int,
        right: int,
        id: int,
        count: int,
        next_pairs: list[tuple[int, int, int]],
        language: int | None,
    ) -> None:
        tokens = self._tokens
        parts = tokens[left], tokens[right]
        token = parts[0] + parts[1]
        runners_up = tuple(RunnerUp(tokens[a], tokens[b], number) for a, b, number in next_pairs)
        tokens.append(token)
        name = None if language is None else self._languages[language]
        rank, id = id - self._first, id + self._shift
        self._on_merge(Merge(rank, *parts, token, id, count, runners_up, name))
