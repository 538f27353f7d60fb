"""The pre_tokenizer `UnicodeScripts` beside the library itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import digram
from digram import Pretokenizer, Regex
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
