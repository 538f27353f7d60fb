"""Pre_tokenizers that only split give the pieces that Hugging Face's library gives."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import vocabularies
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from tokenizers.pre_tokenizers import (
    Digits,
    FixedLength,
    PreTokenizer,
    Punctuation,
    Sequence,
    Split,
)

import digram
from digram import CorruptFileError, DigramError, PatternError, Pretokenizer, VocabError
from digram.formats._stages import from_stages, to_stages
from digram.formats.huggingface import dumps, loads
from digram.pretokenizers.pretokenizer import MISSING

BEHAVIORS = {
    "Isolated": "isolated",
    "Contiguous": "contiguous",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
}
ONE_CLASS = [
    *(
        "-",
        "a",
        "[ab]",
        "[^ab]",
        r"\p{N}",
        r"\P{L}",
        r"\s",
        r"\s+",
        "[ab]+",
        r"[^\w\s]+",
        " ",
        r"\.",
        r"\w",
    ),
    *("[[:punct:]]", r"\h", "[.,[ab]1]", r"[\^\]-]"),
]
OTHERS = [
    *(
        "a|b1",
        "ab",
        r"\s+$",
        "a(?=b)",
        "(?i:ab)",
        "(?<=a)b",
        "a|ab",
        "b|b1",
        r"\p{L}+\d",
        "(?>a+)b",
    ),
    *(
        r"\d{3}",
        ". ",
        "a.*b",
        ".+?1",
        r"^\s*a",
        r"\n|1\n",
        ".",
        "..",
        "(a)(b)?",
        r"b+(?!\S)",
        "  |-",
    ),
    *("(?=a)", r"(?<=\p{L})(?=\d)", r"\b", "^", "$", "(?!a)b"),
]
PARTS = [
    *"ab1²-_.,!?'’^] \n\t€$Σß中文カー¡٣½٪",
    *("  ", "--", "12345", "abc", "\u200c", "\u0301", "\U00011de1", "\u0bc5"),
]


def ours(stage: Any) -> Pretokenizer:
    return from_stages(stage, MISSING, None, MISSING, (), "t.json")[0]


def check(theirs: PreTokenizer, pretokenizer: Pretokenizer, texts: int, seed: int = 0) -> None:
    rng, splitter = random.Random(seed), pretokenizer.splitter()
    for _ in range(texts):
        text = "".join(rng.choices(PARTS, k=rng.randrange(14)))
        assert splitter.split(text) == [piece for piece, _ in theirs.pre_tokenize_str(text)], text


@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("kind", ["Regex", "String"])
def test_behaviors_of_split(behavior: str, inverted: bool, kind: str) -> None:
    for pattern in ONE_CLASS + OTHERS:
        given: Any = Regex(pattern) if kind == "Regex" else pattern
        theirs = Split(given, BEHAVIORS[behavior], inverted)
        stage = {
            "type": "Split",
            "pattern": {kind: pattern},
            "behavior": behavior,
            "invert": inverted,
        }
        check(theirs, ours(stage), 60)


@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("inverted", [False, True])
def test_behaviors_are_written(behavior: str, inverted: bool) -> None:
    """Another pattern, with which the other library splits in the same way."""
    for pattern in ONE_CLASS + OTHERS:
        stage = {
            "type": "Split",
            "pattern": {"Regex": pattern},
            "behavior": behavior,
            "invert": inverted,
        }
        file = json.loads(Tokenizer(models.BPE()).to_str())
        file["pre_tokenizer"] = to_stages(ours(stage), "char")
        written = Tokenizer.from_str(json.dumps(file)).pre_tokenizer
        check(written, ours(stage), 30)


@pytest.mark.parametrize("behavior", ["MergedWithPrevious", "MergedWithNext", "Contiguous"])
@pytest.mark.parametrize("pattern", [r"\d{3}", "a+b", r"\s+$"])
def test_long_texts_take_linear_time(behavior: str, pattern: str) -> None:
    """Quadratic time would be some minutes."""
    stage = {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": behavior,
        "invert": False,
    }
    for text in ("x", "a", "12 ", "a  b1"):
        assert "".join(ours(stage).splitter().split(text * 300_000)) == text * 300_000


@pytest.mark.parametrize(
    "theirs",
    [
        *(Digits(True), Digits(False), FixedLength(1), FixedLength(3)),
        *(Punctuation(behavior) for behavior in BEHAVIORS.values()),
        Sequence([Digits(True), Punctuation("contiguous"), FixedLength(2)]),
    ],
    ids=str,
)
def test_splits_by_class(theirs: PreTokenizer) -> None:
    pretokenizer = ours(json.loads(theirs.__getstate__()))
    check(theirs, pretokenizer, 2_000)
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(codes), 5_000):
        text = "a".join(map(chr, codes[start : start + 5_000]))
        expected = [piece for piece, _ in theirs.pre_tokenize_str(text)]
        assert pretokenizer.splitter().split(text) == expected, hex(codes[start])


SPLIT = {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Isolated", "invert": False}


@pytest.mark.parametrize(
    ("stage", "error", "message"),
    [
        (SPLIT | {"behavior": "isolated"}, VocabError, "behavior 'isolated' is not"),
        (SPLIT | {"invert": None}, CorruptFileError, "invert should be true or false"),
        (SPLIT | {"pattern": {}}, VocabError, "other than a Regex or a String"),
        (SPLIT | {"pattern": {"Regex": "a", "String": "b"}}, VocabError, "other than"),
        (SPLIT | {"pattern": {"String": 7}}, CorruptFileError, "String should be a string"),
        (
            SPLIT | {"pattern": {"Regex": "(?=a)|b"}, "behavior": "MergedWithNext"},
            VocabError,
            "a Regex that may match nothing",
        ),
        (
            SPLIT | {"pattern": {"Regex": "a*"}, "behavior": "Contiguous"},
            VocabError,
            "a Regex that may match nothing",
        ),
        (
            SPLIT | {"pattern": {"Regex": "(?>a+)ab"}, "behavior": "MergedWithPrevious"},
            PatternError,
            "an atomic group",
        ),
        ({"type": "Digits"}, CorruptFileError, "individual_digits should be true or false"),
        ({"type": "Punctuation", "new": 1}, VocabError, "the key 'new'"),
        ({"type": "FixedLength", "length": 0}, CorruptFileError, "length 0 should be at least 1"),
        ({"type": "FixedLength", "length": 100_000}, PatternError, "20000 steps"),
        ({"type": "Scripts"}, VocabError, "of type Scripts"),
        ({"type": "WhitespaceSplit", "x": 1}, VocabError, "the key 'x'"),
        ({"type": "CharDelimiterSplit", "delimiter": "ab"}, CorruptFileError, "one character"),
        (
            {
                "type": "Sequence",
                "pretokenizers": [
                    {"type": "ByteLevel", "add_prefix_space": False},
                    SPLIT | {"behavior": "Removed"},
                ],
            },
            VocabError,
            r"after ByteLevel \(it may change or leave out the letters of bytes\)",
        ),
    ],
)
def test_refused(stage: Any, error: type[DigramError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        ours(stage)
    assert str(caught.value).startswith("t.json: ")


# --- whole files with the pre_tokenizers of published families


def isolated(regex: str) -> Split:
    return Split(Regex(regex), "isolated")


def byte_level(splits: bool) -> pre_tokenizers.ByteLevel:
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=splits)


FAMILIES = {
    "StarCoder, SmolLM": [Digits(True), byte_level(True)],
    "DeepSeek-Coder": [
        isolated("[\r\n]"),
        isolated(r"\s?\p{L}+"),
        isolated(r"\s?\p{P}+"),
        isolated("[一-龥ࠀ-一가-\ud7ff]+"),
        Digits(True),
        byte_level(False),
    ],
    "DeepSeek-LLM": [
        isolated("[\r\n]"),
        isolated(r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-Ֆ]+"),
        isolated(r"\s?[!-/:-~！-／：-～‘-‟\u3000-。]+"),
        isolated(r"\s+$"),
        isolated("[一-龥ࠀ-一가-\ud7ff]+"),
        Digits(True),
        byte_level(False),
    ],
    "BLOOM": [isolated(r" ?[^(\s|[.,!?…。，、।۔،])]+"), byte_level(False)],
    "Viking": [isolated(r" ?[^(\s|[.,!?…。，、।۔،])]+"), isolated(r"\p{N}"), byte_level(False)],
    "digits in threes, by a repetition of a repetition": [
        isolated(r"\p{N}{1,3}+|\p{L}+|[^\p{N}\p{L}]+"),
        byte_level(False),
    ],
}


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family: str) -> None:
    theirs = Tokenizer(models.BPE())
    theirs.pre_tokenizer = Sequence(FAMILIES[family])
    theirs.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<|end|>"],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    theirs.train_from_iterator([vocabularies.CORPUS, *vocabularies.texts(300, seed=5)], trainer)
    theirs.enable_truncation(8)
    theirs.enable_padding(pad_token="<|end|>", pad_id=0)
    definition = loads(theirs.to_str().encode())
    assert definition.pad_token == "<|end|>"
    theirs.no_truncation()
    theirs.no_padding()
    tokenizer = digram.Tokenizer(definition)
    rng = random.Random(9)
    mixed = ["".join(rng.choices(PARTS, k=rng.randrange(30))) for _ in range(1_000)]
    for text in [*vocabularies.texts(1_000), *mixed]:
        ids = tokenizer.encode(text, special="parse")
        assert theirs.encode(text).ids == ids, text
        assert theirs.decode(ids, skip_special_tokens=False) == tokenizer.decode(ids) == text
    # What digram writes has the same ids in both libraries, and is read as the same tokenizer.
    written = dumps(definition)
    assert loads(written) == definition
    again = Tokenizer.from_str(written.decode())
    assert again.truncation is not None
    assert again.truncation["max_length"] == 8
    again.no_truncation()
    again.no_padding()
    for text in mixed:
        assert again.encode(text).ids == theirs.encode(text).ids


def test_a_version_and_a_normalizer_that_do_nothing() -> None:
    file = json.loads(dumps(digram.train("banana", max_merges=2).definition))
    expected = loads(json.dumps(file).encode())
    del file["version"], file["model"]["digram"]
    file["normalizer"] = {"type": "Sequence", "normalizers": []}
    found = loads(json.dumps(file).encode())
    assert digram.Tokenizer(found) == digram.Tokenizer(expected)


def test_flores_with_the_pipelines_of_families(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("flores-dev")
    texts = [path.read_text(encoding="utf-8")[:20_000] for path in sorted(folder.glob("*.txt"))]
    assert len(texts) == 43
    for stages in FAMILIES.values():
        # Without ByteLevel, which gives letters instead of text; `test_families` compares ids.
        theirs = Sequence(stages[:-1])
        splitter = ours(json.loads(theirs.__getstate__())).splitter()
        for text in texts:
            expected = [piece for piece, _ in theirs.pre_tokenize_str(text)]
            assert splitter.split(text) == expected


@pytest.mark.parametrize("behavior", [*BEHAVIORS, "Removed"])
@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("kind", ["Regex", "String"])
def test_an_empty_pattern_splits_into_characters(behavior: str, inverted: bool, kind: str) -> None:
    """Whatever the behavior; inverted and removed, nothing is left."""
    name = BEHAVIORS.get(behavior, "removed")
    theirs = Split(Regex("") if kind == "Regex" else "", name, invert=inverted)
    stage = json.loads(theirs.__getstate__())
    assert stage["behavior"] == behavior
    check(theirs, ours(stage), 300)
    nothing = inverted and behavior == "Removed"
    assert ours(stage).splitter().split("aé\n") == ([] if nothing else ["a", "é", "\n"])
    vocab = {"<u>": 0, "a": 1, "b": 2, "ab": 3, "é": 4, " ": 5}
    peer = Tokenizer(models.BPE(vocab, [("a", "b")], unk_token="<u>"))
    peer.pre_tokenizer, peer.decoder = theirs, decoders.Fuse()
    definition = loads(peer.to_str().encode())
    tok, back = digram.Tokenizer(definition), Tokenizer.from_str(dumps(definition).decode())
    for text in ("ab éab", "", "b\u0301a x"):
        ids = peer.encode(text).ids
        assert tok.encode(text) == back.encode(text).ids == ids
        assert tok(text).offsets == peer.encode(text).offsets


def test_an_unknown_behavior_of_an_empty_pattern_is_refused() -> None:
    stage = {"type": "Split", "pattern": {"String": ""}, "behavior": "Other", "invert": False}
    with pytest.raises(VocabError, match="behavior 'Other' is not supported"):
        ours(stage)
