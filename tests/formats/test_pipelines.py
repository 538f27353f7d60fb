"""Normalizers and added tokens of tokenizer.json, with the library itself beside them."""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
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
    processors,
    trainers,
)

import digram
from digram import VocabError
from digram.formats.huggingface import dumps, loads
from digram.pretokenizers import NAMED

QWEN2 = NAMED["qwen2"].patterns[0]

TRAINED_ON = [
    "The café's naïve façade: 12,345 résumés — Ångström, Dvořák; E\u0301te\u0301 a\u0323\u0302",
    "한국어 각 中文 日本語がカ゚ हिन्दी क़ ক্ষ ো Tiếng Việt được",
    "def f(x):\n    return x[0]  # <tool_call> ' s  t' 've\t\t\r\n\r\n   end",
]

PARTS = [
    *"ab AB12 \t\n'.,é中각カ\u2028\u3000\u200b²_-",
    *("\u0301", "\u0323", "\u0302", "e\u0301", "\u212b", "\u1100", "\u1161", "\u11a8", "\u3099"),
    *("\u09c7", "\u09be", "\u0958", "\u0344", "\u0f73", "ﬁ", "①", "ﷺ", "İ", "ß", "Σ", "\U0001d15e"),
    *(
        "▁",
        "▁a",
        "<0x41>",
        "<|user|>",
        "<s>",
        "</s>",
        "<mask>",
        "<tool>",
        "  ",
        "    ",
        "word",
        "<|im_end|>",
        "\u1e9b\u0323",
    ),
]


def texts(count: int, seed: int = 0) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(count):
        yield "".join(rng.choices(PARTS, k=rng.randrange(16)))


def made(
    normalizer: Any,
    pre_tokenizer: Any,
    special: list[AddedToken],
    plain: list[AddedToken],
    **fields: Any,
) -> Tokenizer:
    """A tokenizer of the library, trained by it."""
    theirs = Tokenizer(models.BPE(**fields))
    if normalizer is not None:
        theirs.normalizer = normalizer
    theirs.pre_tokenizer = pre_tokenizer
    theirs.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, show_progress=False)
    theirs.train_from_iterator(TRAINED_ON * 3, trainer)
    theirs.add_special_tokens(special)
    theirs.add_tokens(plain)
    return theirs


def split(regex: str) -> Any:
    return pre_tokenizers.Split(Regex(regex), "isolated")


def level(use_regex: bool = False) -> Any:
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)


def plain(text: str, **flags: bool) -> AddedToken:
    return AddedToken(text, **{"special": False, "normalized": False, **flags})


def special(text: str, **flags: bool) -> AddedToken:
    return AddedToken(text, **{"special": True, "normalized": False, **flags})


IM = [special("<|endoftext|>"), special("<|im_start|>"), special("<|im_end|>")]
RUNS = [plain(" " * n, normalized=True) for n in range(24, 1, -1)]


def qwen() -> Tokenizer:
    cut = pre_tokenizers.Sequence([split(QWEN2), level()])
    return made(normalizers.NFC(), cut, IM, [plain("<tool>"), plain("</tool_call>")])


def gpt_neox() -> Tokenizer:
    theirs = made(normalizers.NFC(), level(True), [special("<|endoftext|>")], RUNS)
    theirs.post_processor = processors.ByteLevel(trim_offsets=False)
    return theirs


def command_r() -> Tokenizer:
    cut = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), level(True)])
    theirs = made(normalizers.NFC(), cut, [special("<s>"), special("</s>")], [])
    theirs.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", theirs.token_to_id("<s>"))]
    )
    return theirs


def roberta() -> Tokenizer:
    mask = special("<mask>", lstrip=True)
    return made(None, level(True), [special("<s>"), special("</s>"), mask], [])


def phi() -> Tokenizer:
    chat = [special("<s>", rstrip=True), special("</s>", rstrip=True), special("<|im_end|>")]
    return made(normalizers.NFKC(), level(True), chat, [plain("word", single_word=True)])


def lower() -> Tokenizer:
    stages = [normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]
    cut = pre_tokenizers.Sequence([split(QWEN2), level()])
    late = [plain("word", normalized=True), plain("ab", normalized=True, lstrip=True)]
    return made(normalizers.Sequence(stages), cut, IM, [*late, plain("<tool>", rstrip=True)])


def spaces() -> Tokenizer:
    stages = [
        normalizers.Replace("e", "éa"),
        normalizers.Strip(),
        normalizers.Nmt(),
        normalizers.NFKD(),
        normalizers.Replace("ab", ""),
        normalizers.Prepend("▁"),
    ]
    return made(normalizers.Sequence(stages), level(True), IM, [plain("<tool>"), plain("  ")])


def mixed() -> Tokenizer:
    """Two passes without a normalizer, and flags of all kinds."""
    some = [
        plain("ab", normalized=True),
        plain("b1", lstrip=True, rstrip=True),
        plain("aB", single_word=True),
        plain("AB1", normalized=True, single_word=True),
        plain(" '", rstrip=True),
    ]
    return made(None, level(True), [special("<s>", normalized=True), *IM], some)


def spaced(normalizer: Any, cut: Any, strip: bool, *tokens: AddedToken, **fields: Any) -> Tokenizer:
    """One whose tokens have a symbol in place of spaces, and bytes for other characters."""
    learned = Tokenizer(models.BPE())
    learned.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
    trainer = trainers.BpeTrainer(vocab_size=400, show_progress=False)
    learned.train_from_iterator(TRAINED_ON * 3, trainer)
    model = json.loads(learned.to_str())["model"]
    names = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *model["vocab"]]
    merges = [tuple(pair) for pair in model["merges"]]
    vocab = {name: i for i, name in enumerate(names)}
    theirs = Tokenizer(
        models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True, **fields)
    )
    if normalizer is not None:
        theirs.normalizer = normalizer
    if cut is not None:
        theirs.pre_tokenizer = cut
    stripped = [decoders.Strip(" ", 1, 0)] if strip else []
    theirs.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *stripped]
    )
    theirs.add_special_tokens([token for token in tokens if token.special])
    theirs.add_tokens([token for token in tokens if not token.special])
    return theirs


S = [special("<unk>"), special("<s>"), special("</s>")]


def llama2() -> Tokenizer:
    stages = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    theirs = spaced(normalizers.Sequence(stages), None, True, *S)
    theirs.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)]
    )
    return theirs


def llama2_of_2023() -> Tokenizer:
    """Its special tokens were searched for in normalized text."""
    stages = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    late = [special(token.content, normalized=True) for token in S]
    return spaced(normalizers.Sequence(stages), None, True, *late)


def mistral() -> Tokenizer:
    cut = pre_tokenizers.Metaspace("▁", prepend_scheme="first", split=False)
    return spaced(None, cut, True, *S)


def phi3() -> Tokenizer:
    cut = pre_tokenizers.Metaspace("▁", prepend_scheme="first", split=False)
    chat = [special(f"<|{name}|>", rstrip=True) for name in ("user", "end", "im_end")]
    return spaced(None, cut, True, *S, *chat, plain("<tool>", rstrip=True))


def gemma() -> Tokenizer:
    cut = pre_tokenizers.Split(" ", "merged_with_previous")
    return spaced(normalizers.Replace(" ", "▁"), cut, False, *S, special("<mask>"))


def words() -> Tokenizer:
    cut = pre_tokenizers.Metaspace("▁", prepend_scheme="always", split=True)
    return spaced(normalizers.NFKC(), cut, False, *S, plain("<tool>"))


def unprefixed() -> Tokenizer:
    cut = pre_tokenizers.Metaspace("▁", prepend_scheme="never", split=True)
    return spaced(None, cut, True, *S)


def in_words(cut: Any, normalizer: Any = None, *tokens: AddedToken) -> Tokenizer:
    return made(normalizer, cut, IM, [plain("<tool>"), plain("word", normalized=True), *tokens])


def bert_words() -> Tokenizer:
    cut = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), level()])
    return in_words(cut, normalizers.BertNormalizer())


def cased_bert_words() -> Tokenizer:
    cut = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), level(True)])
    return in_words(cut, normalizers.BertNormalizer(lowercase=False, clean_text=False))


def whitespace() -> Tokenizer:
    return in_words(pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), level()]))


def whitespace_split() -> Tokenizer:
    digits = pre_tokenizers.Digits(individual_digits=True)
    return in_words(
        pre_tokenizers.Sequence([digits, pre_tokenizers.WhitespaceSplit(), split("[.é]"), level()])
    )


def roberta_with_prefix() -> Tokenizer:
    return in_words(pre_tokenizers.ByteLevel(add_prefix_space=True), normalizers.NFC())


def prefixed_pieces() -> Tokenizer:
    prefixed = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)
    digits = pre_tokenizers.Digits(individual_digits=False)
    return in_words(pre_tokenizers.Sequence([digits, pre_tokenizers.Whitespace(), prefixed]))


def delimited() -> Tokenizer:
    return in_words(pre_tokenizers.Sequence([pre_tokenizers.CharDelimiterSplit("_"), level(True)]))


def removed() -> Tokenizer:
    cut = pre_tokenizers.Split(Regex(r"[\s.,]+"), "removed")
    return in_words(pre_tokenizers.Sequence([cut, level()]))


def without_punctuation() -> Tokenizer:
    return in_words(pre_tokenizers.Sequence([pre_tokenizers.Punctuation("removed"), level()]))


def kept_matches() -> Tokenizer:
    cut = pre_tokenizers.Split(Regex(r"[\p{L}\p{M}]+"), "removed", invert=True)
    return in_words(pre_tokenizers.Sequence([cut, level()]))


WORDS = [
    *(bert_words, cased_bert_words, whitespace, whitespace_split, roberta_with_prefix),
    *(prefixed_pieces, delimited, removed, without_punctuation, kept_matches),
]
SPACED = [llama2, llama2_of_2023, mistral, phi3, gemma, words, unprefixed]
FAMILIES = [*SPACED, *WORDS, qwen, gpt_neox, command_r, roberta, phi, lower, spaces, mixed]


def differences(theirs: Tokenizer, ours: digram.Tokenizer, corpus: list[str]) -> list[str]:
    """The texts for which ids, offsets or decoded text are not the same."""
    found = theirs.encode_batch(corpus, add_special_tokens=False)
    encodings = ours(corpus, special="parse", add_special_tokens=False)
    wrong = []
    for text, one, mine in zip(corpus, found, encodings, strict=True):
        same = one.ids == mine.ids and one.offsets == [tuple(span) for span in mine.offsets]
        same = same and ours.encode(text, special="parse") == one.ids
        same = same and ours.count(text, special="parse") == len(one.ids)
        decoded = theirs.decode(one.ids, skip_special_tokens=False)
        kept = theirs.decode(one.ids, skip_special_tokens=True)
        same = same and ours.decode(one.ids) == decoded
        same = same and ours.decode(one.ids, skip_special_tokens=True) == kept
        if not same:
            wrong.append(text)
    return wrong


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_a_family_is_read_and_written(family: Any, tmp_path: Path) -> None:
    theirs = family()
    definition = loads(theirs.to_str().encode())
    ours = digram.Tokenizer(definition)
    corpus = [*texts(3000), *TRAINED_ON]
    assert differences(theirs, ours, corpus) == []
    # What is written is read by the library, with the same ids, and read again.
    path = tmp_path / "tokenizer.json"
    ours.save(path)
    again = digram.load(path)
    assert (again, again.definition) == (ours, definition)
    assert differences(Tokenizer.from_file(str(path)), again, corpus[:500]) == []
    unread = [text for text in corpus[:300] if again.decode(again.encode(text)) is None]
    assert unread == []


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_languages(family: Any, shared_data: Callable[[str], Path]) -> None:
    theirs = family()
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    corpus = []
    for path in sorted(shared_data("flores-dev").glob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()[:20]
        corpus += [*lines, unicodedata.normalize("NFD", "\n".join(lines))]
    assert len(corpus) > 800
    assert differences(theirs, ours, corpus) == []


CUTS = ["Whitespace", "WhitespaceSplit", "BertPreTokenizer"]


@pytest.mark.parametrize("name", CUTS)
def test_text_is_cut_beside_every_character_as_by_the_library(name: str) -> None:
    cut = getattr(pre_tokenizers, name)()
    theirs = made(None, pre_tokenizers.Sequence([cut, level()]), [], [])
    ours = digram.Tokenizer(loads(theirs.to_str().encode())).pretokenizer.splitter()
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(characters), 4096):
        for between in ("a", "-", " "):
            text = between.join(characters[start : start + 4096])
            assert ours.split(text) == [piece for piece, _ in cut.pre_tokenize_str(text)]


FORMS = ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"]
OF_BERT = [
    {"lowercase": False, "handle_chinese_chars": False},
    {"lowercase": False, "clean_text": False},
    {"lowercase": False, "clean_text": False, "strip_accents": True},
    {},
]


@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in FORMS), *(("BertNormalizer", options) for options in OF_BERT)],
)
def test_every_character_is_normalized_as_by_the_library(
    name: str, options: dict[str, Any]
) -> None:
    theirs = getattr(normalizers, name)(**options)
    stage = getattr(digram.pretokenizers, name)(**options)
    ours = digram.Pretokenizer(None, normalizer=stage).splitter()
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(characters), 4096):
        block = characters[start : start + 4096]
        # A letter before each, so that marks of one do not join with another.
        for text in ("x".join(block), "e" + "e".join(block), "\u1100".join(block)):
            if ours.normalize(text) != theirs.normalize_str(text):
                wrong = [c for c in block if ours.normalize(c) != theirs.normalize_str(c)]
                raise AssertionError([hex(ord(c)) for c in wrong])


def test_flags_without_an_effect_are_left_out() -> None:
    theirs = made(None, level(True), [special("<s>", normalized=True)], [])
    assert loads(theirs.to_str().encode()).matching == {}


@pytest.mark.parametrize(
    ("normalizer", "message"),
    [
        (normalizers.Replace(Regex(" +"), " "), "normalizer.pattern other than a String"),
        (
            normalizers.Sequence([normalizers.NFC(), normalizers.ByteLevel()]),
            r"normalizers\[1\] 'ByteLevel'",
        ),
    ],
)
def test_other_normalizers_are_refused(normalizer: Any, message: str) -> None:
    theirs = made(normalizer, level(True), [], [])
    with pytest.raises(VocabError, match=message) as refused:
        loads(theirs.to_str().encode())
    assert "digram reads NFC" in str(refused.value)


def test_tokens_are_searched_for_in_their_normal_form() -> None:
    late = [plain("\u0418\u0306", normalized=True), plain("A b", normalized=True, lstrip=True)]
    stages = [normalizers.NFC(), normalizers.Lowercase(), normalizers.Replace(" ", "_")]
    theirs = made(normalizers.Sequence(stages), level(True), IM, late)
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    corpus = ["\u0419 \u0438\u0306 \u0439", "a b A_b\tA b", *texts(500)]
    assert differences(theirs, ours, corpus) == []


def test_tokens_of_one_normal_form_are_refused() -> None:
    late = [plain("AB", normalized=True), plain("ab", normalized=True)]
    theirs = made(normalizers.Lowercase(), level(True), [], late)
    with pytest.raises(VocabError, match="with the flag normalized, whose normal form is that of"):
        loads(theirs.to_str().encode())
    theirs = made(normalizers.Replace("ab", ""), level(True), [], late[1:])
    with pytest.raises(VocabError, match="with the flag normalized, whose normal form is nothing"):
        loads(theirs.to_str().encode())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pre_tokenizer": {"type": "Whitespace"}}, "pre_tokenizer Whitespace with this"),
        ({"normalizer": {"type": "NFC"}}, "pre_tokenizer None with this normalizer"),
        ({"decoder": {"type": "Metaspace"}}, "decoder Metaspace is not supported"),
    ],
)
def test_other_ways_with_spaces_are_refused(change: dict[str, Any], message: str) -> None:
    file = json.loads(llama2().to_str()) | change
    with pytest.raises(VocabError, match=message):
        loads(json.dumps(file).encode())


def test_byte_tokens_that_text_could_become_are_refused() -> None:
    """With ignore_merges the text <0x41> is the token of a byte, as any other name."""
    file = json.loads(llama2().to_str())
    file["model"]["ignore_merges"] = True
    with pytest.raises(VocabError, match="ignore_merges with byte_fallback"):
        loads(json.dumps(file).encode())


def test_a_token_with_the_symbol_is_refused() -> None:
    tok = digram.Tokenizer(loads(gemma().to_str().encode()))
    tokens = [*tok.definition.tokens, *[None] * 9, "a▁b".encode()]
    tok = digram.Tokenizer(replace(tok.definition, tokens=tokens))
    with pytest.raises(VocabError, match="has the symbol that stands for a space"):
        dumps(tok.definition)


def test_formats_without_room_refuse() -> None:
    for theirs, format, message in (
        (qwen(), "vocab_merges", "cannot store a normalizer"),
        (gpt_neox(), "tiktoken", "cannot store a normalizer"),
        (mixed(), "vocab_merges", "which is found in all text"),
    ):
        definition = loads(theirs.to_str().encode())
        with pytest.raises(VocabError, match=message):
            digram.formats.write(definition, "x", format=format, allow_loss=True)


def test_own_file(tmp_path: Path) -> None:
    tok = digram.Tokenizer(loads(spaces().to_str().encode()))
    tok.save(tmp_path / "t.json", format="digram")
    assert digram.load(tmp_path / "t.json") == tok
    file = json.loads(dumps(tok.definition))
    file["normalizer"]["normalizers"].pop()
    with pytest.raises(digram.CorruptFileError, match="does not fit its digest"):
        loads(json.dumps(file).encode())
