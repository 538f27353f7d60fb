"""Learning merges, for a new vocabulary or one that grows: text is counted, pairs are merged."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from digram import _core
from digram.checkpoint import Checkpoint
from digram.choices import Limits
from digram.counts import (
    Counting,
    Counts,
    Sources,
    check_made,
    check_unit,
    have_first,
    made_with,
    refuse_separator,
    weights_without_names,
)
from digram.definition import StopReason, TrainingRecord, Unit
from digram.errors import OptionError, several
from digram.pretokenizers import MISSING, Pretokenizer, PretokenizerLike, resolve
from digram.progress import differences, note
from digram.progress import progress as progress_bar
from digram.sources import file_stamps, separator_of, settled
from digram.storage import advise_on_full_disk
from digram.tokenizer import Merge, RunnerUp, Tokenizer

__all__ = [
    "Learned",
    "Reporter",
    "Start",
    "learned",
    "most_merges",
    "plain",
    "with_final_ids",
]


class Start(NamedTuple):
    """What merging starts from."""

    base: str | bytes | Tokenizer
    """Characters or bytes in the order of their ids, or a tokenizer whose tokens go on to grow."""
    with_bytes: bool = False
    """Whether the 256 bytes come before the characters."""
    room: int | None = None
    """How many merges there may be, so that the vocabulary has its size."""
    shift: int = 0
    """How many ids come before those of the base."""

    def tokens(self) -> list[bytes]:
        """The bytes of the base, by id, but for the shift; none where an id has no text."""
        if isinstance(self.base, Tokenizer):
            tokens = [token or b"" for token in self.base._model.tokens()]
            return tokens + [b""] * (self.base.vocab_size - len(tokens))
        fallback = [bytes([byte]) for byte in range(256)] if self.with_bytes else []
        if isinstance(self.base, bytes):
            return fallback + [bytes([byte]) for byte in self.base]
        return fallback + [character.encode() for character in self.base]


class Learned(NamedTuple):
    """What was learned, with final ids."""

    start: Start
    cut: Pretokenizer
    unit: Unit
    tokens: list[bytes]
    """Those of the base and those made, by id, but for the shift."""
    merges: list[tuple[int, int, int]]
    counts: list[int]
    runners_up: list[list[tuple[int, int, int]]] | None
    stop_reason: StopReason
    corpus: _core.Counts | _core.SortedCounts
    skipped: int
    ties: str
    languages: list[str | None] | None = None
    """For which each merge was made, where there are languages."""

    def record(self, options: dict[str, Any]) -> TrainingRecord:
        """What a tokenizer says of its training. `options` are the arguments that shaped it."""
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
    source: Sources | Counts,
    start: Callable[[_core.Counts | _core.SortedCounts, Unit], Start],
    *,
    pretokenizer: PretokenizerLike,
    unit: Unit | None,
    limits: Limits,
    decides: Mapping[str, Any],
    ties: str,
    separator: str | bytes | None,
    weights: Mapping[str, Any] | None,
    memory: int | None,
    checkpoint: str | os.PathLike[str] | None,
    on_merge: Callable[[Merge], object] | None,
    progress: bool | None,
) -> Learned:
    """Count a source and learn from it.

    `start` says of the counts what merging starts from. `decides` are the options that the merges
    depend on, as a checkpoint knows the run by; the other arguments are those of `digram.train`.
    """
    if isinstance(source, Counts):
        cut, unit = _made(source, pretokenizer, unit, separator, weights)
        known = source.has_first
    else:
        unit = check_unit("byte" if unit is None else unit)
        cut = resolve("o200k" if pretokenizer is MISSING else pretokenizer)
        known = not isinstance(source, Mapping) or have_first(source)
        source = settled(source, separator)
    if ties == "first_seen" and not known:
        raise _unknown_first()

    with contextlib.ExitStack() as used:
        used.enter_context(advise_on_full_disk())
        point = None
        if checkpoint is not None:
            point = _opened(checkpoint, cut, unit, separator, source, weights, decides)
            used.enter_context(point)
        counting = Counting(cut, unit, separator, limits.threads, progress, memory, point)
        counts, skipped = counting.count(source, weights)
        if point is not None:
            # Of one source the text has a sum.
            point.begin(counts.digest() if isinstance(source, Counts | Mapping) else "")
        begun = start(counts, unit)
        limit = most_merges(begun, limits)
        _say_where_from(point, limit, progress)
        old = begun.base._model.merges() if isinstance(begun.base, Tokenizer) else []
        with progress_bar("Merging", total=limit, unit="merges", enabled=progress) as advance:
            made = differences(advance)
            tokens, merges, merge_counts, next_pairs, stop = _core.train(
                counts,
                begun.base,
                with_bytes=begun.with_bytes,
                max_merges=limit,
                min_frequency=1 if limits.min_frequency is None else limits.min_frequency,
                max_token_length=limits.max_token_length,
                ties=ties,
                runners_up=limits.runners_up,
                memory=None if memory is None else (memory, _folder(point)),
                journal=None if point is None else point.journal,
                on_merge=None if on_merge is None else Reporter(on_merge, begun, len(old)),
                on_progress=made,
            )
            made(len(merges))
    shift = begun.shift
    runners_up = [[(a + shift, b + shift, n) for a, b, n in pairs] for pairs in next_pairs]
    return Learned(
        begun,
        cut,
        unit,
        tokens,
        with_final_ids(begun, merges),
        merge_counts,
        runners_up if limits.runners_up else None,
        "vocab_size" if stop == "max_merges" and limit == begun.room else stop,
        counts,
        skipped,
        ties,
    )


def most_merges(begun: Start, limits: Limits) -> int | None:
    """After how many merges it ends at the latest."""
    return min((n for n in (begun.room, limits.max_merges) if n is not None), default=None)


def with_final_ids(begun: Start, merges: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Merges of the core, whose ids start with the base."""
    shift = begun.shift
    return [(a + shift, b + shift, id + shift) for a, b, id in merges]


def _made(
    counts: Counts,
    pretokenizer: PretokenizerLike,
    unit: Unit | None,
    separator: str | bytes | None,
    weights: Mapping[str, Any] | None,
) -> tuple[Pretokenizer, Unit]:
    """How counts were made, if that is what was asked for."""
    made = counts.pretokenizer, counts.unit
    asked = (
        counts.pretokenizer if pretokenizer is MISSING else resolve(pretokenizer),
        counts.unit if unit is None else check_unit(unit),
    )
    check_made(made, asked, "these counts", "training asked for")
    refuse_separator(separator)
    if weights is not None:
        raise weights_without_names()
    return made


def _unknown_first() -> OptionError:
    return OptionError(
        'ties="first_seen" needs to know where each pretoken first stands, and these counts '
        "do not say it.",
        value="first_seen",
        hint='Choose ties="ids", or count the text with digram.count_pretokens. Subtracting, '
        "without_first and tables without a column `first` lose it.",
    )


def _told(source: Sources | Counts, weights: Mapping[str, Any] | None) -> list[Any]:
    """What a call says of its source, beside the text."""
    if isinstance(source, Counts):
        return ["counts", source.documents]
    if isinstance(source, Mapping):
        return [[repr(name) for name in source], plain(weights or {})]
    return []


def _opened(
    folder: str | os.PathLike[str],
    cut: Pretokenizer,
    unit: Unit,
    separator: str | bytes | None,
    source: Sources | Counts,
    weights: Mapping[str, Any] | None,
    decides: Mapping[str, Any],
) -> Checkpoint:
    """The checkpoint in a folder."""
    counted = [*made_with(cut, unit, source, separator), *_told(source, weights)]
    stamps = None if isinstance(source, Counts | Mapping) else file_stamps(source)
    kind = "text as its source"
    if isinstance(source, Counts):
        kind = f"counts of {several(source.documents, 'document')} as its source"
    elif isinstance(source, Mapping):
        kind = f"the sources {', '.join(map(repr, source))}"
    cuts = [f"pretokenizer=digram.Regex({pattern!r})" for pattern in cut.patterns]
    if cut.name or not cuts:
        cuts = [_argument("pretokenizer", cut.name) if cut.name else "pretokenizer=None"]
    digits = f" with digits={cut.digits!r}" if cut.digits else ""
    unknown = 'on_unknown="bytes"'
    options = {
        "source": kind,
        "weights": _argument("weights", plain(weights) if weights else None),
        "pretokenizer": f"{' then '.join(cuts)}{digits}",
        "unit": _argument("unit", unit),
        "separator": _argument("separator", _written(separator_of(source, separator))),
        **{name: _argument(name, value) for name, value in decides.items()},
        "on_unknown": unknown if decides.get("on_unknown") else f"no {unknown}",
    }
    return Checkpoint(folder, counted, [*decides.values()], stamps, options=options)


def _written(separator: bytes | None) -> str | bytes | None:
    """A separator as one writes it: as text, where it is some."""
    try:
        return None if separator is None else separator.decode()
    except UnicodeDecodeError:
        return separator


def _argument(name: str, value: Any) -> str:
    if value is None:
        return f"no {name}"
    written = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    return f"{name}={written}"


def plain(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Weights as JSON can hold them."""
    return {
        name if isinstance(name, str) else repr(name): w if isinstance(w, int | float) else str(w)
        for name, w in weights.items()
    }


def _say_where_from(point: Checkpoint | None, limit: int | None, progress: bool | None) -> None:
    """Tells whoever watches that merges of an earlier run are taken over."""
    noted = 0 if point is None else point.merges
    if point is not None and noted:
        of = f"{noted:,}" if limit is None else f"{min(noted, limit):,} of {limit:,}"
        note(f"Went on from {of} merges in {point.folder}.", progress)


def _folder(point: Checkpoint | None) -> str | os.PathLike[str]:
    """Where what does not fit into memory goes."""
    return tempfile.gettempdir() if point is None else point.folder


class Reporter:
    """Tells a callback of each merge, in bytes and final ids, and of its language by name."""

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
