"""Values that hold whatever they are given, given on to a call that uses them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from faults.valid_arguments import TEXT, file_of_text, table_of_texts, tok

import digram
from digram.vocab.bpe import require_bpe


def composed() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Values that hold whatever they are given, given on to a call that uses them."""
    for one in dataclasses.fields(digram.Definition):

        def made(value: Any, name: str = one.name) -> Any:
            found = digram.Tokenizer(dataclasses.replace(tok().definition, **{name: value}))
            return found.merge_log, found

        yield f"Definition.{one.name}", made, {"value": partial(getattr, _plain(), one.name)}
    for one in dataclasses.fields(digram.BpeModel):

        def applied(value: Any, name: str = one.name) -> Any:
            model = dataclasses.replace(require_bpe(_plain().model, "a test"), **{name: value})
            found = digram.Tokenizer(dataclasses.replace(_plain(), model=model))
            return found.merge_log, found

        known = {"value": partial(getattr, _plain().model, one.name)}
        yield f"BpeModel.{one.name}", applied, known
    for one in dataclasses.fields(digram.TrainingRecord):

        def trained(value: Any, name: str = one.name) -> Any:
            record = dataclasses.replace(tok().training, **{name: value})  # type: ignore[type-var]
            found = digram.Tokenizer(dataclasses.replace(tok().definition, training=record))
            return found.merge_log, found

        known = {"value": partial(getattr, tok().training, one.name)}
        yield f"TrainingRecord.{one.name}", trained, known
    uses: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
        "SpecialToken in encode": (
            lambda value: tok().encode([digram.SpecialToken(value)]),
            lambda: "<s>",
        ),
        "SpecialToken in on_unknown": (
            lambda value: digram.train(
                TEXT, max_merges=1, unit="char", on_unknown=digram.SpecialToken(value)
            ),
            lambda: "<unk>",
        ),
        "Regex in pretokenize": (
            lambda value: digram.pretokenize(TEXT, digram.Regex(value)),
            lambda: r"\w+|\s+",
        ),
        "Regex in train": (
            lambda value: digram.train(TEXT, max_merges=1, pretokenizer=[digram.Regex(value)]),
            lambda: r"\w+|\s+",
        ),
        "Regex in Rules": (
            lambda value: digram.Rules(forbid=[digram.Regex(value)]),
            lambda: r"\w+",
        ),
        "FlatIds.ids": (
            lambda value: tok().decode_batch(digram.FlatIds(value, [0, 2])),  # type: ignore[arg-type]
            lambda: [97, 98],
        ),
        "FlatIds.offsets": (
            lambda value: tok().decode_batch(digram.FlatIds([97, 98], value)),  # type: ignore[arg-type]
            lambda: [0, 2],
        ),
        "Files.paths": (
            lambda value: list(digram.Files(value)),
            lambda: (Path(file_of_text()),),
        ),
        "Table.data": (lambda value: list(digram.Table(value)), table_of_texts),
        "Table.column": (
            lambda value: list(digram.Table(table_of_texts(), value)),
            lambda: ("text",),
        ),
        "Boundless.joins": (
            lambda value: digram.train(TEXT, max_merges=1, superwords=digram.Boundless(value)),
            lambda: "all",
        ),
        "Boundless.pretokenizer": (
            lambda value: digram.train(
                TEXT, max_merges=1, superwords=digram.Boundless(pretokenizer=value)
            ),
            lambda: digram.Regex(r"[^\n]+|\n"),
        ),
        "TwoStage.subwords": (
            lambda value: digram.train(TEXT, max_merges=1, superwords=digram.TwoStage(value)),
            lambda: 0.5,
        ),
        "TwoStage.pretokenizer": (
            lambda value: digram.train(
                TEXT, max_merges=1, superwords=digram.TwoStage(pretokenizer=value)
            ),
            lambda: digram.Regex(r"[^\n]+|\n"),
        ),
    }
    for name, (use, good) in uses.items():
        yield name, use, {"value": good}


def _plain() -> digram.Definition:
    return tok().definition
