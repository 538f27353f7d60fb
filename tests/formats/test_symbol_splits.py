"""Stages that split text in which a symbol stands for spaces, beside the library itself."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers
from tokenizers.pre_tokenizers import (
    Digits,
    FixedLength,
    Metaspace,
    Punctuation,
    Sequence,
    Split,
    Whitespace,
    WhitespaceSplit,
)

import digram
from digram import Regex as OurRegex
from digram import VocabError, pretokenize
from digram.formats._portable import check_portable
from digram.formats._roles import with_role
from digram.formats.huggingface import dumps, loads

VOCAB = {one: number for number, one in enumerate(["<u>", "▁", *"ab12.,-!\n\té中€"])}
MERGES = [("▁", "a"), ("a", "b"), ("▁", "1"), ("▁", "▁")]
VOCAB |= {a + b: len(VOCAB) + number for number, (a, b) in enumerate(MERGES)}
REGEXES = [
    *(r"\p{L}+", r"[^\w\s]+", r"\s+", r"\S+", r"▁?\p{L}+|\d", "[ -~]", r"[^\s\p{L}]", "[a▁-]+"),
    *("[-a]", "[-▁]", r"\p{S}", r"[^\p{S}a]", r"\w+", ".", "..", "(?=▁a)", r"\b", "[^▁]+", "[^ ]+"),
    *(" |a", r"[\s.]+", "[▁ ]a", r"\P{L}", "[[:punct:]]", "[!-▁]+", r"\n$", "▁", " ", r"▁(?i:A)"),
]
LATER: list[Any] = [
    *(Digits(True), Digits(False), FixedLength(2), Punctuation(), Punctuation("contiguous")),
    *(Punctuation("merged_with_previous"), Split(" ", "isolated"), Split("▁", "merged_with_next")),
    *(Split(Regex(one), "isolated") for one in REGEXES),
    *(Split(Regex(one), "merged_with_next") for one in REGEXES[::3]),
    *(Split(Regex(one), "merged_with_previous", invert=True) for one in REGEXES[1::3]),
]
BARS = normalizers.Replace(" ", "▁")
LLAMA = normalizers.Sequence([normalizers.Prepend("▁"), BARS])


def bpe() -> models.Model:
    return models.BPE(VOCAB, MERGES, unk_token="<u>")


def unigram() -> models.Model:
    return models.Unigram([(one, -1.0 - len(one) / 9) for one in VOCAB], 0, False)


def check(cut: Any, normalizer: Any, model: Callable[[], models.Model], rng: random.Random) -> None:
    theirs = Tokenizer(model())
    theirs.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()])
    theirs.pre_tokenizer = cut
    if normalizer is not None:
        theirs.normalizer = normalizer
    definition = loads(theirs.to_str().encode())
    tok, back = digram.Tokenizer(definition), Tokenizer.from_str(dumps(definition).decode())
    assert digram.Tokenizer(loads(dumps(definition))) == tok
    for _ in range(40):
        text = "".join(rng.choices("aabb1122  ▁▁.,-!\n\té中€A", k=rng.randrange(10)))
        expected = theirs.encode(text)
        assert tok.encode(text) == expected.ids, (cut, text)
        assert tok(text).offsets == expected.offsets, (cut, text)
        assert tok.decode(expected.ids) == theirs.decode(expected.ids)
        assert back.encode(text).ids == expected.ids, (cut, text)


@pytest.mark.parametrize("model", [bpe, unigram])
@pytest.mark.parametrize("scheme", ["always", "first", "never"])
def test_stages_behind_metaspace(scheme: Any, model: Callable[[], models.Model]) -> None:
    rng = random.Random(scheme)
    for later in LATER:
        before: list[Any] = rng.choice([[], [], [WhitespaceSplit()], [Punctuation()]])
        metaspace = Metaspace("▁", scheme, rng.random() < 0.7)
        others = rng.choices(LATER, k=rng.randrange(2))
        check(Sequence([*before, metaspace, later, *others]), None, model, rng)


@pytest.mark.parametrize("normalizer", [BARS, LLAMA], ids=["Replace", "Prepend, Replace"])
def test_stages_behind_a_normalizer(normalizer: Any) -> None:
    rng = random.Random(3)
    for later in LATER:
        check(later, normalizer, bpe, rng)


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (
            [Metaspace(), Whitespace()],
            r"\[1\] of type Whitespace, which may leave out text, behind",
        ),
        ([Metaspace(), Split("a", "removed")], r"\[1\] of type Split, which may leave out text"),
        ([Metaspace(), Metaspace()], "more than one Metaspace is not supported"),
        (
            [Digits(), Metaspace(), Split(Regex(r"\p{Zs}+"), "isolated")],
            r"\[2\] behind the symbol of spaces, with '\\\\p{Zs}', which tells the symbol of",
        ),
        (
            [Digits()],
            r"pre_tokenizer Sequence with this normalizer is not .* or whose pre_tokenizer is",
        ),
    ],
)
def test_refused(stages: list[Any], message: str) -> None:
    theirs = Tokenizer(bpe())
    theirs.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()])
    theirs.pre_tokenizer = Sequence(stages)
    with pytest.raises(VocabError, match=message):
        loads(theirs.to_str().encode())


def test_a_symbol_that_is_syntax_is_refused() -> None:
    file = json.loads(Tokenizer(models.BPE({"<u>": 0, ".": 1}, [], unk_token="<u>")).to_str())
    metaspace = json.loads(Metaspace(".").__getstate__())
    digits = {"type": "Digits", "individual_digits": True}
    file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [metaspace, digits]}
    file["decoder"] = {"type": "Replace", "pattern": {"String": "."}, "content": " "}
    with pytest.raises(VocabError, match=r"behind the symbol of spaces, with the symbol '\.'"):
        loads(json.dumps(file).encode())


def test_the_role_of_a_character() -> None:
    rng = random.Random(7)
    items = [*"ab▁ _-", r"\s", r"\S", r"\p{S}", "[^▁]", "[^ a]", "!-~", " -a", r"\-", r"\p{L}"]
    done = 0
    for _ in range(3_000):
        parts = "".join(rng.choices(items, k=rng.randrange(1, 4)))
        regex = rng.choice(["[{}]", "[^{}]", "(?:{})+", "{}"]).format(parts)
        try:
            check_portable(regex)
            changed = with_role(regex, "▁", " ")
            ours, theirs = OurRegex(changed), OurRegex(regex)
            for _ in range(10):
                text = "".join(rng.choices("ab▁_-\n!~é", k=rng.randrange(8)))
                pieces = [one.replace("▁", " ") for one in pretokenize(text, theirs)]
                assert pretokenize(text.replace("▁", " "), ours) == pieces, (regex, changed, text)
        except digram.DigramError:
            continue
        done += 1
    assert done > 1_000
