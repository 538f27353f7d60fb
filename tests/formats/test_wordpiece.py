"""WordPiece in files: tokenizer.json and vocab.txt, with `tokenizers` as the oracle."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

import digram
from digram.formats import huggingface, vocab_txt

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdhelnort'.,!?#éß中가"
NAMES = [
    *SPECIAL,
    *(prefix + letter for letter in LETTERS for prefix in ("", "##")),
    *("hello", "##llo", "##ello", "don", "do", "not", "##", "##ccc", "##b##"),
]
TEXTS = [
    "",
    " ",
    "hello,  world! Don't do that.",
    "HELLO\tHÉLLO\u00a0helo\u200b x中文y 가나",
    "##ello ##b## a##b # ## hello##llo",
    "[CLS] hello [MASK]! [UNK][SEP]hello [unk]",
    "e\u0301 E\u0301 \ufffd \x00 ß ẞ İ",
    "a" * 100 + " " + "a" * 101,
    "zzz hello zzz",
]
BERT = pre_tokenizers.BertPreTokenizer()


def peer(
    names: list[str], normalizer: Any = None, pre_tokenizer: Any = BERT, most: int = 100
) -> tokenizers.Tokenizer:
    """A tokenizer as converters of BERT make it."""
    vocab = {name: id for id, name in enumerate(names)}
    made = tokenizers.Tokenizer(
        models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=most)
    )
    made.normalizer = normalizer or normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizer
    made.decoder = decoders.WordPiece("##", True)
    made.post_processor = processors.BertProcessing(
        ("[SEP]", vocab["[SEP]"]), ("[CLS]", vocab["[CLS]"])
    )
    made.add_special_tokens(SPECIAL)
    return made


def same(tok: digram.Tokenizer, other: tokenizers.Tokenizer, texts: list[str]) -> None:
    """Ids, decoded text and the ids of `tok(text)` are those of the peer."""
    for text in texts:
        expected = other.encode(text, add_special_tokens=False)
        ids = tok.encode(text, special="parse")
        assert ids == expected.ids, text
        for skip in (False, True):
            assert tok.decode(ids, skip_special_tokens=skip) == other.decode(
                ids, skip_special_tokens=skip
            )
        assert tok(text, special="parse").ids == other.encode(text).ids
        pair = other.encode(text, "hello")
        called = tok(text, "hello", special="parse")
        assert called.ids == pair.ids
        assert called.type_ids == pair.type_ids
    batch = tok.encode_batch(texts, special="parse")
    assert batch == [tok.encode(text, special="parse") for text in texts]


def cases(number: int) -> list[str]:
    rng = random.Random(number)
    words = [*TEXTS, *LETTERS, *NAMES, "\n", "  ", "\u3000"]
    return ["".join(rng.choices(words, k=rng.randrange(9))) for _ in range(number)]


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    [
        (normalizers.BertNormalizer(lowercase=True), BERT),
        (normalizers.BertNormalizer(lowercase=False, strip_accents=True), BERT),
        (normalizers.NFC(), pre_tokenizers.Whitespace()),
        (normalizers.Lowercase(), pre_tokenizers.WhitespaceSplit()),
        (
            normalizers.Sequence([]),
            pre_tokenizers.Sequence(
                [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(individual_digits=True)]
            ),
        ),
        (
            normalizers.BertNormalizer(),
            pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()]),
        ),
    ],
)
def test_files_of_the_peer_give_its_ids(
    normalizer: Any, pre_tokenizer: Any, tmp_path: Path
) -> None:
    other = peer(NAMES, normalizer, pre_tokenizer, most=12)
    tok = digram.Tokenizer(huggingface.loads(other.to_str().encode()))
    same(tok, other, TEXTS + cases(300))
    path = tmp_path / "tokenizer.json"
    tok.save(path)
    assert digram.load(path) == tok
    same(tok, tokenizers.Tokenizer.from_file(str(path)), TEXTS)


def changed(**model: Any) -> bytes:
    found = json.loads(peer(NAMES).to_str())
    for key, value in model.items():
        if value is ...:
            del found["model"][key]
        elif key in found:
            found[key] = value
        else:
            found["model"][key] = value
    return json.dumps(found).encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (changed(continuing_subword_prefix=""), "an empty continuing_subword_prefix"),
        (changed(max_input_chars_per_word=0), "max_input_chars_per_word 0"),
        (changed(max_input_chars_per_word=...), "max_input_chars_per_word"),
        (changed(unk_token="[X]"), r"unk_token '\[X\]' is not in the vocabulary"),
        (changed(dropout=1), "the key 'dropout'"),
        (changed(vocab={"[UNK]": 1, "## x": 9}), "a space after its prefix"),
        (changed(vocab={"[UNK]": 0, "a": "1"}), r"model\.vocab\['a'\]"),
        (changed(decoder={"type": "WordPiece", "prefix": "@@"}), "decoder WordPiece .*cleanup"),
        (changed(pre_tokenizer=None), "keeps white space"),
        (changed(pre_tokenizer={"type": "Punctuation", "behavior": "Isolated"}), "white space"),
    ],
)
def test_what_would_give_other_ids_is_refused(data: bytes, message: str) -> None:
    with pytest.raises((digram.VocabError, digram.CorruptFileError), match=message):
        huggingface.loads(data)


@pytest.mark.parametrize(
    "decoder",
    [None, {"type": "WordPiece", "prefix": "@@", "cleanup": True}, {"type": "Fuse"}],
)
def test_other_decoders_are_steps(decoder: Any, tmp_path: Path) -> None:
    """They were refused before decodings had steps, with which decoded text is exact."""
    data = changed(decoder=decoder)
    other, tok = (
        tokenizers.Tokenizer.from_str(data.decode()),
        digram.Tokenizer(huggingface.loads(data)),
    )
    assert tok.decoding is not None
    same(tok, other, TEXTS + cases(200))
    path = tmp_path / "tokenizer.json"
    tok.save(path)
    assert digram.load(path) == tok
    same(tok, tokenizers.Tokenizer.from_file(str(path)), TEXTS)


def test_a_word_that_is_an_added_token_is_refused() -> None:
    other = peer([*NAMES, "cat"])
    other.add_tokens([tokenizers.AddedToken("cat", single_word=True)])
    assert other.encode("cats", add_special_tokens=False).tokens == ["[UNK]"]
    with pytest.raises(digram.VocabError, match="the token 'cat'"):
        huggingface.loads(other.to_str().encode())


def test_a_text_that_is_normalized_to_a_special_token_is_refused() -> None:
    accents = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])
    other = peer(NAMES, accents, pre_tokenizers.WhitespaceSplit())
    assert other.encode("[ĆLS]", add_special_tokens=False).tokens == ["[CLS]"]
    with pytest.raises(digram.VocabError, match="words may become it"):
        huggingface.loads(other.to_str().encode())


def test_a_model_without_a_type_is_recognized() -> None:
    tok = digram.Tokenizer(huggingface.loads(changed(type=...)))
    same(tok, peer(NAMES), TEXTS)


VOCAB = "".join(f"{name}\n" for name in NAMES).encode()


@pytest.mark.parametrize(("encoding", "lowercase"), [("bert-uncased", True), ("bert-cased", False)])
def test_vocab_txt_is_read_as_the_peer_reads_it(
    encoding: str, lowercase: bool, tmp_path: Path
) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(VOCAB)
    other = peer(NAMES, normalizers.BertNormalizer(lowercase=lowercase))
    tok = digram.load(path, encoding=encoding)
    same(tok, other, TEXTS + cases(100))
    assert digram.load(tmp_path, encoding=encoding) == tok
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lowercase}))
    assert digram.load(path) == tok
    again = tmp_path / "again"
    tok.save(again, format="vocab_txt")
    assert again.read_bytes() == VOCAB
    assert digram.load(again, encoding=encoding) == tok
    crlf = tmp_path / "crlf.txt"
    crlf.write_bytes(VOCAB.replace(b"\n", b"\r\n"))
    assert digram.load(crlf, encoding=encoding) == tok


def test_a_config_names_the_special_tokens() -> None:
    data = b"<pad>\n<unk>\n<s>\n</s>\nlow\n"
    config = {"do_lower_case": True, "strip_accents": False, "unk_token": {"content": "<unk>"}}
    config |= {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>"}
    found = vocab_txt.loads(data, config=config)
    assert found.special_tokens == {"<pad>": 0, "<unk>": 1, "<s>": 2, "</s>": 3}
    assert found.pad_token == "<pad>"
    assert digram.Tokenizer(found)("low É").ids == [2, 4, 1, 3]


@pytest.mark.parametrize(
    ("data", "named", "message"),
    [
        (VOCAB, {}, "exactly one argument must, but none"),
        (VOCAB, {"encoding": "gpt2"}, "encoding='gpt2' is not known"),
        (VOCAB, {"pretokenizer": "gpt2"}, "a space before each"),
        (VOCAB, {"pretokenizer": None, "encoding": "bert-cased"}, "two were given"),
        (VOCAB, {"config": {}}, "does not say do_lower_case"),
        (VOCAB, {"config": {"do_lower_case": "no"}}, "do_lower_case of tokenizer_config.json"),
        (VOCAB, {"config": {"do_lower_case": True, "never_split": ["x"]}}, "never_split"),
        (b"[UNK]\nlow\nlow\n", {"encoding": "bert-cased"}, "on line 2 too"),
        (b"[UNK]\nlow \n", {"encoding": "bert-cased"}, "ends with white space"),
        (b"low\n", {"encoding": "bert-cased"}, r"'\[UNK\]' is not in the vocabulary"),
        (b"[UNK]\n\xff\n", {"encoding": "bert-cased"}, "UTF-8"),
    ],
)
def test_a_vocab_txt_is_refused(data: bytes, named: dict[str, Any], message: str) -> None:
    with pytest.raises(digram.DigramError, match=message):
        vocab_txt.loads(data, "vocab.txt", **named)


def test_what_a_vocab_txt_loses_is_named_in_full() -> None:
    """A context size is no reason to fear for the ids, and a list of words has no room for it."""
    tok = digram.Tokenizer(vocab_txt.loads(VOCAB, encoding="bert-cased"))
    sized = tok.with_context_size(512)
    with pytest.raises(digram.VocabError) as caught:
        vocab_txt.dumps(sized.definition)
    assert str(caught.value) == (
        "a vocab.txt cannot store the context size of this tokenizer. Save it with "
        'format="huggingface", or pass allow_loss=True to leave it out, which changes no id of '
        "encode."
    )
    with pytest.raises(
        digram.VocabError, match=r"the context size and the chat templates of this.*them"
    ):
        vocab_txt.dumps(sized.with_chat_template("x").definition)
    data = vocab_txt.dumps(sized.definition, allow_loss=True)
    assert digram.Tokenizer(vocab_txt.loads(data, encoding="bert-cased")) == tok


def test_what_a_vocab_txt_cannot_store_is_refused() -> None:
    tok = digram.Tokenizer(vocab_txt.loads(VOCAB, encoding="bert-cased"))
    for changed in (
        tok.with_special_tokens(["<x>"]),
        tok.with_context_size(9),
        tok.with_template(None),
        digram.train("low low", model="wordpiece", vocab_size=9),
    ):
        with pytest.raises(digram.VocabError, match=r"a vocab\.txt cannot store"):
            vocab_txt.dumps(changed.definition)
        assert vocab_txt.dumps(changed.definition, allow_loss=True)
    with pytest.raises(digram.VocabError, match="of the kind 'bpe'"):
        vocab_txt.dumps(digram.train("low low", max_merges=1).definition)


def names_of_gguf(data: bytes) -> list[str]:
    """The tokens of a GGUF file as BERT's files write them."""
    at = data.index(b"tokenizer.ggml.tokens") + len(b"tokenizer.ggml.tokens")
    _, _, number = struct.unpack_from("<IIQ", data, at)
    at += 16
    names = []
    for _ in range(number):
        (length,) = struct.unpack_from("<Q", data, at)
        name = data[at + 8 : at + 8 + length].decode()
        at += 8 + length
        special = name.startswith("[") and name.endswith("]")
        names.append(name if special else name[1:] if name.startswith("▁") else f"##{name}")
    return names


def test_a_published_vocabulary_gives_the_ids_of_the_peer(
    shared_data: Callable[[str], Path],
) -> None:
    names = names_of_gguf(shared_data("vocabs/ggml-vocab-bert-bge.gguf").read_bytes())
    assert len(names) == 30_522
    data = "".join(f"{name}\n" for name in names).encode()
    tok = digram.Tokenizer(vocab_txt.loads(data, encoding="bert-uncased"))
    texts = shared_data("corpora/multi.txt").read_text(encoding="utf-8")[:200_000].splitlines()
    texts += shared_data("corpora/code.txt").read_text(encoding="utf-8")[:50_000].splitlines()
    same(tok, peer(names), texts)


@pytest.mark.parametrize("text", ["covid", "##x"])
def test_special_tokens_that_words_may_become_are_refused(text: str, tmp_path: Path) -> None:
    """Other libraries make them of words, so a file of them would not be read again."""
    tok = digram.train("low lower", model="wordpiece", vocab_size=30).with_special_tokens([text])
    with pytest.raises(digram.VocabError, match="a special token that words may become"):
        tok.save(tmp_path / "tok.json", format="huggingface")
    tok.save(tmp_path / "tok.json", format="digram")
    assert digram.load(tmp_path / "tok.json") == tok
    special = tok.with_special_tokens(["[COVID]"])
    assert special.encode("[COVID]", special="parse") == [special.special_tokens["[COVID]"]]
