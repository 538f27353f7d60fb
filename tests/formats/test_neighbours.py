"""Added tokens that depend on what is beside them, in pipelines that put something else there."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

import digram
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
    cut = pre_tokenizers.Split(" ", "merged_with_previous")
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
