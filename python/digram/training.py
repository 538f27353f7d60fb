"""Training: from text to a tokenizer."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from digram import _core
from digram.checkpoint import Checkpoint
from digram.choices import (
    ByteOrder,
    Ties,
    base_tokens,
    check_choices,
    check_limits,
    memory_in_bytes,
    room_for_merges,
    warn_of_a_path,
)
from digram.counts import (
    Counts,
    Sources,
    check_made,
    check_unit,
    count_pretokens,
    count_within,
    fingerprint,
    weights_without_names,
)
from digram.definition import Definition, OnUnknown, StopReason, TrainingRecord, Unit
from digram.errors import OptionError
from digram.pretokenizers import MISSING, Pretokenizer, PretokenizerLike, resolve
from digram.progress import progress as progress_bar
from digram.sizes import blocks, padded, with_blocks
from digram.sources import file_sizes
from digram.special import Special
from digram.tokenizer import Merge, RunnerUp, Tokenizer

__all__ = ["train"]


def train(
    source: Sources | Counts,
    *,
    vocab_size: int | None = None,
    min_frequency: int | None = None,
    max_merges: int | None = None,
    max_token_length: int | None = None,
    unit: Unit | None = None,
    alphabet: Iterable[str] | None = None,
    limit_alphabet: int | None = None,
    on_unknown: OnUnknown = "error",
    pretokenizer: PretokenizerLike = MISSING,
    ties: Ties = "ids",
    special_tokens: Iterable[str] = (),
    special_first: bool = False,
    reserve: Mapping[str, int] | None = None,
    pad_to_multiple: int | None = None,
    byte_order: ByteOrder = "value",
    separator: str | bytes | None = None,
    weights: Mapping[str, Any] | None = None,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    runners_up: int = 0,
    on_merge: Callable[[Merge], object] | None = None,
    progress: bool | None = None,
) -> Tokenizer:
    """Learn a tokenizer from text or counts: again and again the most frequent pair becomes one.

    >>> import digram
    >>> tok = digram.train("banana", max_merges=1, pretokenizer=None)
    >>> tok.merges, tok.encode("banana")
    ([(b'a', b'n')], [98, 256, 256, 97])
    >>> tok.training.stop_reason
    'max_merges'

    What comes in:
        source: a `str` or `bytes` is one text. A `Path`, a list of them, or `digram.files(...)`
            are files. A list or any iterator of texts is several texts, which never join. A
            dictionary names several such sources, and `Counts` are text that was counted before.
        weights: how much the sources of a dictionary count, by name; 1 by default. See
            `Counts.scale` for what becomes of fractions.
        separator: cuts each text or file into documents; it is itself no part of them.
        pretokenizer: how text is cut before merging (`digram.pretokenizers`); the same cut is kept
            for encoding. None leaves texts whole. By default it is "o200k", or that of the counts.

    What goes out, in order of id: the base, the merges, the special tokens, reserved ids, padding.
        unit: "byte" starts from the 256 bytes, so that every text can be encoded; "char" from the
            characters of the corpus, sorted, or from `alphabet`. By default "byte", or that of the
            counts.
        limit_alphabet: for unit "char", keep so many characters, the most frequent ones (among
            equals the lowest code points); the others are unknown.
        on_unknown: for unit "char", what becomes of other characters when encoding: "error",
            "bytes" (256 byte tokens come first) or `digram.Special("<unk>")`.
        special_tokens: they stand for no text; `special_first` gives them the first ids instead.
        reserve: numbers of ids to set aside, by name, as in {"image": 8192} (`tok.reserved`).
        pad_to_multiple: unused ids at the end make the size a multiple of this.
        byte_order: "value", or "gpt2" for the base ids that Hugging Face's trainer gives.

    When to stop, whichever comes first; `training.stop_reason` says which it was:
        vocab_size: this many tokens in all, reserved ones included, before padding.
        max_merges: this many merges.
        min_frequency: no pair is left that occurs so often. At least 2 where neither size nor
            number of merges is given; 1 by default otherwise.
        max_token_length: no token is longer, in bytes.

    Which pair, among those of the same count:
        ties: "ids" the smallest pair of ids; "first_seen" the one that occurs first in the corpus
            as it is merged so far; "lexicographic" the greatest pair of byte strings. Except for
            "first_seen" the result does not depend on the order of the texts; it never depends on
            `threads`.

    Counts are of neighbouring places and overlap: "aaa" holds (a, a) twice. A merge replaces from
    the left: "aaa" becomes "aa", "a".

    For large corpora:
        memory_limit: bytes, or "2 GB", that counting and merging may take beside the interpreter
            and some megabytes of text; what does not fit goes to the folder for temporary files.
            The merges are the same. At least 24 MiB; the less, the more often the disk is read.
        checkpoint: a folder in which the run notes how far it is. The same call with the same
            folder goes on from there after a kill, and ends with the same tokenizer; `vocab_size`
            and `max_merges` may be others. It may be deleted when the run is done.

    `on_merge` is called with each `Merge`, also with those of an earlier run that it goes on from.
    `runners_up` keeps with each merge so many of the pairs that came next, for `tok.merge_log`, of
    those that reach `min_frequency`; the tokenizer is the same with and without. `progress` draws a
    bar on stderr (by default where that is a terminal). Raises `OptionError` for options that make
    no sense, `ConfigMismatchError` for counts that were made with another pretokenizer or unit,
    `CheckpointError` for a folder of another run, `InvalidTextError` for text that is none,
    `OSError` for files that cannot be read. Memory: the distinct pretokens, and about 12 bytes for
    each of their bytes.
    """
    if isinstance(special_tokens, str):
        raise TypeError("special_tokens is several texts; put the one in a list")
    special = list(special_tokens)
    check_choices(on_unknown, ties, byte_order)
    check_limits(
        vocab_size, max_merges, min_frequency, max_token_length, limit_alphabet, runners_up, threads
    )
    warn_of_a_path(source)
    memory = memory_in_bytes(memory_limit, source)
    characters = None if alphabet is None else list(alphabet)
    merged = [ties, min_frequency, max_token_length, byte_order, characters, limit_alphabet]
    saved = _Saved(checkpoint, [*merged, on_unknown == "bytes"])
    if isinstance(source, Counts):
        made = _given(source, pretokenizer, unit, ties, separator, weights)
        cut, unit = made.pretokenizer, made.unit
        counts: _core.Counts | _core.SortedCounts = made._held
        point = saved.open([fingerprint(cut, unit), made.documents, made.bytes, len(made)])
    else:
        unit = check_unit("byte" if unit is None else unit)
        cut = resolve("o200k" if pretokenizer is MISSING else pretokenizer)
        counts, point = _count(
            source, separator, weights, cut, unit, threads, progress, memory, saved
        )
    if point is not None:
        point.begin()
    if isinstance(on_unknown, Special) and unit == "char" and on_unknown.text not in special:
        special.append(on_unknown.text)
    reserved = blocks(reserve, pad_to_multiple, special)
    base = base_tokens(unit, characters, limit_alphabet, byte_order, counts)
    with_bytes = unit == "char" and on_unknown == "bytes"
    first_merge = len(base) + 256 * with_bytes
    room = room_for_merges(vocab_size, first_merge, len(special), sum(reserved.values()))
    limit = min((n for n in (room, max_merges) if n is not None), default=None)
    shift = len(special) if special_first else 0

    with progress_bar("Merging", total=limit, unit="merges", enabled=progress) as advance:
        tokens, merges, merge_counts, next_pairs, stop = _core.train(
            counts,
            base,
            with_bytes=with_bytes,
            max_merges=limit,
            min_frequency=1 if min_frequency is None else min_frequency,
            max_token_length=max_token_length,
            ties=ties,
            runners_up=runners_up,
            memory=None if memory is None else (memory, tempfile.gettempdir()),
            journal=None if point is None else point.journal,
            on_merge=None if on_merge is None else _Reporter(on_merge, base, with_bytes, shift),
            on_progress=_differences(advance),
        )
    stop_reason: StopReason = "vocab_size" if stop == "max_merges" and limit == room else stop
    first_special = 0 if special_first else len(tokens)
    definition = Definition(
        tokens=[None] * shift + tokens,
        merges=[(a + shift, b + shift, id + shift) for a, b, id in merges],
        pretokenizer=cut,
        special_tokens={text: first_special + i for i, text in enumerate(special)},
        unit=unit,
        on_unknown=on_unknown if unit == "char" else "error",
        byte_ids=list(range(shift, shift + 256)) if with_bytes else None,
        training=TrainingRecord(
            ties=ties,
            stop_reason=stop_reason,
            documents=counts.documents,
            bytes=counts.bytes,
            pretokens=counts.pretokens,
            distinct_pretokens=len(counts),
            options={
                "vocab_size": vocab_size,
                "min_frequency": min_frequency,
                "max_merges": max_merges,
                "max_token_length": max_token_length,
                "byte_order": byte_order,
                "special_first": special_first,
                # What came later is there only where it was asked for.
                **({"limit_alphabet": limit_alphabet} if limit_alphabet else {}),
                **({"reserve": reserved} if reserved else {}),
                **({"pad_to_multiple": pad_to_multiple} if pad_to_multiple else {}),
                **({} if weights is None else {"weights": _plain(weights)}),
            },
            counts=merge_counts,
            version=_core.__version__,
            runners_up=[
                [(left + shift, right + shift, count) for left, right, count in pairs]
                for pairs in next_pairs
            ]
            if runners_up
            else None,
        ),
    )
    return Tokenizer(padded(with_blocks(definition, reserved), pad_to_multiple))


class _Saved:
    """Where a run notes how far it is, once it is known what decides its counts."""

    def __init__(self, folder: str | os.PathLike[str] | None, merged: object) -> None:
        self._folder, self._merged = folder, merged

    def open(self, counted: object, sizes: list[int] | None = None) -> Checkpoint | None:
        if self._folder is None:
            return None
        return Checkpoint(self._folder, counted, self._merged, sizes)


def _count(
    source: Sources,
    separator: str | bytes | None,
    weights: Mapping[str, Any] | None,
    cut: Pretokenizer,
    unit: Unit,
    threads: int | None,
    progress: bool | None,
    memory: int | None,
    saved: _Saved,
) -> tuple[_core.Counts | _core.SortedCounts, Checkpoint | None]:
    """The counts of a source, and the checkpoint of the run."""
    made_with = [fingerprint(cut, unit), str(separator)]
    if isinstance(source, Mapping) or weights is not None:
        names = list(source) if isinstance(source, Mapping) else []
        point = saved.open([*made_with, names, _plain(weights or {})])
    else:
        point = saved.open(made_with, file_sizes(source))
        if memory is not None or point is not None:
            return count_within(
                source, separator, cut, unit, threads, progress, memory, point
            ), point
    counts = count_pretokens(
        source,
        pretokenizer=cut,
        unit=unit,
        separator=separator,
        weights=weights,
        threads=threads,
        progress=progress,
    )
    return counts._held, point


def _given(
    counts: Counts,
    pretokenizer: PretokenizerLike,
    unit: Unit | None,
    ties: str,
    separator: str | bytes | None,
    weights: Mapping[str, Any] | None,
) -> Counts:
    """The counts, if they are what was asked for."""
    asked = (
        counts.pretokenizer if pretokenizer is MISSING else resolve(pretokenizer),
        counts.unit if unit is None else check_unit(unit),
    )
    check_made((counts.pretokenizer, counts.unit), asked, "these counts", "training asked for")
    if ties == "first_seen" and not counts.has_first:
        raise OptionError(
            'ties="first_seen" needs to know where each pretoken first stands, and these counts '
            "do not say it.",
            value=ties,
            hint='Choose ties="ids", or count the text with digram.count_pretokens. Subtracting, '
            "without_first and tables without a column `first` lose it.",
        )
    if separator is not None:
        raise OptionError(
            "separator= cuts text, and counts hold none.",
            value=separator,
            hint="Give it to digram.count_pretokens.",
        )
    if weights is not None:
        raise weights_without_names()
    return counts


def _plain(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Weights as JSON can hold them."""
    return {n: w if isinstance(w, int | float) else str(w) for n, w in weights.items()}


def _differences(advance: Callable[[int], None]) -> Callable[[int], None]:
    """Tells `advance` how much more there is, given how much there is."""
    done = 0

    def to(now: int) -> None:
        nonlocal done
        advance(now - done)
        done = now

    return to


class _Reporter:
    """Tells a callback of each merge, in bytes and final ids."""

    def __init__(
        self,
        on_merge: Callable[[Merge], object],
        base: str | bytes,
        with_bytes: bool,
        shift: int,
    ) -> None:
        self._on_merge = on_merge
        self._tokens = [bytes([byte]) for byte in range(256)] if with_bytes else []
        if isinstance(base, bytes):
            self._tokens += [bytes([byte]) for byte in base]
        else:
            self._tokens += [character.encode() for character in base]
        self._first = len(self._tokens)
        self._shift = shift

    def __call__(
        self, left: int, right: int, id: int, count: int, next_pairs: list[tuple[int, int, int]]
    ) -> None:
        tokens = self._tokens
        parts = tokens[left], tokens[right]
        token = parts[0] + parts[1]
        runners_up = tuple(RunnerUp(tokens[a], tokens[b], number) for a, b, number in next_pairs)
        tokens.append(token)
        self._on_merge(Merge(id - self._first, *parts, token, id + self._shift, count, runners_up))
