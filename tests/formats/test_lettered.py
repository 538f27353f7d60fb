"""Tokens with a prefix or a suffix in the letters of bytes, with the library itself beside them."""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from strategies import scaled
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, trainers
from tokenizers import normalizers as n
from tokenizers import pre_tokenizers as p
from tokenizers import processors as post

import digram
from digram import VocabError
from digram.formats._lettered import has_all_letters, in_letters, is_in_letters, to_bytes
from digram.formats.huggingface import dumps, loads
from digram.pretokenizers import NFC, Pretokenizer, Words
from digram.pretokenizers import Regex as Regex_
from digram.reference import affixes
from digram.reference.normalization import WordRule, words

INNER, END = "@@", "</w>"
TRAINED_ON = [
    "The café's naïve façade: 12,345 résumés — Ångström, Dvořák; E\u0301te\u0301",
    "한국어 각 中文 日本語がカ゚ हिन्दी Tiếng Việt được",
    "the lower lowest newer  wider theatre other low lo l o w a ab abc",
    "def f(x):\n    return x[0]  # <tool_call> ' s  t' 've\t\t\r\n\r\n   end",
]
HOSTILE = [
    *("", " ", "  ", "\n", " a", "a ", "  a  b ", "@@", "@@a @@", "</w>", "a</w>b", "low</w> "),
    *("\x85 \u3000x\u2028", "\x00\x7f", "ĠĊ", "<s>", "a<s> b", "<m> <m>", "é" * 90, "l" * 300),
]
LEVEL = p.ByteLevel(add_prefix_space=False)


def made(
    cut: Any = LEVEL,
    prefix: str = "",
    suffix: str = "",
    decoder: Any = None,
    processor: Any = None,
    normalizer: Any = None,
    whole: bool = True,
    corpus: list[str] = TRAINED_ON * 2,
    size: int = 900,
    **options: Any,
) -> Tokenizer:
    """A tokenizer trained by the library; if `whole`, with each letter at each place of a word."""
    named = {"continuing_subword_prefix": prefix, "end_of_word_suffix": suffix}
    used: dict[str, Any] = {name: affix for name, affix in named.items() if affix}
    theirs = Tokenizer(models.BPE(unk_token="<unk>", **used))
    theirs.pre_tokenizer = cut
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<s>", "<unk>"], show_progress=False, **used
    )
    theirs.train_from_iterator(corpus, trainer)
    theirs.decoder = decoder or decoders.ByteLevel()
    if normalizer is not None:
        theirs.normalizer = normalizer
    if processor is not None:
        theirs.post_processor = processor
    file = json.loads(theirs.to_str())
    file["model"].update(options)
    if whole:
        vocab = file["model"]["vocab"]
        letters = sorted(p.ByteLevel.alphabet())
        names = [a + one + b for one in letters for a in {"", prefix} for b in {"", suffix}]
        for name in dict.fromkeys(names):
            vocab.setdefault(name, len(vocab))
    theirs = Tokenizer.from_str(json.dumps(file))
    theirs.add_tokens([AddedToken("<m>", lstrip=True, normalized=True)])
    return theirs


FAMILIES: dict[str, Callable[..., Tokenizer]] = {
    "prefix": lambda **of: made(prefix=INNER, **of),
    "suffix": lambda **of: made(suffix=END, **of),
    "both": lambda **of: made(prefix=INNER, suffix=END, **of),
    "with a space before": lambda **of: made(p.ByteLevel(add_prefix_space=True), INNER, **of),
    "no split": lambda **of: made(
        p.Sequence([p.Digits(True), p.ByteLevel(add_prefix_space=False, use_regex=False)]),
        INNER,
        **of,
    ),
    "words with a space": lambda **of: made(
        p.Sequence([p.WhitespaceSplit(), p.ByteLevel(add_prefix_space=True)]), INNER, **of
    ),
    "stages": lambda **of: made(
        p.Sequence([p.Split(Regex(r"\d{1,3}"), "isolated"), p.Punctuation(), LEVEL]),
        INNER,
        normalizer=n.Sequence([n.NFC(), n.Lowercase()]),
        **of,
    ),
    "trimmed": lambda **of: made(
        prefix=INNER, processor=post.ByteLevel(trim_offsets=True, add_prefix_space=False), **of
    ),
    "trimmed but a space": lambda **of: made(
        p.ByteLevel(), INNER, END, processor=post.ByteLevel(trim_offsets=True), **of
    ),
    "decoded without the prefix": lambda **of: made(
        prefix=INNER,
        decoder=decoders.Sequence([decoders.Replace(INNER, ""), decoders.ByteLevel()]),
        **of,
    ),
    "decoded as letters": lambda **of: made(prefix=INNER, decoder=decoders.WordPiece(INNER), **of),
    "letters that are unknown": lambda **of: made(prefix=INNER, whole=False, **of),
    "unknown and fused": lambda **of: made(prefix=INNER, whole=False, fuse_unk=True, **of),
    "words without spaces, letters that are unknown": lambda **of: made(
        p.Sequence([p.WhitespaceSplit(), LEVEL]), suffix=END, whole=False, **of
    ),
    "names": lambda **of: made(prefix=INNER, suffix="é", ignore_merges=True, **of),
}


def check(ours: digram.Tokenizer, theirs: Tokenizer, corpus: list[str], fuzz: int = 0) -> None:
    found = digram.verify(ours, theirs, corpus, fuzz=fuzz)
    assert found.equal, str(found)
    assert all({*facts} >= {"ids", "offsets", "decoded"} for facts in found.compared.values())
    assert found.texts == len(corpus) + fuzz


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_read_and_written(family: str, tmp_path: Path) -> None:
    theirs = FAMILIES[family]()
    definition = loads(theirs.to_str().encode())
    assert (definition.unit, is_in_letters(definition.pretokenizer)) == ("char", True)
    ours = digram.Tokenizer(definition)
    corpus = TRAINED_ON + HOSTILE
    check(ours, theirs, corpus, fuzz=scaled(1500))
    path = tmp_path / "tokenizer.json"
    ours.save(path)
    again = digram.load(path)
    assert (again, again.definition) == (ours, definition)
    check(again, Tokenizer.from_file(str(path)), corpus, fuzz=scaled(300))
    ours.save(tmp_path / "own.json", format="digram")
    assert digram.load(tmp_path / "own.json").definition == definition


@pytest.mark.parametrize("family", ["prefix", "both", "with a space before"])
def test_languages(family: str, shared_data: Callable[[str], Path]) -> None:
    corpus: list[str] = []
    for path in sorted(shared_data("flores-dev").glob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()[:10]
        corpus += [*lines, unicodedata.normalize("NFD", "\n".join(lines))]
    assert len(corpus) > 400
    theirs = FAMILIES[family](corpus=corpus[::2], size=6000)
    check(digram.Tokenizer(loads(theirs.to_str().encode())), theirs, corpus)


@pytest.mark.parametrize(("prefix", "suffix"), [("@@", ""), ("@@", END), ("", END)])
def test_ids_are_those_of_the_specification(prefix: str, suffix: str) -> None:
    theirs = made(p.ByteLevel(add_prefix_space=True, use_regex=False), prefix, suffix)
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    model = json.loads(theirs.to_str())["model"]
    merges = [(left, right) for left, right in model["merges"]]
    rule = WordRule(prefix=" ", then=WordRule(letters=True))
    choose = random.Random(prefix + suffix)
    for _ in range(100):
        text = "".join(choose.choices("loweré日 \n#", k=choose.randrange(1, 30)))
        expected = [
            id
            for word in words(text, rule)
            for id in affixes.encode(word, model["vocab"], merges, prefix=prefix, suffix=suffix)
        ]
        assert ours.encode(text) == expected == theirs.encode(text).ids
        stream = [id for ids in ours.encode_stream([text[:7], text[7:]]) for id in ids]
        assert stream == expected


def test_a_pair_a_batch_and_bytes_that_are_not_utf8() -> None:
    ours = digram.Tokenizer(loads(FAMILIES["prefix"]().to_str().encode()))
    texts = TRAINED_ON + HOSTILE
    assert ours.encode_batch(texts) == [ours.encode(text) for text in texts]
    assert ours.encode(b"\xff") == [ours.token_to_id(" ÿ")]
    assert ours("é", add_special_tokens=False, offsets="bytes").offsets[0] == (0, 2)


def test_files_with_every_letter_drop_nothing() -> None:
    """So a model without an unknown token is written, which other libraries would drop text of."""
    file = json.loads(made(prefix=INNER).to_str())
    file["model"]["unk_token"] = None
    definition = loads(json.dumps(file).encode())
    assert has_all_letters(definition)
    assert loads(dumps(definition)) == definition
    tokens = [None if token == "ÿ".encode() else token for token in definition.tokens]
    model = definition.model
    assert isinstance(model, digram.BpeModel)
    merges = [one for one in model.merges if None not in map(tokens.__getitem__, one)]
    lacks = replace(definition, tokens=tokens, model=replace(model, merges=merges))
    assert not has_all_letters(lacks)
    with pytest.raises(VocabError, match="drop them silently"):
        dumps(lacks)


def test_the_same_name_at_two_places_is_refused() -> None:
    """The library makes `@@@` of two letters `@` at the start, and it is the letter inside too."""
    names = ["@", "@@@", "@@", "a"]
    model = models.BPE(
        {name: id for id, name in enumerate(names)},
        [("@", "@@@"), ("@@", "@@@")],
        continuing_subword_prefix=INNER,
    )
    theirs = Tokenizer(model)
    theirs.pre_tokenizer = p.ByteLevel(add_prefix_space=False, use_regex=False)
    theirs.decoder = decoders.ByteLevel()
    assert (theirs.encode("@@@").tokens, theirs.encode("a@").tokens) == (["@@@"], ["a", "@@@"])
    with pytest.raises(VocabError, match="'@@@', which may be at several places of a word"):
        loads(theirs.to_str().encode())


def test_splits_of_letters_are_refused() -> None:
    theirs = made(p.Sequence([LEVEL, p.Digits()]), INNER)
    with pytest.raises(VocabError, match="a pre_tokenizer after ByteLevel with tokens that depend"):
        loads(theirs.to_str().encode())


def test_a_pretokenizer_there_and_back() -> None:
    of_bytes = Pretokenizer("gpt2", normalizer=NFC())
    lettered = in_letters(of_bytes, " ", "", None)
    assert is_in_letters(lettered)
    assert to_bytes(lettered, " ", "") == Pretokenizer(
        Regex_(of_bytes.patterns[0]), normalizer=NFC()
    )
    for other in (
        Pretokenizer(None, normalizer=Words(prefix=" ", suffix="x", letters=True)),
        Pretokenizer("gpt2", normalizer=Words(prefix=" ", letters=True)),
    ):
        with pytest.raises(VocabError, match="in the letters of bytes cannot store"):
            to_bytes(other, " ", "")
