"""WordLevel in a tokenizer.json, with the library itself beside it."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

import digram
from digram.errors import DigramError, InvalidTextError, VocabError
from digram.formats.huggingface import dumps, loads

WORDS = ["low", "lower", "newest", "é", "日本", ".", "don", "'", "t", "LOW", "##x", "1"]
VOCAB = {"[UNK]": 0, "[PAD]": 1, **{word: id for id, word in enumerate(WORDS, 2)}}
PARTS = [
    *WORDS,
    " ",
    "  ",
    "\t",
    "\n",
    "\u3000",
    "don't",
    "[PAD]",
    "[UNK]",
    "x",
    "É",
    "e\u0301",
    "½",
]


def made(**parts: Any) -> Tokenizer:
    theirs = Tokenizer(models.WordLevel(dict(VOCAB), unk_token="[UNK]"))
    theirs.pre_tokenizer = pre_tokenizers.Whitespace()
    for name, part in parts.items():
        setattr(theirs, name, part)
    theirs.add_special_tokens(["[UNK]", "[PAD]"])
    return theirs


CASES: dict[str, dict[str, Any]] = {
    "Whitespace": {},
    "WhitespaceSplit": {"pre_tokenizer": pre_tokenizers.WhitespaceSplit()},
    "Bert": {
        "normalizer": normalizers.BertNormalizer(),
        "pre_tokenizer": pre_tokenizers.BertPreTokenizer(),
    },
    "digits": {
        "pre_tokenizer": pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(individual_digits=True)]
        )
    },
    "clean up": {"decoder": decoders.WordPiece(prefix="@@", cleanup=True)},
    # Decoders that are steps: "##x" is joined to the word before it.
    "joined": {"decoder": decoders.WordPiece(prefix="##", cleanup=False)},
    "CTC": {"decoder": decoders.CTC(pad_token="[PAD]", word_delimiter_token="o", cleanup=True)},
    "Fuse": {
        "pre_tokenizer": pre_tokenizers.Split(" ", "isolated"),
        "decoder": decoders.Fuse(),
    },
}


@pytest.mark.parametrize("name", CASES)
def test_ids_offsets_and_text(name: str, tmp_path: Path) -> None:
    theirs = made(**CASES[name])
    data = theirs.to_str().encode()
    ours = digram.Tokenizer(loads(data))
    rng = random.Random(name)
    for _ in range(600):
        text = "".join(rng.choices(PARTS, k=rng.randrange(12)))
        expected = theirs.encode(text)
        found = ours(text, special="parse", add_special_tokens=False)
        assert found.ids == expected.ids, text
        assert found.offsets == expected.offsets, text
        for skip in (False, True):
            decoded = theirs.decode(expected.ids, skip_special_tokens=skip)
            assert ours.decode(found.ids, skip_special_tokens=skip) == decoded, text
    for format in ("huggingface", "digram"):
        ours.save(tmp_path / "a.json", format=format)
        assert digram.load(tmp_path / "a.json") == ours
    again = Tokenizer.from_str(dumps(ours.definition).decode())
    assert again.encode("low lower x").ids == theirs.encode("low lower x").ids


def test_an_unknown_word_is_an_error_only_where_there_is_one() -> None:
    theirs = Tokenizer(models.WordLevel({"low": 0}, unk_token="<none>"))
    theirs.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    assert ours.encode("low low") == theirs.encode("low low").ids
    with pytest.raises(Exception, match="WordLevel error"):
        theirs.encode("low x")
    with pytest.raises(InvalidTextError, match='the word "x" at character 4'):
        ours.encode("low x")
    again = digram.Tokenizer(loads(dumps(ours.definition)))
    assert again == ours


def test_a_model_without_a_type() -> None:
    top = json.loads(made().to_str())
    del top["model"]["type"]
    assert loads(json.dumps(top).encode()) == loads(made().to_str().encode())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pre_tokenizer": None}, "keeps white space"),
        ({"pre_tokenizer": pre_tokenizers.ByteLevel(use_regex=False)}, "ByteLevel"),
    ],
)
def test_what_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(VocabError, match=message):
        loads(made(**changed).to_str().encode())


def test_a_word_that_is_an_added_token_elsewhere_is_refused() -> None:
    theirs = made()
    theirs.add_special_tokens([AddedToken("low", single_word=True)])
    with pytest.raises(VocabError, match="words may become it"):
        loads(theirs.to_str().encode())


def test_damaged_files() -> None:
    data = made().to_str().encode()
    rng = random.Random(0)
    for _ in range(400):
        at, end = sorted((rng.randrange(len(data)), rng.randrange(len(data))))
        with contextlib.suppress(DigramError, UserWarning):
            digram.Tokenizer(loads(data[:at] + data[end:]))


@pytest.mark.parametrize("options", [{"vocab_size": 9}, {"vocab_size": 40, "min_frequency": 2}])
def test_the_same_words_are_learned(options: dict[str, Any]) -> None:
    corpus = ["low low lower, newest newest", "b a c c d; lower low", "é 日本 é"] * 2
    theirs = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    theirs.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["[UNK]", "[PAD]"]
    trainer = trainers.WordLevelTrainer(special_tokens=special, show_progress=False, **options)
    theirs.train_from_iterator(corpus, trainer)
    ours = digram.train(
        corpus,
        model="wordlevel",
        pretokenizer=loads(theirs.to_str().encode()).pretokenizer,
        special_tokens=special,
        special_first=True,
        **options,
    )
    assert json.loads(dumps(ours.definition))["model"]["vocab"] == theirs.get_vocab()
    for text in corpus:
        assert ours.encode(text, special="parse") == theirs.encode(text).ids


def test_words_of_a_sentence_can_be_learned_and_used() -> None:
    text = "use byte pair encoding to tokenize text"
    tok = digram.train(text, model="wordlevel", vocab_size=8)
    assert tok.decode(tok.encode(text)) == text
    assert tok.tokens(tok.encode("use text")) == [b" use", b" text"]
    base = digram.train(
        text,
        unit="char",
        pretokenizer=digram.Pretokenizer(None, normalizer=digram.pretokenizers.SPACED_WORDS),
        max_merges=6,
    )
    assert base.decode(base.encode(text)) == f" {text}"


def test_options_without_effect_are_refused() -> None:
    for name, value in (
        *(("max_merges", 3), ("alphabet", "abc"), ("ties", "lexicographic"), ("picky", 0.5)),
        *(("unit", "byte"), ("on_unknown", "bytes"), ("superwords", "boundless")),
    ):
        with pytest.raises(digram.OptionError):
            digram.train("low", model="wordlevel", vocab_size=9, **{name: value})  # type: ignore[arg-type]
