"""Normalizers and added tokens of tokenizer.json, with the library itself beside them."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from strategies import real, scaled
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


def replaced() -> Tokenizer:
    """The normalizer of CLIP, and regexes of other kinds."""
    stages = [
        normalizers.NFC(),
        normalizers.Replace(Regex(r"\s+"), " "),
        normalizers.Replace(Regex(r"[\n\r\t]|(a|b){2}|\p{L}+\p{N}"), "é $1"),
        normalizers.Lowercase(),
    ]
    return made(normalizers.Sequence(stages), level(True), IM, [plain("<tool>")])


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


def gemma_with_runs() -> Tokenizer:
    """Runs of white space are added tokens, and ordinary ones that merges make."""
    theirs = gemma()
    runs = [run for run in ("▁▁", "▁▁▁", "▁▁▁▁", "\n", "\n\n", "\t") if theirs.token_to_id(run)]
    assert {"▁▁", "\n"} <= {*runs}
    theirs.add_tokens([plain(run) for run in runs])
    return theirs


def t5() -> Tokenizer:
    space = pre_tokenizers.Metaspace("▁", prepend_scheme="always", split=True)
    cut = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), space])
    late = [plain("<tool>"), plain("word", normalized=True)]
    return spaced(normalizers.Replace(Regex(" {2,}"), "▁"), cut, True, *S, *late)


def first_after_words() -> Tokenizer:
    space = pre_tokenizers.Metaspace("▁", prepend_scheme="first", split=False)
    cut = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), space])
    return spaced(normalizers.NFC(), cut, True, *S, plain("<tool>"))


def words() -> Tokenizer:
    cut = pre_tokenizers.Metaspace("▁", prepend_scheme="always", split=True)
    late = plain("word", normalized=True)
    return spaced(normalizers.NFKC(), cut, False, *S, plain("<tool>"), late)


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
SPACED = [
    *(llama2, llama2_of_2023, mistral, phi3, gemma, gemma_with_runs, t5, first_after_words),
    *(words, unprefixed),
]
FAMILIES = [
    *SPACED,
    *WORDS,
    qwen,
    gpt_neox,
    command_r,
    roberta,
    phi,
    replaced,
    lower,
    spaces,
    mixed,
]


def check(
    ours: digram.Tokenizer, theirs: Tokenizer, corpus: list[str] | None = None, fuzz: int = 0
) -> None:
    """Ids, offsets and decoded text are the same, with special tokens as text and parsed."""
    found = digram.verify(ours, theirs, corpus, fuzz=fuzz)
    assert found.equal, str(found)
    assert set(found.compared) == {"text", "parse"}
    assert set(found.compared["text"]) == {"ids", "offsets", "decoded"}
    assert found.texts == len(corpus or []) + fuzz


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_a_family_is_read_and_written(family: Any, tmp_path: Path) -> None:
    theirs = family()
    definition = loads(theirs.to_str().encode())
    ours = digram.Tokenizer(definition)
    check(ours, theirs, TRAINED_ON, fuzz=scaled(3000))
    # What is written is read by the library, with the same ids, and read again.
    path = tmp_path / "tokenizer.json"
    ours.save(path)
    again = digram.load(path)
    assert (again, again.definition) == (ours, definition)
    check(again, Tokenizer.from_file(str(path)), fuzz=scaled(500))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_languages(family: Any, shared_data: Callable[[str], Path]) -> None:
    theirs = family()
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    corpus = []
    for path in sorted(shared_data("flores-dev").glob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()[: real(20)]
        corpus += [*lines, unicodedata.normalize("NFD", "\n".join(lines))]
    assert len(corpus) > 800
    check(ours, theirs, corpus)


CUTS = ["Whitespace", "WhitespaceSplit", "BertPreTokenizer"]


@pytest.mark.parametrize("name", CUTS)
def test_text_is_cut_beside_every_character_as_by_the_library(name: str) -> None:
    cut = getattr(pre_tokenizers, name)()
    theirs = made(None, pre_tokenizers.Sequence([cut, level()]), [], [])
    ours = digram.Tokenizer(loads(theirs.to_str().encode())).pretokenizer.splitter()
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(characters), 4096):
        block = characters[start : start + 4096]
        for between in ("a", "-", " "):
            # Nearly all characters of later planes are of one class, so that they stay one piece,
            # and one that only one side cuts is a piece more; in the others, each is by itself.
            text = between.join(block) if start < 0x20000 else between + "".join(block) + between
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
        (
            normalizers.Sequence([normalizers.ByteLevel(), normalizers.NFC()]),
            r"normalizers\[0\] 'ByteLevel'",
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
    check(ours, theirs, ["\u0419 \u0438\u0306 \u0439", "a b A_b\tA b"], fuzz=500)


def test_a_token_of_another_normal_form_is_not_cut_in_a_long_text() -> None:
    stages = level(True), IM, [plain("\u00c91", normalized=True)]
    theirs = made(normalizers.Lowercase(), *stages)
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    text = "h\u00c91 \u00c91 \u00e91, " * 40_000  # threads share it
    expected = theirs.encode(text).ids
    assert ours.encode(text) == expected
    parts = (text[at : at + 1000] for at in range(0, len(text), 1000))
    assert [id for ids in ours.encode_stream(parts) for id in ids] == expected


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
        ({"pre_tokenizer": {"type": "Whitespace"}}, "of type Whitespace, which may leave out text"),
        ({"normalizer": {"type": "NFC"}}, "pre_tokenizer None with this normalizer"),
        ({"decoder": {"type": "Metaspace"}}, "decoder Metaspace is not supported"),
    ],
)
def test_other_ways_with_spaces_are_refused(change: dict[str, Any], message: str) -> None:
    file = json.loads(llama2().to_str()) | change
    with pytest.raises(VocabError, match=message):
        loads(json.dumps(file).encode())


def test_a_special_token_with_the_symbol_that_merges_make_is_refused() -> None:
    """Text would become it also where special tokens are text."""
    theirs = llama2()
    symbol = next(name for name in theirs.get_vocab() if name.startswith("▁") and len(name) > 2)
    theirs.add_special_tokens([special(symbol)])
    with pytest.raises(VocabError, match="Special tokens cannot be in merges"):
        loads(theirs.to_str().encode())


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
