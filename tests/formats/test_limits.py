"""Truncation and padding of a tokenizer.json, with the library itself beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

import digram
from digram import CorruptFileError, OptionError, Padding, Truncation, VocabError
from digram.formats.huggingface import dumps, loads

TEXTS = ["", "a", "ab cd", "low lower lowest", "a b c d e f g h", "x" * 30]
PAIRS = ["b", "", "another one here", "b", "lowest lower low low", "y z"]
ENDS = ("<s>", "</s>", "<pad>")


def made() -> Tokenizer:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    theirs = Tokenizer(models.BPE({letter: id for id, letter in enumerate(letters)}, []))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = decoders.ByteLevel()
    theirs.add_special_tokens([*ENDS])
    theirs.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> $B:1 </s>:1",
        special_tokens=[(end, theirs.token_to_id(end)) for end in ENDS[:2]],
    )
    return theirs


def of(theirs: Tokenizer) -> digram.Tokenizer:
    return digram.Tokenizer(loads(theirs.to_str().encode()))


def check(ours: digram.Tokenizer, theirs: Tokenizer, pairs: list[str] | None = None) -> int:
    """All columns of all texts, and of their windows; the number of those that were cut."""
    given: list[Any] = TEXTS if pairs is None else [*zip(TEXTS, pairs, strict=True)]
    expected = theirs.encode_batch(given)
    found = ours(TEXTS, pairs, **ours.call_options)
    for one, other in zip(found.encodings, expected, strict=True):
        for mine, wanted in zip([one, *one.overflowing], [other, *other.overflowing], strict=True):
            assert mine.ids == wanted.ids
            assert mine.offsets == wanted.offsets
            assert mine.type_ids == wanted.type_ids
            assert mine.attention_mask == wanted.attention_mask
            assert mine.special_tokens_mask == wanted.special_tokens_mask
    if len({len(one.ids) for one in expected}) == 1:
        arrays = found.numpy("input_ids", "token_type_ids")
        assert arrays["input_ids"].tolist() == [one.ids for one in expected]
        assert arrays["token_type_ids"].tolist() == [one.type_ids for one in expected]
    return sum(bool(one.overflowing) for one in expected)


@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
@pytest.mark.parametrize("direction", ["left", "right"])
def test_truncation(strategy: Any, direction: Any, tmp_path: Path) -> None:
    cut = 0
    for length, stride in ((13, 0), (13, 3), (9, 1), (40, 7)):
        theirs = made()
        theirs.enable_truncation(length, stride=stride, strategy=strategy, direction=direction)
        ours = of(theirs)
        assert ours.truncation == Truncation(length, strategy, stride, direction)
        if strategy != "only_second":
            cut += check(ours, theirs)
        if strategy == "longest_first":
            cut += check(ours, theirs, PAIRS)
        ours.save(tmp_path / "tokenizer.json")
        again = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        assert again.truncation == theirs.truncation
        assert digram.load(tmp_path / "tokenizer.json").definition == ours.definition
    assert cut > 5 or strategy == "only_second"


@pytest.mark.parametrize("strategy", ["only_first", "only_second"])
def test_one_text_of_a_pair_is_truncated(strategy: str) -> None:
    theirs = made()
    theirs.enable_truncation(14, stride=1, strategy=strategy)
    ours = of(theirs)
    short, long = "ab", "low lower lowest"
    pair = (long, short) if strategy == "only_first" else (short, long)
    expected, found = theirs.encode(*pair), ours(*pair, **ours.call_options)
    assert expected.overflowing
    assert [found.ids, *(one.ids for one in found.overflowing)] == [
        expected.ids,
        *(one.ids for one in expected.overflowing),
    ]
    if strategy == "only_second":
        with pytest.raises(OptionError, match="needs a pair"):
            ours("a", **ours.call_options)


@pytest.mark.parametrize("direction", ["left", "right"])
@pytest.mark.parametrize("length", [None, 5, 12, 40])
def test_padding(direction: Any, length: int | None, tmp_path: Path) -> None:
    for multiple, type_id, token, cut in product((None, 8), (0, 3), (258, 5), (None, 10)):
        theirs = made()
        theirs.enable_padding(
            direction=direction,
            pad_id=token,
            pad_type_id=type_id,
            pad_token="<pad>" if token == 258 else "[none]",
            length=length,
            pad_to_multiple_of=multiple,
        )
        if cut is not None:
            theirs.enable_truncation(cut)
        ours = of(theirs)
        named = ("<pad>", None) if token == 258 else ("[none]", token)
        assert ours.padding == Padding(
            named[0],
            length,
            direction,
            multiple,
            type_id,
            named[1],
        )
        assert ours.pad_token == ("<pad>" if token == 258 else None)
        check(ours, theirs)
        check(ours, theirs, PAIRS)
        ours.save(tmp_path / "tokenizer.json")
        again = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        assert (again.padding, again.truncation) == (theirs.padding, theirs.truncation)
        ours.save(tmp_path / "own.json", format="digram")
        assert digram.load(tmp_path / "own.json").definition == ours.definition


def test_calls_without_them_are_as_before() -> None:
    theirs = made()
    plain = of(theirs)
    theirs.enable_truncation(5)
    theirs.enable_padding(pad_id=258, pad_token="<pad>", length=9)
    ours = of(theirs)
    assert ours("low lower").ids == plain("low lower").ids
    assert ours.encode("low lower") == plain.encode("low lower")
    assert (plain.call_options, plain.truncation, plain.padding) == ({}, None, None)
    assert ours.call_options == {"max_length": 5, "padding": 9}


def test_the_id_of_the_token_follows_the_vocabulary() -> None:
    theirs = made()
    theirs.enable_padding(pad_id=258, pad_token="<pad>")
    ours = of(theirs)
    definition = ours.definition
    special = {"<s>": 256, "</s>": 257, "<pad>": 300}
    moved = digram.Tokenizer(replace(definition, special_tokens=special))
    assert json.loads(dumps(moved.definition))["padding"]["pad_id"] == 300
    assert moved(["a", "ab"], **moved.call_options).ids[0][-1] == 300
    other = ours.with_pad_token("</s>")
    assert other.padding == Padding("</s>")
    assert ours.with_pad_token(None).padding is None
    with pytest.raises(OptionError, match="padding names '<none>'"):
        digram.Tokenizer(replace(definition, padding=Padding("<none>")))


def test_they_are_not_in_the_digest() -> None:
    """So a file that another library saved again, with its own options, is not called damaged."""
    ours = of(made())
    file = json.loads(dumps(ours.definition))
    theirs = Tokenizer.from_str(json.dumps(file))
    theirs.enable_truncation(7)
    changed = json.loads(theirs.to_str())
    again = loads(json.dumps(file | {"truncation": changed["truncation"]}).encode())
    assert again.truncation == Truncation(7)
    assert digram.Tokenizer(again) == ours


def test_training_like_it_keeps_them() -> None:
    theirs = made()
    theirs.enable_truncation(7)
    theirs.enable_padding(pad_id=258, pad_token="<pad>")
    ours = of(theirs)
    trained = digram.train("low lower", max_merges=3, like=ours)
    assert (trained.truncation, trained.padding) == (ours.truncation, ours.padding)


@pytest.mark.parametrize("what", ["truncation", "padding"])
def test_formats_without_a_place_for_them_refuse(what: str, tmp_path: Path) -> None:
    limits: dict[str, Any] = {"truncation": Truncation(5), "padding": Padding("x", id=3)}
    tok = digram.train("low", max_merges=1)
    tok = digram.Tokenizer(replace(tok.definition, **{what: limits[what]}))
    with pytest.raises(VocabError, match=f"cannot store {what}"):
        tok.save(tmp_path / "a.tiktoken")
    tok.save(tmp_path / "a.tiktoken", allow_loss=True)


@pytest.mark.parametrize(
    ("what", "change", "message"),
    [
        ("truncation", {"strategy": "Longest"}, "truncation.strategy 'Longest' is not"),
        ("truncation", {"direction": 5}, "truncation.direction 5 is not Right or Left"),
        ("truncation", {"max_length": -1}, "max_length=-1 is not a number"),
        ("truncation", {"stride": True}, "truncation.stride should be"),
        ("padding", {"strategy": {"Fixed": "a"}}, "padding.strategy.Fixed should be"),
        ("padding", {"strategy": {"Longest": 1}}, "neither BatchLongest nor Fixed"),
        ("padding", {"pad_id": 1 << 40}, "id=1099511627776 is not a number"),
        ("padding", {"pad_token": None}, "padding.pad_token should be"),
        ("padding", {"pad_to_multiple_of": 1.5}, "pad_to_multiple_of should be"),
        ("padding", {"pad_type_id": -1}, "type_id=-1 is not a number"),
    ],
)
def test_damaged_ones_are_named(what: str, change: dict[str, Any], message: str) -> None:
    theirs = made()
    theirs.enable_truncation(7)
    theirs.enable_padding()
    file = json.loads(theirs.to_str())
    file[what].update(change)
    with pytest.raises(CorruptFileError, match=message):
        loads(json.dumps(file).encode())


def test_options_of_the_call() -> None:
    tok = digram.train("low", max_merges=0)
    for options, message in (
        ({"padding": 0}, "padding=0 is not a whole number of at least 1"),
        ({"padding": "all"}, "padding='all' is not known. Pass 'longest'"),
        ({"padding": 3}, "pass pad_id="),
        ({"padding": 3, "pad_id": 900}, "pad_id=900 is not the id of a token"),
        ({"pad_id": 3}, "pad_id=3 does nothing, since padding is not given"),
        ({"pad_type_id": 3}, "pad_type_id=3 does nothing"),
        ({"padding": 3, "pad_id": -1}, "pad_id=-1 is not a whole number"),
    ):
        with pytest.raises(OptionError, match=message):
            tok("low", **options)
    assert tok("a", padding=3, pad_id=98, pad_type_id=1).type_ids == [0, 1, 1]
    with pytest.raises(OptionError, match="the rows have 2 to 3 tokens"):
        tok(["a", "abc"], padding=2, pad_id=98).numpy()
