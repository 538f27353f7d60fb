"""Continued BPE: the next merges of a tokenizer, learned on another corpus."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from digram import _core
from digram.adapt.change import Change
from digram.adapt.padding import unpadded
from digram.arguments import memory_in_bytes, whole_number
from digram.choices import Ties, check_choices, checked_limits, warn_of_a_path
from digram.counts import Counts, Sources
from digram.definition import Definition, TrainingRecord, Unit
from digram.learning import Learned, Start, learned, plain
from digram.schemes import check_by_rank
from digram.sizes import padded
from digram.tokenizer import Merge, Tokenizer

__all__ = ["extend", "keeps_characters"]


def extend(
    tok: Tokenizer,
    source: Sources | Counts,
    *,
    add: int,
    min_frequency: int = 1,
    max_token_length: int | None = None,
    whole_characters: bool | None = None,
    ties: Ties = "ids",
    separator: str | bytes | None = None,
    weights: Mapping[str, Any] | None = None,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    runners_up: int = 0,
    on_merge: Callable[[Merge], object] | None = None,
    progress: bool | None = None,
) -> tuple[Tokenizer, Change]:
    """The tokenizer with the next merges that a corpus asks for; see `Tokenizer.extend`."""
    check_by_rank(tok._settings.scheme, "extend")
    check_choices("error", ties, "value")
    limits = checked_limits(
        None,
        whole_number("add", add, 1),
        min_frequency,
        max_token_length,
        keeps_characters(tok, whole_characters),
        None,
        runners_up,
        threads,
    )
    warn_of_a_path(source)
    start, multiple = unpadded(tok)
    whole = start.definition

    def begin(_: _core.Counts | _core.SortedCounts, __: Unit) -> Start:
        return Start(start)

    found = learned(
        source,
        begin,
        pretokenizer=tok.pretokenizer,
        unit=tok.unit,
        limits=limits,
        decides={
            "extends": start.digest,
            "ties": ties,
            "min_frequency": limits.min_frequency,
            "max_token_length": limits.max_token_length,
            "whole_characters": limits.whole_characters or None,
        },
        ties=ties,
        separator=separator,
        weights=weights,
        memory=memory_in_bytes(memory_limit),
        checkpoint=checkpoint,
        on_merge=on_merge,
        progress=progress,
    )
    options = {
        "extends": tok.digest,
        "add": add,
        "min_frequency": limits.min_frequency,
        "max_token_length": limits.max_token_length,
        **({"whole_characters": True} if limits.whole_characters else {}),
        **({} if weights is None else {"weights": plain(weights)}),
        **({} if multiple is None else {"pad_to_multiple": multiple}),
    }
    after = Tokenizer(padded(_grown(whole, found, options), multiple))
    return after, Change.of(tok, after)


def keeps_characters(tok: Tokenizer, asked: bool | None) -> bool:
    """Whether new merges keep characters whole: as is asked, or as the tokenizer was trained."""
    if asked is not None:
        return bool(asked)
    record = tok.training
    return record is not None and record.options.get("whole_characters") is True


def _grown(whole: Definition, found: Learned, options: dict[str, Any]) -> Definition:
    """The definition with what was learned after its highest id."""
    size = len(found.tokens) - len(found.merges)
    holes: list[bytes | None] = [None] * (size - len(whole.tokens))
    return replace(
        whole,
        tokens=[*whole.tokens, *holes, *found.tokens[size:]],
        merges=whole.merges + found.merges,
        training=_record(whole, found, options),
    )


def _record(whole: Definition, found: Learned, options: dict[str, Any]) -> TrainingRecord:
    """That of the new merges; of those before them the counts stay as they were known."""
    before = whole.training
    unknown = len(whole.merges)
    counts: list[int | None] = [None] * unknown if before is None else [*before.counts]
    runners_up = found.runners_up
    if runners_up is not None or (before is not None and before.runners_up is not None):
        of_before = None if before is None else before.runners_up
        runners_up = (of_before or [[]] * unknown) + (runners_up or [[]] * len(found.merges))
    languages = None if before is None else before.languages
    return replace(
        found.record(options),
        counts=[*counts, *found.counts],
        runners_up=runners_up,
        languages=languages and [*languages, *[None] * len(found.merges)],
    )
