"""Added tokens that depend on what is beside them, in pipelines that put something else there."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

import digram
from digram import VocabError
from digram.formats.huggingface import loads

LETTERS = "abxABC019_éж. \t\n"
FLAGS: list[dict[str, bool]] = [
    {},
    {"lstrip": True},
    {"rstrip": True},
    {"single_word": True},
    {"lstrip": True, "rstrip": True, "single_word": True},
]


def of_characters(**parts: Any) -> Tokenizer:
    letters = LETTERS.replace(" ", "") if "normalizer" in parts else LETTERS
    vocab = {letter: id for id, letter in enumerate(["<unk>", "▁", *letters])}
    return of_model(models.BPE(vocab, [], unk_token="<unk>"), **parts)


def of_bytes(**parts: Any) -> Tokenizer:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {letter: id for id, letter in enumerate(letters)}
    return of_model(models.BPE(vocab, []), decoder=decoders.ByteLevel(), **parts)


def of_pieces(**parts: Any) -> Tokenizer:
    pieces = [("<unk>", 0.0), ("▁", -1.0), ("a", -2.0), ("▁a", -2.5), ("b", -3.0), ("x", -3.0)]
    return of_model(models.Unigram(pieces, 0, False), decoder=decoders.Metaspace(), **parts)


def of_model(model: Any, **parts: Any) -> Tokenizer:
    made = Tokenizer(model)
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def pipelines() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    spaced = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()])
    symbol = normalizers.Replace(" ", "▁")
    before = normalizers.Sequence([normalizers.Prepend("▁"), symbol])
    yield "Llama 2", of_characters, {"normalizer": before, "decoder": spaced}
    cut: Any = pre_tokenizers.Split(" ", "merged_with_previous")
    yield "Gemma", of_characters, {"normalizer": symbol, "pre_tokenizer": cut, "decoder": spaced}
    yield "T5", of_pieces, {"pre_tokenizer": pre_tokenizers.Metaspace()}
    normal = {"normalizer": normalizers.NFKC(), "pre_tokenizer": pre_tokenizers.Metaspace()}
    yield "XLM-R", of_pieces, normal
    cut = pre_tokenizers.ByteLevel(add_prefix_space=True)
    yield "RoBERTa", of_bytes, {"pre_tokenizer": cut}
    fused = {"decoder": decoders.Fuse()}
    yield "scripts", of_characters, {"pre_tokenizer": pre_tokenizers.UnicodeScripts(), **fused}
    cut = pre_tokenizers.CharDelimiterSplit("_")
    yield "delimiter", of_characters, {"pre_tokenizer": cut, **fused}
    cut = pre_tokenizers.Split(Regex(r"\d"), "isolated")
    yield "digits", of_characters, {"pre_tokenizer": cut, **fused}


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("flags", FLAGS, ids=lambda flags: "+".join(flags) or "plain")
@pytest.mark.parametrize(
    ("make", "parts"), [one[1:] for one in pipelines()], ids=[one[0] for one in pipelines()]
)
def test_ids_and_offsets(
    make: Any, parts: dict[str, Any], flags: dict[str, bool], normalized: bool
) -> None:
    theirs: Tokenizer = make(**parts)
    theirs.add_tokens([AddedToken("x.", normalized=normalized, **flags)])
    theirs.add_tokens([AddedToken("ABC", normalized=normalized, **flags)])
    theirs.add_tokens([AddedToken("ab", normalized=False)])
    tok = digram.Tokenizer(loads(theirs.to_str().encode()))
    rng = random.Random(7)
    parts_of_texts = ["x.", "ABC", "ab", " ", "  ", "\t", "\n", "▁", *"abx0_éж"]
    for _ in range(400):
        text = "".join(rng.choices(parts_of_texts, k=rng.randrange(1, 9)))
        expected = theirs.encode(text, add_special_tokens=False)
        found = tok(text, special="parse", add_special_tokens=False)
        assert found.ids == expected.ids, text
        assert tok.encode(text, special="parse") == expected.ids, text
        if make is not of_bytes:  # whose offsets of the space before a text are trimmed
            assert found.offsets == expected.offsets, text


def compare(theirs: Tokenizer, parts: list[str]) -> None:
    tok = digram.Tokenizer(loads(theirs.to_str().encode()))
    rng = random.Random(8)
    for _ in range(600):
        text = "".join(rng.choices(parts, k=rng.randrange(1, 9)))
        expected = theirs.encode(text, add_special_tokens=False)
        assert tok(text, add_special_tokens=False).ids == expected.ids, text
        assert tok.decode(expected.ids) == theirs.decode(expected.ids, skip_special_tokens=False)


@pytest.mark.parametrize("flags", [{}, {"single_word": True}, {"normalized": False}])
def test_tokens_that_merges_make_too(flags: dict[str, bool]) -> None:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pairs = [("t", "h"), ("th", "e"), ("the", "r"), ("l", "l"), ("o", "n")]
    names = [*letters, *("".join(pair) for pair in pairs)]
    model = models.BPE({name: id for id, name in enumerate(names)}, pairs)
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs = of_model(model, pre_tokenizer=cut, decoder=decoders.ByteLevel())
    theirs.add_tokens([AddedToken(text, **flags) for text in ("the", "ll", "1")])
    compare(theirs, ["the", "th", "e", "r", "there", "l", "ll", "1", "2", "12", " ", "_", "on"])


@pytest.mark.parametrize("flags", [{}, {"single_word": True}, {"normalized": False}])
@pytest.mark.parametrize("normalizer", [None, normalizers.NFKC()])
def test_tokens_that_are_pieces_too(flags: dict[str, bool], normalizer: Any) -> None:
    scores = {"<unk>": 0.0, "▁": -1.0, "a": -2.0, "1": -2.0, "é": -3.0, "▁1": -2.5, "-": -2.0}
    model = models.Unigram([*scores.items()], 0, False)
    theirs = of_model(model, decoder=decoders.Metaspace(), pre_tokenizer=pre_tokenizers.Metaspace())
    if normalizer is not None:
        theirs.normalizer = normalizer
    theirs.add_tokens([AddedToken(text, **flags) for text in ("-", "é", "1")])
    compare(theirs, ["a", "-", " ", "é", "e\u0301", "1", "½", "⅓", "x"])


def test_tokens_that_cannot_be_told_apart_are_refused() -> None:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    model = models.BPE({name: id for id, name in enumerate([*letters, "th"])}, [("t", "h")])
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs = of_model(model, pre_tokenizer=cut, decoder=decoders.ByteLevel())
    theirs.add_special_tokens(["th"])
    with pytest.raises(VocabError, match="the special token 'th', which is also in merges"):
        loads(theirs.to_str().encode())
    for token in (AddedToken("1", special=True), AddedToken("é")):
        theirs = of_bytes(pre_tokenizer=cut)
        theirs.add_tokens([token])
        with pytest.raises(VocabError, match=r"which is the letter of the byte 0x.. too"):
            loads(theirs.to_str().encode())
    words = {"[UNK]": 0, "a": 1, "##a": 2}
    theirs = of_model(models.WordPiece(words, unk_token="[UNK]"), decoder=decoders.WordPiece())
    theirs.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    theirs.add_tokens(["##a"])
    with pytest.raises(VocabError, match="'##a', which is also a piece inside words"):
        loads(theirs.to_str().encode())


@pytest.mark.parametrize("scheme", ["always", "first", "never"])
@pytest.mark.parametrize("is_symbol", [True, False])
def test_tokens_that_begin_with_a_space(scheme: str, is_symbol: bool) -> None:
    decoder: Any = decoders.Metaspace("▁", scheme)
    if not is_symbol:
        decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()])
    pieces = [("<unk>", 0.0), ("▁", -1.0), ("a", -2.0), ("▁a", -2.5), ("h", -3.0), ("i", -3.0)]
    cut = pre_tokenizers.Metaspace("▁", scheme)
    theirs = of_model(models.Unigram(pieces, 0, False), pre_tokenizer=cut, decoder=decoder)
    theirs.add_tokens(["  ", "\n", " hi"])
    compare(theirs, [" ", "  ", "a", "\n", "hi", " hi", " a"])
    theirs.add_tokens([" a"])
    with pytest.raises(VocabError, match="' a' beside a token whose symbol means its space"):
        loads(theirs.to_str().encode())


@pytest.mark.parametrize(("id", "other"), [(900, 257), (257, None)])
def test_ids_that_the_library_does_not_give(id: int, other: int | None, tmp_path: Path) -> None:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    model = models.BPE({letter: id for id, letter in enumerate(letters)}, [])
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs = of_model(model, pre_tokenizer=cut, decoder=decoders.ByteLevel())
    theirs.add_tokens(["<x>", "<y>"])
    top = json.loads(theirs.to_str())
    top["added_tokens"][1]["id"] = id
    (tmp_path / "t.json").write_text(json.dumps(top))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tok = digram.load(tmp_path / "t.json")
    assert tok.special_tokens["<y>"] == id
    assert [f"gives it {other}." in str(one.message) for one in told] == [True] * bool(other)
    assert all(one.filename == __file__ for one in told)
