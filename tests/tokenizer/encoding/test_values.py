"""Encodings as values, by example; the properties are in `test_properties_calls`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import digram
from digram import SpecialToken, Template

TOK = (
    digram.train("low lower lowest", max_merges=4, special_tokens=["<s>", "<pad>"])
    .with_template(Template("<s> $A", pair="<s> $A <s> $B:1"))
    .with_pad_token("<pad>")
    .with_context_size(5)
)
FAMILY = "a👩‍👩‍👧é"  # four and three bytes to a character, joined by U+200D


@pytest.mark.parametrize(
    ("unit", "spans"),
    [
        ("characters", [(0, 1), *[(1, 2)] * 4, *[(2, 3)] * 3, *[(3, 4)] * 4]),
        ("utf16", [(0, 1), *[(1, 3)] * 4, *[(3, 4)] * 3, *[(4, 6)] * 4]),
        ("bytes", [(n, n + 1) for n in range(12)]),
    ],
)
def test_tokens_inside_a_character_have_all_of_it(unit: Any, spans: Any) -> None:
    tok = digram.train("", max_merges=0, pretokenizer=None)
    encoding = tok(FAMILY, offsets=unit)
    assert encoding.offsets[:12] == spans
    text = FAMILY.encode("utf-16-le") if unit == "utf16" else FAMILY
    ends = {"characters": len(text), "utf16": len(text) // 2, "bytes": len(FAMILY.encode())}
    assert encoding.offsets[-1][1] == ends[unit]


def test_a_token_over_a_border_covers_both_characters() -> None:
    """Two bytes of é and one of ü, as merges over bytes may have it."""
    tok = digram.train("éü" * 9, max_merges=4, pretokenizer=None)
    encoding = tok("éüé")
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        assert token in "éüé"[start:end].encode()
    assert any(token.decode(errors="replace").endswith("\ufffd") for token in encoding.tokens)


def test_the_unknown_token_stands_for_a_character() -> None:
    tok = digram.train(
        "ab", unit="char", pretokenizer=None, on_unknown=SpecialToken("<unk>"), max_merges=0
    )
    encoding = tok("a🙂<unk>b", offsets="bytes", special="parse")
    assert encoding.tokens == [b"a", b"<unk>", b"<unk>", b"b"]
    assert encoding.offsets == [(0, 1), (1, 5), (5, 10), (10, 11)]
    assert tok("a🙂<b", offsets="utf16").offsets == [(0, 1), (1, 3), (3, 4), (4, 5)]


def test_special_tokens_in_the_text_are_of_the_text() -> None:
    encoding = TOK("low<s> low", special="parse")
    assert encoding.offsets == [(0, 0), (0, 3), (3, 6), (6, 10)]
    assert encoding.word_ids == [None, 0, 1, 2]
    assert encoding.special_tokens_mask == [1, 0, 0, 0]
    assert TOK("<s>", special={"<s>"}).offsets == [(0, 0), (0, 3)]
    assert len(TOK("<s>")) == 4


def test_context_means_the_size_of_the_tokenizer() -> None:
    assert len(TOK("abcdefghij", max_length="context")) == 5
    assert len(TOK("a", max_length="context", padding="max_length")) == 5
    assert TOK(["a", "abcdefghi"], max_length="context", padding="longest").numpy()[
        "input_ids"
    ].shape == (2, 5)


def test_encode_takes_no_part_in_it() -> None:
    assert TOK.encode("low") == TOK("low", add_special_tokens=False).ids
    assert TOK.count("low") == 1


def test_nothing_changes_an_encoding() -> None:
    encoding = TOK("low lower")
    for name in ("ids", "offsets", "other"):
        with pytest.raises(AttributeError):
            setattr(encoding, name, [1])
    encoding.ids.append(7)
    assert encoding.ids == TOK("low lower").ids
    assert copy.copy(encoding) == copy.deepcopy(encoding) == encoding
    assert encoding != TOK("low")
    assert encoding != encoding.ids
    assert {encoding: 1}[TOK("low lower")] == 1
    batch = TOK(["low lower", "a"])
    assert batch == TOK(["low lower", "a"]) != TOK(["a"])
    assert batch != batch.encodings
    assert batch != dict(batch)
    assert hash(batch) == hash(TOK(["low lower", "a"]))


def test_a_batch_is_a_mapping_that_has_encodings() -> None:
    batch = TOK(text for text in ["low", "lower", "é"])
    assert isinstance(batch, Mapping)
    assert [*batch] == [*batch.keys()] == ["input_ids", "attention_mask"]
    assert len(batch) == len(batch.items()) == 2
    copied: dict[str, list[Any]] = {**batch}
    assert dict(batch.items()) == dict(batch) == copied
    assert batch["input_ids"] == batch.ids
    assert batch.get("special_tokens_mask") == [[1, 0], [1, 0, 0, 0], [1, 0, 0]]
    assert "offset_mapping" in batch
    assert ("tokens" in batch, batch.get("tokens")) == (False, None)
    with pytest.raises(KeyError):
        batch["tokens"]
    assert [len(one) for one in batch.encodings] == [2, 4, 3]
    assert batch[-1] == batch[2] == TOK("é")
    assert batch[1:] == [TOK("lower"), TOK("é")]
    with pytest.raises(IndexError):
        batch[3]
    no_key: Any
    for no_key in (None, 1.5):
        with pytest.raises(TypeError) as caught:
            batch[no_key]
        told = "a key is the number of a text, a slice or the name of a column, not "
        assert str(caught.value) == f"{told}{no_key}"
    assert repr(batch) == "<digram.Encodings: 3 texts, 6 tokens>"
    assert repr(batch[0]) == f"<digram.Encoding: 2 tokens, {batch[0].ids}>"
    assert repr(TOK("abcdefghi")).endswith(", 103, ...]>")
    assert TOK([]).numpy()["input_ids"].shape == (0, 0)
    assert TOK([]).encodings == TOK([]).ids == []


def test_threads_and_large_batches_change_nothing() -> None:
    texts = [f"low {n} lower é🙂 {'lowest ' * (n % 7)}" for n in range(20_000)]
    one = TOK(texts, threads=1, padding="longest")
    many = TOK(texts, threads=3, padding="longest")
    names: Any = ("input_ids", "offset_mapping")
    for name in names:
        assert (one.numpy(name)[name] == many.numpy(name)[name]).all()
    with ThreadPoolExecutor(4) as pool:
        for at, words in zip(
            range(0, 20_000, 97),
            pool.map(lambda n: many[n].word_ids, range(0, 20_000, 97)),
            strict=True,
        ):
            assert words[: len(TOK(texts[at]))] == TOK(texts[at]).word_ids


def test_a_text_of_no_words() -> None:
    assert TOK([], is_split_into_words=True).ids == TOK("").ids
    assert TOK([[], ["low"], ["", ""]], is_split_into_words=True).ids == [
        *(TOK("").ids, TOK("low").ids, TOK("").ids)
    ]
