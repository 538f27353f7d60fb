"""Training: from text to a tokenizer."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from digram import _core
from digram.arguments import memory_in_bytes
from digram.checkpoint import Checkpoint
from digram.choices import (
    ByteOrder,
    Ties,
    base_tokens,
    check_choices,
    checked_limits,
    room_for_merges,
    warn_of_a_path,
)
from digram.counts import (
    Counting,
    Counts,
    Sources,
    check_made,
    check_unit,
    have_first,
    made_with,
    weights_without_names,
)
from digram.definition import Definition, OnUnknown, StopReason, TrainingRecord, Unit
from digram.errors import OptionError, several
from digram.pretokenizers import MISSING, Pretokenizer, PretokenizerLike, resolve
from digram.progress import differences, note
from digram.progress import progress as progress_bar
from digram.sizes import blocks, padded, with_blocks
from digram.sources import file_stamps, separator_of, settled
from digram.special import Special
from digram.storage import advise_on_full_disk
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
            are files: text, JSON lines, Parquet or Arrow, also packed. `digram.table(...)` is a
            column of a data frame. A list or any iterator of texts is several texts, which never
            join. A dictionary names several such sources, and `Counts` are text that was counted
            before.
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
            and some megabytes of text; what does not fit goes to the folder for temporary files,
            or to that of `checkpoint`. The merges are the same. At least 24 MiB; the less, the more
            often the disk is read.
        checkpoint: a folder in which the run notes how far it is, each source of a dictionary for
            itself. The same call with the same folder goes on from there after a kill, and ends
            with the same tokenizer; `vocab_size` and `max_merges` may be others. Where a bar is
            drawn, a line says from where it went on. It may be deleted when the run is done.

    `on_merge` is called with each `Merge`, also with those of an earlier run that it goes on from.
    `runners_up` keeps with each merge so many of the pairs that came next, for `tok.merge_log`, of
    those that reach `min_frequency`; the tokenizer is the same with and without. `progress` draws a
    bar on stderr (by default where that is a terminal). Raises `OptionError` for options that make
    no sense, `ConfigMismatchError` for counts that were made with another pretokenizer or unit,
    `CheckpointError` for a folder of another run, `InvalidTextError` for text that is none,
    `CorruptFileError` for a record that holds no text or a file that is damaged, `OSError` for
    files that cannot be read. Memory: the distinct pretokens, and about 12 bytes for
    each of their bytes.
    """
    if isinstance(special_tokens, str):
        raise TypeError("special_tokens is several texts; put the one in a list")
    special = list(special_tokens)
    check_choices(on_unknown, ties, byte_order)
    limits = checked_limits(
        vocab_size, max_merges, min_frequency, max_token_length, limit_alphabet, runners_up, threads
    )
    warn_of_a_path(source)
    memory = memory_in_bytes(memory_limit)
    characters = None if alphabet is None else list(alphabet)
    merged = {
        "ties": ties,
        "min_frequency": limits.min_frequency,
        "max_token_length": limits.max_token_length,
        "byte_order": byte_order,
        "alphabet": characters,
        "limit_alphabet": limits.limit_alphabet,
        "on_unknown": on_unknown == "bytes",
    }
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
            point = _opened(checkpoint, cut, unit, separator, source, weights, merged)
            used.enter_context(point)
        counting = Counting(cut, unit, separator, limits.threads, progress, memory, point)
        counts, skipped = counting.count(source, weights)
        if point is not None:
            # Of one source the text has a sum.
            point.begin(counts.digest() if isinstance(source, Counts | Mapping) else "")
        if isinstance(on_unknown, Special) and unit == "char" and on_unknown.text not in special:
            special.append(on_unknown.text)
        reserved = blocks(reserve, pad_to_multiple, special)
        base = base_tokens(unit, characters, limits.limit_alphabet, byte_order, counts)
        with_bytes = unit == "char" and on_unknown == "bytes"
        first_merge = len(base) + 256 * with_bytes
        room = room_for_merges(limits.vocab_size, first_merge, len(special), sum(reserved.values()))
        limit = min((n for n in (room, limits.max_merges) if n is not None), default=None)
        shift = len(special) if special_first else 0
        _say_where_from(point, limit, progress)

        with progress_bar("Merging", total=limit, unit="merges", enabled=progress) as advance:
            made = differences(advance)
            tokens, merges, merge_counts, next_pairs, stop = _core.train(
                counts,
                base,
                with_bytes=with_bytes,
                max_merges=limit,
                min_frequency=1 if limits.min_frequency is None else limits.min_frequency,
                max_token_length=limits.max_token_length,
                ties=ties,
                runners_up=limits.runners_up,
                memory=None if memory is None else (memory, _folder(point)),
                journal=None if point is None else point.journal,
                on_merge=None if on_merge is None else _Reporter(on_merge, base, with_bytes, shift),
                on_progress=made,
            )
            made(len(merges))
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
                "vocab_size": limits.vocab_size,
                "min_frequency": limits.min_frequency,
                "max_merges": limits.max_merges,
                "max_token_length": limits.max_token_length,
                "byte_order": byte_order,
                "special_first": special_first,
                # What came later is there only where it was asked for.
                **({"limit_alphabet": limits.limit_alphabet} if limits.limit_alphabet else {}),
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
            if limits.runners_up
            else None,
            skipped=skipped,
        ),
    )
    return Tokenizer(padded(with_blocks(definition, reserved), pad_to_multiple))


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
    if separator is not None:
        raise OptionError(
            "separator= cuts text, and counts hold none.",
            value=separator,
            hint="Give it to digram.count_pretokens.",
        )
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
        return [[repr(name) for name in source], _plain(weights or {})]
    return []


def _opened(
    folder: str | os.PathLike[str],
    cut: Pretokenizer,
    unit: Unit,
    separator: str | bytes | None,
    source: Sources | Counts,
    weights: Mapping[str, Any] | None,
    merged: Mapping[str, Any],
) -> Checkpoint:
    """The checkpoint in a folder. `merged` are the options that decide the merges."""
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
        "weights": _argument("weights", _plain(weights) if weights else None),
        "pretokenizer": f"{' then '.join(cuts)}{digits}",
        "unit": _argument("unit", unit),
        "separator": _argument("separator", _written(separator_of(source, separator))),
        **{name: _argument(name, value) for name, value in merged.items()},
        "on_unknown": unknown if merged["on_unknown"] else f"no {unknown}",
    }
    return Checkpoint(folder, counted, [*merged.values()], stamps, options=options)


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


def _plain(weights: Mapping[str, Any]) -> dict[str, Any]:
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
