"""Stages that see the letters of bytes: those after `ByteLevel`, and after the normalizer of it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

import digram
from digram import Pretokenizer, VocabError, pretokenize
from digram.formats.huggingface import dumps, loads
from digram.pretokenizers import Prepend
from digram.reference.letters import letters, split_letters

CORPUS = [
    "The café's naïve façade: 12,345 résumés — Ångström; E\u0301te\u0301 m² ½ ¹²³ word é",
    "한국어 각 中文 日本語がカ゚ हिन्दी क़ ক্ষ ো Tiếng Việt được เก ٣٤٥",
    "def f(x):\n    return x[0]  # <tool_call> ' s  t' 've\t\t\r\n\r\n   end 1234567",
]
BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
WORDS = pre_tokenizers.ByteLevel(add_prefix_space=False)
PREFIXED = pre_tokenizers.ByteLevel(add_prefix_space=True)


def split(regex: str, behavior: str = "isolated") -> Any:
    return pre_tokenizers.Split(Regex(regex), behavior)


FALCON = [
    pre_tokenizers.Punctuation("contiguous"),
    WORDS,
    pre_tokenizers.Digits(individual_digits=False),
    split("[0-9][0-9][0-9]"),
]
CUTS: dict[str, list[Any]] = {
    "Falcon": FALCON,
    "with a prefix": [FALCON[0], PREFIXED, *FALCON[2:]],
    "digits": [BYTES, pre_tokenizers.Digits(individual_digits=True)],
    "punctuation": [WORDS, pre_tokenizers.Punctuation("merged_with_previous")],
    "words": [BYTES, pre_tokenizers.Whitespace()],
    "nothing": [WORDS, pre_tokenizers.WhitespaceSplit(), pre_tokenizers.CharDelimiterSplit(" ")],
    "words of BERT": [BYTES, pre_tokenizers.BertPreTokenizer()],
    "letters": [BYTES, split(r"Ġ?\p{L}+"), split("[ÃÄ]", "contiguous")],
    "bytes": [BYTES, pre_tokenizers.FixedLength(3)],
    "around": [split(r"\s+"), BYTES, split("é|Ã."), split(r"\p{Ll}+|Ġ(?!Ġ)")],
}
NORMALIZERS: dict[str, tuple[Any, Any]] = {
    "alone": (normalizers.ByteLevel(), None),
    "last": (
        normalizers.Sequence(
            [
                normalizers.NFC(),
                normalizers.Sequence([normalizers.Lowercase(), normalizers.ByteLevel()]),
            ]
        ),
        None,
    ),
    "before splits": (
        normalizers.ByteLevel(),
        pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), split("Ġ", "merged_with_next")]
        ),
    ),
}


def made(cut: Any, normalizer: Any = None, *tokens: AddedToken) -> Tokenizer:
    theirs = Tokenizer(models.BPE())
    if cut is not None:
        theirs.pre_tokenizer = cut
    if normalizer is not None:
        theirs.normalizer = normalizer
    theirs.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=500, initial_alphabet=alphabet, show_progress=False)
    theirs.train_from_iterator(CORPUS * 3, trainer)
    theirs.add_special_tokens(["<|end|>"])
    late = AddedToken("word é", normalized=True)
    theirs.add_tokens([late, AddedToken("naï", normalized=False, lstrip=True), *tokens])
    return theirs


def check(theirs: Tokenizer, corpus: list[str], fuzz: int) -> None:
    """Both libraries agree, and so they do on what is written."""
    definition = loads(theirs.to_str().encode())
    tok = digram.Tokenizer(definition)
    found = digram.verify(tok, theirs, corpus, fuzz=fuzz)
    assert found.equal, str(found)
    written = dumps(definition)
    assert digram.Tokenizer(loads(written)) == tok
    found = digram.verify(tok, Tokenizer.from_str(written.decode()), corpus[:10], fuzz=100)
    assert found.equal, str(found)


@pytest.mark.parametrize("name", CUTS)
def test_stages_after_byte_level(name: str) -> None:
    check(made(pre_tokenizers.Sequence(CUTS[name])), CORPUS, 1500)


@pytest.mark.parametrize("name", NORMALIZERS)
def test_the_normalizer(name: str) -> None:
    normalizer, cut = NORMALIZERS[name]
    check(made(cut, normalizer), [*CORPUS, "a word é<|end|>word é  naï"], 1500)


def test_languages(shared_data: Callable[[str], Path]) -> None:
    lines = [
        line
        for path in sorted(shared_data("flores-dev").glob("*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()[:10]
    ]
    assert len(lines) > 400
    check(made(pre_tokenizers.Sequence(FALCON), normalizers.NFC()), lines, 0)


@pytest.mark.parametrize(
    "stage",
    [
        BYTES,
        pre_tokenizers.Metaspace(),
        pre_tokenizers.CharDelimiterSplit("a"),
        pre_tokenizers.Punctuation("removed"),
        split("Ġ", "removed"),
    ],
    ids=str,
)
def test_stages_that_change_letters_are_refused(stage: Any) -> None:
    theirs = made(pre_tokenizers.Sequence([BYTES, stage]))
    with pytest.raises(
        VocabError, match=r"after ByteLevel .it may change or leave out the letters"
    ):
        loads(theirs.to_str().encode())


def test_what_depends_on_letters_is_refused() -> None:
    token = AddedToken("x", normalized=True, single_word=True)
    theirs = made(None, normalizers.ByteLevel(), token)
    with pytest.raises(VocabError, match="depends on what is beside it, after ByteLevel"):
        loads(theirs.to_str().encode())
    both = normalizers.Sequence([normalizers.ByteLevel(), normalizers.NFC()])
    with pytest.raises(VocabError, match=r"normalizers\[0\] 'ByteLevel'"):
        loads(made(None, both).to_str().encode())


def test_pretokens_are_those_of_the_specification() -> None:
    rng = random.Random(3)
    for regex in (r"\p{N}", "[0-9]{3}", "Ã.", r"\p{Ll}+|Ġ(?!Ġ)"):
        cut = Pretokenizer("gpt2", byte_patterns=digram.Regex(regex))
        for _ in range(300):
            text = "".join(rng.choices("a1²½é中\U0001f600 \n123x", k=rng.randrange(20)))
            expected = [
                piece
                for pretoken in pretokenize(text.encode(), "gpt2")
                for piece in split_letters(
                    pretoken, partial(pretokenize, pretokenizer=digram.Regex(regex))
                )
            ]
            assert pretokenize(text.encode(), cut) == expected
    assert letters("é ".encode()) == "Ã©Ġ"


def test_training_and_files_keep_the_patterns(tmp_path: Path) -> None:
    cut = Pretokenizer("gpt2", byte_patterns=[digram.Regex(r"\p{N}")], normalizer=Prepend("_"))
    assert "byte_patterns=Regex" in repr(cut)
    tok = digram.train(CORPUS * 3, vocab_size=320, pretokenizer=cut)
    for name in ("t.json", "own.json"):
        tok.save(tmp_path / name, format="digram" if name == "own.json" else "huggingface")
        again = digram.load(tmp_path / name)
        assert (again, again.pretokenizer) == (tok, cut)
    assert tok != digram.train(CORPUS * 3, vocab_size=320, pretokenizer="gpt2")
    counts = digram.count_pretokens(CORPUS, pretokenizer=cut)
    counts.save(tmp_path / "c.counts")
    assert digram.Counts.load(tmp_path / "c.counts").pretokenizer == cut
    text = "".join(CORPUS)
    stream = digram.train(CORPUS, vocab_size=300, pretokenizer=cut)
    assert b"".join(stream.tokens(stream.encode(text))) == b"_" + text.encode()


def test_other_formats_and_characters_refuse(tmp_path: Path) -> None:
    cut = Pretokenizer("gpt2", byte_patterns=digram.Regex(r"\p{N}"))
    tok = digram.train("low 12", vocab_size=258, pretokenizer=cut)
    for format in ("tiktoken", "vocab_merges", "minbpe", "tekken", "gguf"):
        with pytest.raises(VocabError):
            tok.save(tmp_path / "x", format=format)
    with pytest.raises(digram.DigramError, match="byte_patterns may split characters"):
        digram.train("low 12", max_merges=1, unit="char", pretokenizer=cut)
    with pytest.raises(TypeError, match="byte_patterns are"):
        Pretokenizer(None, byte_patterns=["a"])  # type: ignore[list-item]
    file = json.loads(dumps(tok.definition))
    assert [one["type"] for one in file["pre_tokenizer"]["pretokenizers"]] == ["ByteLevel", "Split"]


def test_explaining_a_split_inside_a_character() -> None:
    cut = Pretokenizer("gpt2", byte_patterns=digram.Regex(r"\p{N}"))
    tok = digram.train("low 12", vocab_size=258, pretokenizer=cut)
    explained = digram.explain(tok, "m² low")
    assert "byte_patterns" in str(explained)
