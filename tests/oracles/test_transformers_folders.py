"""`digram.compat.transformers` against transformers 5: what folders say, and encodings."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path
from typing import Any

import pytest
import vocabularies
from formats.shapes import SHAPES

import digram
from digram.compat.transformers import AutoTokenizer
from digram.pretokenizers import SentencePiece
from digram.vocab.scores import ScoredModel

transformers: Any = pytest.importorskip("transformers")

if int(transformers.__version__.split(".")[0]) < 5:
    pytest.skip("the interface is that of version 5", allow_module_level=True)

SPECIAL = ["<S>", "<E>", "<P>", "<X>"]
ATTRIBUTES = (
    *("bos_token", "eos_token", "pad_token", "unk_token", "cls_token", "sep_token", "mask_token"),
    *("special_tokens_map", "all_special_tokens", "all_special_ids", "extra_special_tokens"),
    *("model_max_length", "max_len_single_sentence", "max_len_sentences_pair", "vocab_size"),
    *("model_input_names", "padding_side", "truncation_side", "chat_template"),
)


def both(folder: Path) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return AutoTokenizer.from_pretrained(folder), transformers.AutoTokenizer.from_pretrained(
            str(folder)
        )


def compare(folder: Path, texts: list[str]) -> None:
    ours, theirs = both(folder)
    for name in ATTRIBUTES:
        assert getattr(ours, name) == getattr(theirs, name), name
    assert len(ours) == len(theirs)
    for text in texts:
        assert dict(ours(text)) == dict(theirs(text)), text
        assert dict(ours(text, "low")) == dict(theirs(text, "low")), text


def amended(folder: Path, **config: Any) -> Path:
    path = folder / "tokenizer_config.json"
    said = json.loads(path.read_bytes()) | config
    path.write_text(json.dumps({k: v for k, v in said.items() if v is not None}))
    return folder


def saved(folder: Path) -> Path:
    tok = digram.Tokenizer(vocabularies.SAMPLES["qwen2"]).with_special_tokens(SPECIAL)
    tok = tok.with_template(digram.Template("<S> $A <E>", pair="<S> $A <E> $B:1 <E>:1"))
    tok.save_pretrained(folder, bos="<S>", eos="<E>", pad="<P>", context_size=40, allow_loss=True)
    return folder


@pytest.mark.parametrize("config", [{"padding_side": "left"}, {"truncation_side": "left"}])
def test_sides_are_saved_again(config: dict[str, str], tmp_path: Path) -> None:
    folder = amended(saved(tmp_path / "f"), **config)
    digram.load(folder).save_pretrained(tmp_path / "g", allow_loss=True)
    ours, theirs = both(tmp_path / "g")
    options = {"padding": True, "truncation": True, "max_length": 3}
    texts = ["low", "low lower lowest"]
    assert dict(ours(texts, **options)) == dict(theirs(texts, **options))
    assert {name: getattr(theirs, name) for name in config} == config


@pytest.mark.parametrize(
    "name",
    [
        *(None, "PreTrainedTokenizerFast", "TokenizersBackend", "Unknown", "LlamaTokenizerFast"),
        *("DPRQuestionEncoderTokenizer", "PreTrainedTokenizer"),
    ],
)
@pytest.mark.parametrize("kind", [None, "bert", "qwen2", "mistral", "gemma2"])
def test_inputs_and_side(name: str | None, kind: str | None, tmp_path: Path) -> None:
    folder = amended(saved(tmp_path / "f"), model_input_names=None, tokenizer_class=name)
    if kind is not None:
        (folder / "config.json").write_text(json.dumps({"model_type": kind}))
    ours, theirs = both(folder)
    assert ours.model_input_names == theirs.model_input_names
    assert ours.padding_side == theirs.padding_side
    assert [*ours("low")] == [*theirs("low")]


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"additional_special_tokens": ["<X>"]},
        {"extra_special_tokens": ["<X>", "<P>"]},
        {"extra_special_tokens": {"image_token": "<X>"}},
        {"model_specific_special_tokens": {"image_token": "<X>"}},
    ],
)
def test_special_tokens_of_the_config(config: Any, tmp_path: Path) -> None:
    folder = amended(saved(tmp_path / "f"), **config)
    compare(folder, ["low lower"])
    ours, theirs = both(folder)
    if "image_token" in str(config):
        assert (ours.image_token, ours.image_token_id) == (
            theirs.image_token,
            theirs.image_token_id,
        )
    ours.save_pretrained(tmp_path / "g")
    compare(tmp_path / "g", ["low lower"])
    again, _ = both(tmp_path / "g")
    assert again.all_special_tokens == ours.all_special_tokens
    ours.extra_special_tokens = theirs.extra_special_tokens = ["<E>"]
    assert ours.all_special_tokens == theirs.all_special_tokens


@pytest.mark.parametrize(
    ("said", "begins"), [({}, False), ({"legacy": False}, False), ({"legacy": True}, True)]
)
def test_what_legacy_means_for_a_llama(said: Any, begins: bool, tmp_path: Path) -> None:
    """Where it is not true, transformers leaves out a space, of which a warning tells."""
    pieces = ["\u2581", "l", "o", "w", "lo", "\u2581lo"]
    scores = [None, None, None, -4.0, -5.0, -6.0, -7.0, -1.0, -2.0]
    tok = digram.Tokenizer(
        digram.Definition(
            tokens=[None, None, None, *(one.replace("\u2581", " ").encode() for one in pieces)],
            model=ScoredModel(scores),
            pretokenizer=digram.Pretokenizer(None, normalizer=SentencePiece(remove_spaces=False)),
            special_tokens={"<unk>": 0, "<s>": 1, "</s>": 2},
            unit="char",
            on_unknown=digram.SpecialToken("<unk>"),
            strip_first_space=True,
        )
    )
    tok.save(tmp_path / "tokenizer.model")
    config = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": False, **said}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    theirs = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ours = digram.load(tmp_path)
    about = [
        one for one in told if "legacy" in str(one.message) and "here each" in str(one.message)
    ]
    assert len(about) == (not begins)
    for text in ("lo", "low<s>", "<s>lo", "lo</s>lo"):
        same = ours.encode(text, special="parse") == theirs(text)["input_ids"]
        assert same is (begins or not text.endswith("lo") or text == "lo"), text


def with_added(folder: Path, *texts: str) -> Path:
    """The folder with tokens that are found in all text."""
    path = folder / "tokenizer.json"
    content = json.loads(path.read_bytes())
    content["model"].pop("digram", None)
    size = len(content["model"]["vocab"])
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    for id, text in enumerate(texts, start=size):
        content["model"]["vocab"][text] = id
        content["added_tokens"].append({"id": id, "content": text, **flags, "special": False})
    path.write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize(
    "config",
    [
        {"pad_token": "<|pad|>"},
        {"extra_special_tokens": {"image_token": "<|pad|>"}},
        {"image_token": "<|pad|>"},
        {"additional_special_tokens": ["<|pad|>"]},
        {"additional_special_tokens": ["<X>", "<|pad|>"], "extra_special_tokens": ["<X>"]},
        {"additional_special_tokens": ["<X>"], "extra_special_tokens": []},
        {"pad_token": None, "max_len": 12, "model_max_length": None},
    ],
)
def test_tokens_with_a_role_are_special(config: Any, tmp_path: Path) -> None:
    """Also one that tokenizer.json does not call special."""
    folder = with_added(amended(saved(tmp_path / "f"), **config), "<|pad|>", "<|plain|>")
    compare(folder, ["low<|pad|> lower<|plain|>"])
    ours, theirs = both(folder)
    ids = ours("low<|pad|> lower<|plain|>")["input_ids"]
    for skipping in (False, True):
        found = ours.decode(ids, skip_special_tokens=skipping)
        assert found == theirs.decode(ids, skip_special_tokens=skipping)


def test_the_map_lists_special_tokens_too(tmp_path: Path) -> None:
    folder = saved(tmp_path / "f")
    path = folder / "special_tokens_map.json"
    said = json.loads(path.read_bytes()) | {"additional_special_tokens": ["<X>"]}
    path.write_text(json.dumps(said))
    compare(folder, ["low<X>"])


@pytest.mark.parametrize("config", [{}, {"pad_token": "<pad>", "model_max_length": 12}])
def test_unigram_with_roles(config: Any, tmp_path: Path) -> None:
    """Its tokenizer.json has no section of digram, but there are files beside it."""
    theirs = SHAPES["BGE-M3, E5 multilingual, Jina 3"]()
    theirs.save(str(tmp_path / "tokenizer.json"))
    said = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", **config}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(said))
    compare(tmp_path, ["low lower", "<s>low<mask>", ""])
    ours, _ = both(tmp_path)
    ours.save_pretrained(tmp_path / "g")
    compare(tmp_path / "g", ["low lower"])


def test_added_tokens_are_not_of_the_model(tmp_path: Path) -> None:
    folder = saved(tmp_path / "f")
    path = folder / "tokenizer.json"
    content = json.loads(path.read_bytes())
    content["model"].pop("digram", None)
    for text in SPECIAL:
        content["model"]["vocab"].pop(text, None)
    path.write_text(json.dumps(content))
    ours, theirs = both(folder)
    assert ours.vocab_size == theirs.vocab_size < len(ours) == len(theirs)
    for one in (ours, theirs):
        one.add_tokens(["<new>"])
    assert ours.vocab_size == theirs.vocab_size < len(ours) == len(theirs)


def test_encodings_are_equal(tmp_path: Path) -> None:
    ours, theirs = both(saved(tmp_path / "f"))
    rng = random.Random(4)
    texts = [one for one in vocabularies.texts(200, seed=6) if one.isprintable() and one]
    for _ in range(150):
        some = rng.choices(texts, k=3)
        others = rng.choices(texts, k=3) if rng.random() < 0.4 else None
        given: dict[str, Any] = rng.choice(
            [
                *({}, {"padding": True}, {"padding": True, "padding_side": "left"}),
                {"truncation": True, "max_length": 12, "padding": "max_length"},
                {"truncation": True, "max_length": 9, "return_overflowing_tokens": True},
            ]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, expected = ours(some, others, **given), theirs(some, others, **given)
        assert found.n_sequences == expected.n_sequences
        for mine, other in zip(found.encodings, expected.encodings, strict=True):
            _compare_encodings(mine, other)
            if others is None:
                for one, two in zip(mine.overflowing, other.overflowing, strict=True):
                    _compare_encodings(one, two)
        for place in range(len(some[1])):
            assert found.char_to_word(1, place) == expected.char_to_word(1, place)
    assert ours.pad({"input_ids": [1]}).n_sequences is None


def _compare_encodings(mine: Any, other: Any) -> None:
    assert len(mine) == len(other)
    for name in (
        *("ids", "tokens", "type_ids", "offsets", "attention_mask", "special_tokens_mask"),
        *("word_ids", "sequence_ids", "n_sequences", "words"),
    ):
        assert getattr(mine, name) == getattr(other, name), name
    for token in range(len(mine)):
        if mine.sequence_ids[token] is not None:
            assert mine.token_to_word(token) == other.token_to_word(token)
    for word in {
        word for word, one in zip(mine.word_ids, mine.sequence_ids, strict=True) if one == 0
    }:
        assert mine.word_to_tokens(word) == other.word_to_tokens(word)
        assert mine.word_to_chars(word) == other.word_to_chars(word)


# --- folders without tokenizer.json


def token(text: str) -> dict[str, Any]:
    flags = dict.fromkeys(("lstrip", "rstrip", "single_word", "normalized"), False)
    return {"content": text, **flags, "special": True}


def test_a_folder_of_bert(tmp_path: Path) -> None:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "low", "##er", "!", "a"]
    (tmp_path / "vocab.txt").write_text("".join(f"{word}\n" for word in words))
    config = {"do_lower_case": True, "tokenizer_class": "BertTokenizer", "model_max_length": 512}
    config |= {"chat_template": "T", "additional_special_tokens": ["[unused0]"]}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    compare(tmp_path, ["Low lower!", "a [unused0] low", "é [MASK]", ""])


@pytest.mark.parametrize("config", [{}, {"add_bos_token": True}, {"pad_token": "<|endoftext|>"}])
def test_a_folder_of_gpt2(config: Any, tmp_path: Path) -> None:
    tok = digram.train(vocabularies.CORPUS, max_merges=20, pretokenizer="gpt2")
    tok.save(tmp_path, format="vocab_merges")
    vocab = json.loads((tmp_path / "vocab.json").read_bytes()) | {"<|endoftext|>": tok.vocab_size}
    (tmp_path / "vocab.json").write_text(json.dumps(vocab))
    lines = (tmp_path / "merges.txt").read_text().splitlines(keepends=True)
    (tmp_path / "merges.txt").write_text("".join(["#version: 0.2\n", *lines[1:]]))
    said = {"tokenizer_class": "GPT2Tokenizer", "model_max_length": 99, **config}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(said))
    texts = [one for one in vocabularies.texts(100, seed=8) if one]
    compare(tmp_path, [*texts, "a<|endoftext|>b"])


@pytest.mark.parametrize(
    "config",
    [
        {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "add_eos_token": True},
        {"tokenizer_class": "LlamaTokenizer", "add_bos_token": False, "pad_token": "</s>"},
        {"add_bos_token": True, "model_max_length": 4096, "chat_template": "T"},
        {
            "tokenizer_class": "LlamaTokenizer",
            "add_bos_token": True,
            "pad_token": "<pad>",
            "added_tokens_decoder": {"SIZE": token("<pad>"), "NEXT": token("<|x|>")},
        },
    ],
)
def test_a_folder_like_llama_2(config: Any, tmp_path: Path) -> None:
    spm = pytest.importorskip("sentencepiece")
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join([*vocabularies.CORPUS.splitlines(), "low lower slowly"] * 9))
    folder = tmp_path / "f"
    folder.mkdir()
    spm.SentencePieceTrainer.train(
        input=str(corpus),
        model_prefix=str(folder / "tokenizer"),
        model_type="bpe",
        vocab_size=400,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    size = spm.SentencePieceProcessor(model_file=str(folder / "tokenizer.model")).get_piece_size()
    roles = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    said = json.loads(
        json.dumps({**roles, **config}).replace("SIZE", str(size)).replace("NEXT", str(size + 1))
    )
    (folder / "tokenizer_config.json").write_text(json.dumps(said))
    ours, theirs = both(folder)
    for name in ATTRIBUTES:
        if name not in ("vocab_size", "extra_special_tokens"):
            assert getattr(ours, name) == getattr(theirs, name), name
    for text in ("low lower", "slowly, 12 é", "low</s>", "日本"):
        assert ours(text)["input_ids"] == theirs(text)["input_ids"]
        assert ours(text, "low")["input_ids"] == theirs(text, "low")["input_ids"]
