"""What is saved without `allow_loss` is loaded again, with every setting."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path
from typing import Any

import pytest
from formats.test_support_formats import definitions

import digram
from digram import (
    Definition,
    DigramError,
    Matching,
    OptionError,
    SpecialToken,
    Template,
    Truncation,
    VocabError,
)
from digram.formats._registry import FORMATS

SIDES = ("padding_side", "truncation_side")

# Other fields with the same ids, text and offsets.
SAME = {
    ("tiktoken", "model"),  # ignore_merges, where merges make all tokens
    ("tekken", "model"),
    ("huggingface", "matching"),  # flags without an effect
    ("digram", "matching"),
    ("gguf", "space_symbol"),  # how a tokenizer.json would write spaces
    ("sentencepiece", "space_symbol"),
    ("gguf", "special_roles"),  # written, and not read
    # Only files for models have sides.
    *(
        (format, side)
        for format in FORMATS
        if format not in ("digram", "huggingface")
        for side in SIDES
    ),
}
"""What may differ: formats and fields."""


def changes(definition: Definition) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"context_size": 9},
        {"chat_templates": {"default": "x"}},
        {"dropout": 0.5},
        {"trim_offsets": "spaces"},
        {"cleanup": not definition.cleanup},
        {"strip_first_space": not definition.strip_first_space},
        {"truncation": Truncation(5)},
        {"padding_side": "left", "truncation_side": "left"},
        {"space_symbol": "▁" if definition.space_symbol is None else None},
    ]
    for field in ("ignore_merges", "fuse_unknown"):
        if hasattr(definition.model, field):
            model: Any = definition.model
            other = dataclasses.replace(model, **{field: not getattr(model, field)})
            found.append({"model": other})
    for text in [*definition.special_tokens][:1]:
        found += [
            {"special_roles": digram.SpecialRoles(eos=text)},
            {"template": Template(f"{text} $A")},
            {"on_unknown": SpecialToken(text)},
            *({"matching": {text: Matching(**flags)}} for flags in FLAGS),
        ]
        if definition.model.kind != "unigram":  # whose tokenizer.json has it as padding
            found.append({"pad_token": text})
    return found


FLAGS: list[dict[str, bool]] = [
    {"always": True},
    {"lstrip": True},
    {"single_word": True, "normalized": True},
]


def differing(tok: digram.Tokenizer, format: str, folder: Path) -> set[str]:
    """The fields that are lost; none if the format refuses the tokenizer."""
    known = FORMATS[format]
    path = folder / ("a" if known.pairs else f"a{known.suffix or ''}")
    definition = tok.definition
    try:
        tok.save(path, format=format)
    except DigramError:
        return set()
    given = {} if known.describes_itself else {"pretokenizer": definition.pretokenizer}
    again = digram.load(path, **given).definition  # type: ignore[arg-type]
    if again.model.kind != definition.model.kind:
        return set()  # the scores of SentencePiece as merges
    return {
        field.name
        for field in dataclasses.fields(definition)
        if field.name != "training"
        and getattr(definition, field.name) != getattr(again, field.name)
        and (format, field.name) not in SAME
    }


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_is_lost(format: str, tmp_path: Path) -> None:
    warnings.simplefilter("ignore")
    tried = 0
    for definition in definitions():
        is_theirs = format == "huggingface" and definition.model.kind == "unigram"
        for change in changes(definition):
            if "matching" in change and definition.model.kind == "unigram":
                continue  # names of tokens that are found in all text are in its model, too
            if is_theirs and change.keys() & {"template", "padding_side"}:
                continue  # a file always has a template for pairs, and no sides
            try:
                tok = digram.Tokenizer(dataclasses.replace(definition, **change))
            except DigramError:
                continue
            tried += 1
            lost = differing(tok, format, tmp_path)
            assert not lost, (change, definition.pretokenizer, lost)
    assert tried > 300


@pytest.mark.parametrize("format", FORMATS)
def test_sides_are_no_reason_to_refuse(format: str, tmp_path: Path) -> None:
    """Most folders of models have them, and programs without models need none."""

    def is_saved(definition: Definition) -> bool:
        known = FORMATS[format]
        path = tmp_path / ("a" if known.pairs else f"a{known.suffix or ''}")
        try:
            digram.Tokenizer(definition).save(path, format=format)
        except DigramError:
            return False
        return True

    for definition in definitions():
        other = dataclasses.replace(definition, truncation_side="left", padding_side="left")
        assert is_saved(other) == is_saved(definition)


@pytest.mark.parametrize(
    ("unit", "change", "name"),
    [
        ("byte", {"on_unknown": SpecialToken("<s>")}, "on_unknown"),
        ("byte", {"space_symbol": "▁"}, "space_symbol"),
        ("char", {"trim_offsets": "spaces"}, "trim_offsets"),
    ],
)
def test_settings_without_effect_are_refused(unit: Any, change: Any, name: str) -> None:
    made = digram.train(
        "low lower", max_merges=2, unit=unit, special_tokens=["<s>"], on_unknown=None
    )
    with pytest.raises(OptionError, match=f"^{name}=.* has no effect on this tokenizer"):
        digram.Tokenizer(dataclasses.replace(made.definition, **change))


def test_a_record_of_other_merges_is_refused() -> None:
    """Such a file could not be read again."""
    definition = digram.train("low lower lowest", max_merges=4).definition
    record, model = definition.training, definition.model
    assert record is not None
    assert isinstance(model, digram.BpeModel)
    fewer = dataclasses.replace(model, merges=model.merges[:-1])
    longer = dataclasses.replace(record, languages=["en"] * 5)
    for change in ({"model": fewer}, {"training": longer}):
        changed = dataclasses.replace(definition, **change)
        with pytest.raises(VocabError, match="a file of both could not be read"):
            digram.formats.huggingface.dumps(changed)
        digram.formats.huggingface.dumps(dataclasses.replace(changed, training=None))
