"""The pre_tokenizer `UnicodeScripts` beside the library itself."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import digram
from digram import Pretokenizer, Regex, VocabError
from digram.formats.huggingface import dumps, loads
from digram.pretokenizers import Words
from digram.pretokenizers.scripts import SCRIPT_RUNS, WITHOUT_SCRIPT

CHARACTERS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
CUT = Pretokenizer(
    None, normalizer=Words(tuple(map(Regex, SCRIPT_RUNS)), removed=Regex(WITHOUT_SCRIPT))
)


@pytest.mark.parametrize("between", ["", "a", "中", "7", "\u0301", " ", "\u0378"], ids=repr)
def test_every_character_has_the_script_of_the_library(between: str) -> None:
    theirs, ours = pre_tokenizers.UnicodeScripts(), CUT.splitter()
    for start in range(0, len(CHARACTERS), 2048):
        text = between.join(CHARACTERS[start : start + 2048])
        assert ours.split(text) == [piece for piece, _ in theirs.pre_tokenize_str(text)]


def of(*cuts: Any) -> Tokenizer:
    theirs = Tokenizer(models.BPE())
    theirs.pre_tokenizer = pre_tokenizers.Sequence([*cuts])
    theirs.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    theirs.train_from_iterator(["The café, 12 中文カー на русском हिन्दी " * 9], trainer)
    return theirs


def test_files(shared_data: Callable[[str], Path]) -> None:
    scripts = pre_tokenizers.UnicodeScripts()
    level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    corpus = ["", " ", "  a", "a 1 b", "カー中 x"]
    for path in sorted(shared_data("flores-dev").glob("*.txt")):
        corpus += path.read_text(encoding="utf-8").splitlines()[:10]
    for theirs in (of(scripts, level), of(level, scripts)):
        tok = digram.Tokenizer(loads(theirs.to_str().encode()))
        found = digram.verify(tok, theirs, corpus, fuzz=1000)
        assert found.equal, str(found)
    written = dumps(digram.Tokenizer(loads(of(scripts, level).to_str().encode())).definition)
    assert b'"UnicodeScripts"' in written
    assert digram.Tokenizer(loads(written)).pretokenizer.words is not None


AROUND = {
    "Whitespace": pre_tokenizers.Whitespace(),
    "BertPreTokenizer": pre_tokenizers.BertPreTokenizer(),
    "WhitespaceSplit": pre_tokenizers.WhitespaceSplit(),
    "Digits": pre_tokenizers.Digits(True),
    "Split": pre_tokenizers.Split("e", "isolated"),
    "Split, removed": pre_tokenizers.Split("e", "removed"),
    "Punctuation, removed": pre_tokenizers.Punctuation("removed"),
}
MIXED = [
    *"ab12 e_-.,\n\t中カー¡٣½дж",
    "\u0301",
    "\u0378",
    "\ue000",
    "\u085f",
    "\u19cc",
    "\U000f0000",
]


@pytest.mark.parametrize("first", [True, False], ids=["scripts first", "scripts last"])
@pytest.mark.parametrize("other", AROUND)
def test_characters_without_a_script_are_kept_behind_the_start(other: str, first: bool) -> None:
    """What a later stage cuts off is not the start of a text, where they are left out."""
    scripts = pre_tokenizers.UnicodeScripts()
    cuts = [scripts, AROUND[other]] if first else [AROUND[other], scripts]
    vocab = {one: number for number, one in enumerate(["<u>", *MIXED])}
    theirs = Tokenizer(models.BPE(vocab, [], unk_token="<u>"))
    theirs.pre_tokenizer, theirs.decoder = pre_tokenizers.Sequence(cuts), decoders.Fuse()
    tok = digram.Tokenizer(loads(theirs.to_str().encode()))
    rng = random.Random(5)
    texts = ["".join(rng.choices(MIXED, k=rng.randrange(12))) for _ in range(400)]
    for text in ["a\ue000b", "a\u085fb", "\ue000", "a\U000f0000", "a b\u19cc", "e ", *texts]:
        expected = theirs.encode(text)
        assert tok.encode(text) == expected.ids, text
        assert tok(text).offsets == expected.offsets, text


@pytest.mark.parametrize("other", ["Whitespace", "Split", "Digits"])
def test_words_of_scripts_that_are_cut_are_no_words_without_white_space(other: str) -> None:
    theirs = Tokenizer(models.WordLevel({"<u>": 0, "e": 1, " ": 2}, "<u>"))
    theirs.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.UnicodeScripts(), AROUND[other]])
    with pytest.raises(VocabError, match="WordLevel whose pre_tokenizer leaves text out in two"):
        loads(theirs.to_str().encode())
