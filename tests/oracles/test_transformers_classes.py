"""Folders of transformers whose class puts its own stages in the place of those of the file.

Where versions 4 and 5 agree, digram does the same; version 4 has an environment of its own, so its
part is told by the warnings, which `tests/formats/test_class_stages.py` checks.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import digram

transformers: Any = pytest.importorskip("transformers")

if int(transformers.__version__.split(".")[0]) < 5:
    pytest.skip("the interface is that of version 5", allow_module_level=True)

TEXTS = ["low", " Low  lower", "LÓWER 中 low", "", "low\nlow", "low</s>er"]
LANGUAGES = ["en_XX", "fr_XX", "eng_Latn", "fra_Latn", "__eng__", "__fra__"]


def put(folder: Path, content: dict[str, Any], **config: Any) -> Path:
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps(content))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def content_of(tok: digram.Tokenizer, path: Path, **more: Any) -> dict[str, Any]:
    tok.save(path)
    content: dict[str, Any] = json.loads(path.read_bytes())
    content["model"].pop("digram", None)
    return content | more


def compare(folder: Path, told: str | None) -> None:
    """The same ids, offsets and type ids; a warning that has `told`, or none."""
    theirs = transformers.AutoTokenizer.from_pretrained(str(folder))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours = digram.load(folder)
    messages = [str(one.message) for one in caught]
    assert (told is None) is (not messages), messages
    assert told is None or told in messages[0]
    for text in TEXTS:
        found = theirs(text, return_offsets_mapping=True)
        mine = ours(text, special="parse")
        assert (mine.ids, mine.offsets) == (found["input_ids"], found["offset_mapping"]), text
        assert ours(text, "low", special="parse").ids == theirs(text, "low")["input_ids"]


@pytest.fixture
def bytes_in_file(tmp_path: Path) -> dict[str, Any]:
    special = ["<s>", "</s>", "<pad>", "<unk>", "<mask>", "<|endoftext|>"]
    tok = digram.train(
        "low lower lowest", vocab_size=270, pretokenizer="gpt2", special_tokens=special
    )
    template = digram.Template("<s> $A </s>", pair="<s> $A </s> </s> $B </s>")
    return content_of(tok.with_template(template), tmp_path / "bytes.json")


@pytest.mark.parametrize("name", ["RobertaTokenizer", "BartTokenizerFast", "GPT2Tokenizer"])
@pytest.mark.parametrize("said", [True, False, None])
@pytest.mark.parametrize("in_file", [True, False])
def test_the_prefix_is_that_of_the_config(
    name: str, said: bool | None, in_file: bool, bytes_in_file: dict[str, Any], tmp_path: Path
) -> None:
    content = bytes_in_file
    content["pre_tokenizer"]["add_prefix_space"] = in_file
    content["post_processor"] = None
    if name != "GPT2Tokenizer":
        ids = {one["content"]: one["id"] for one in content["added_tokens"]}
        ends = {key: [text, ids[text]] for key, text in (("cls", "<s>"), ("sep", "</s>"))}
        flags = {"trim_offsets": True, "add_prefix_space": in_file}
        content["post_processor"] = {"type": "RobertaProcessing", **ends, **flags}
    config = {} if said is None else {"add_prefix_space": said}
    roles = {"cls_token": "<s>", "sep_token": "</s>"} if name != "GPT2Tokenizer" else {}
    folder = put(tmp_path / "f", content, tokenizer_class=name, **roles, **config)
    compare(folder, None if in_file is bool(said) else "another pre_tokenizer than tokenizer.json")


def test_what_is_saved_with_a_prefix_says_so(bytes_in_file: dict[str, Any], tmp_path: Path) -> None:
    """transformers 4 leaves the prefix out if the config does not name it."""
    bytes_in_file["pre_tokenizer"]["add_prefix_space"] = True
    path = tmp_path / "prefixed.json"
    path.write_text(json.dumps(bytes_in_file))
    digram.load(path).save_pretrained(tmp_path / "f")
    config = json.loads((tmp_path / "f" / "tokenizer_config.json").read_bytes())
    assert config["add_prefix_space"] is True
    compare(tmp_path / "f", None)


def test_gpt_neox_has_no_post_processor(bytes_in_file: dict[str, Any], tmp_path: Path) -> None:
    """Its offsets have the spaces of tokens, whatever the file says."""
    trims = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    content = bytes_in_file | {"normalizer": {"type": "NFC"}, "post_processor": trims}
    roles = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"}
    folder = put(tmp_path / "f", content, tokenizer_class="GPTNeoXTokenizerFast", **roles)
    compare(folder, None)


@pytest.mark.parametrize("name", ["BertTokenizer", "DistilBertTokenizerFast", "MPNetTokenizer"])
@pytest.mark.parametrize(
    ("config", "is_same"),
    [
        ({"do_lower_case": False}, False),
        ({"do_lower_case": True}, True),
        ({}, True),
        ({"strip_accents": False}, False),
        ({"tokenize_chinese_chars": False}, False),
        ({"strip_accents": None}, True),
    ],
)
def test_the_normalizer_of_bert_is_that_of_the_config(
    name: str, config: dict[str, Any], is_same: bool, tmp_path: Path
) -> None:
    special = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"]
    tok = digram.train(
        "low lower lówer LOW Low 中中 x中", vocab_size=60, model="wordpiece", special_tokens=special
    )
    template = digram.Template("[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1")
    if name == "MPNetTokenizer":
        template = digram.Template("[CLS] $A [SEP]", pair="[CLS] $A [SEP] [SEP] $B [SEP]")
    content = content_of(tok.with_template(template), tmp_path / "words.json")
    kind = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
    content["normalizer"] = kind | {"strip_accents": None, "lowercase": True}
    named = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    named["mask_token"] = "[MASK]"
    if name == "MPNetTokenizer":
        named |= {"bos_token": "[CLS]", "eos_token": "[SEP]"}
    folder = put(tmp_path / "f", content, tokenizer_class=name, **named, **config)
    compare(folder, None if is_same else "another normalizer than tokenizer.json")


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("MBartTokenizer", {}),
        ("MBart50TokenizerFast", {"src_lang": "fr_XX"}),
        ("NllbTokenizer", {}),
        ("NllbTokenizerFast", {"src_lang": "fra_Latn", "legacy_behaviour": True}),
        ("SeamlessM4TTokenizer", {"src_lang": "fra"}),
    ],
)
def test_the_language_is_that_of_the_config(
    name: str, config: dict[str, Any], tmp_path: Path
) -> None:
    """Files of NLLB have the order of old versions, those of Seamless M4T the target's language."""
    special = ["<s>", "<pad>", "</s>", "<unk>", *LANGUAGES, "<mask>"]
    first = digram.SpecialToken("<unk>")
    tok = digram.train(
        "low▁lower▁lowest", unit="char", max_merges=4, special_tokens=special, special_first=True,
        on_unknown=first, pretokenizer=None,
    )  # fmt: skip
    template = digram.Template("$A </s> en_XX", pair="$A $B </s> en_XX")
    content = content_of(tok.with_template(template), tmp_path / "chars.json")
    cut = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    if name.startswith("MBart"):
        model = content["model"]
        scores = [[text, -float(id)] for text, id in model["vocab"].items()]
        content["model"] = {"type": "Unigram", "unk_id": 3, "vocab": scores, "byte_fallback": False}
    else:
        content["model"]["fuse_unk"] = True
    content |= {"normalizer": None, "pre_tokenizer": cut, "decoder": cut}
    roles = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    more = {"additional_special_tokens": LANGUAGES, "mask_token": "<mask>", **config}
    folder = put(tmp_path / "f", content, tokenizer_class=name, **roles, **more)
    theirs = transformers.AutoTokenizer.from_pretrained(str(folder))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours = digram.load(folder)
    told = any("another post_processor" in str(one.message) for one in caught)
    assert told is (name != "MBartTokenizer")
    for text in ("low", "lower lowest", ""):
        assert ours(text).ids == theirs(text)["input_ids"]
        assert ours(text, "low").ids == theirs(text, "low")["input_ids"]
    again = tmp_path / "again"
    ours.save_pretrained(again, allow_loss=True)
    assert digram.load(again)("low").ids == theirs("low")["input_ids"]


def test_a_piece_of_unigram_with_a_role_is_special(tmp_path: Path) -> None:
    """Converters call user-defined pieces added tokens that are not special."""
    pieces = [
        "<unk>",
        "[CLS]",
        "[SEP]",
        "\u2581",
        "\u2581low",
        "l",
        "o",
        "w",
        "[",
        "C",
        "L",
        "S",
        "]",
    ]
    cut = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    vocab = [[text, -id / 4] for id, text in enumerate(pieces)]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [
        {"id": id, "content": text, **flags, "special": id == 0}
        for id, text in enumerate(pieces[:3])
    ]
    folder = put(
        tmp_path / "f",
        {
            **{"version": "1.0", "normalizer": None, "pre_tokenizer": cut, "decoder": cut},
            **{"added_tokens": added, "post_processor": None},
            "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False},
        },
        tokenizer_class="PreTrainedTokenizerFast",
        **{"cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "<unk>"},
    )
    theirs = transformers.AutoTokenizer.from_pretrained(str(folder))
    ours = digram.load(folder)
    for text in ("[CLS]low[SEP]", "low [CLS] low", "<unk>[CLS][SEP]", "[CLS"):
        ids = theirs(text)["input_ids"]
        assert ours(text, special="parse").ids == ids
        for skips in (False, True):
            found = ours.decode(ids, skip_special_tokens=skips)
            assert found == theirs.decode(ids, skip_special_tokens=skips)


@pytest.mark.parametrize("name", ["T5Tokenizer", "XLMRobertaTokenizer"])
@pytest.mark.parametrize("said", [True, False, None])
@pytest.mark.parametrize("scheme", ["always", "never"])
def test_a_prefix_that_only_version_5_takes_from_the_config(
    name: str, said: bool | None, scheme: str, tmp_path: Path
) -> None:
    pieces = ["<s>", "</s>", "<unk>", "<unk>", "\u2581", "\u2581low", "low", "l", "o", "w"]
    pieces[3] = "<unk>" if name != "T5Tokenizer" else "<x>"
    pieces[2] = "<unk>" if name == "T5Tokenizer" else "<x>"
    cut = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": True}
    vocab = [[text, -id / 4] for id, text in enumerate(pieces)]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [
        {"id": id, "content": text, **flags, "special": True} for id, text in enumerate(pieces[:4])
    ]
    config: dict[str, Any] = {"tokenizer_class": name, "extra_ids": 0}
    if said is not None:
        config["add_prefix_space"] = said
    content = {
        **{"version": "1.0", "normalizer": None, "pre_tokenizer": cut, "decoder": cut},
        **{"added_tokens": added, "post_processor": None},
        "model": {
            **{"type": "Unigram", "unk_id": pieces.index("<unk>")},
            **{"vocab": vocab, "byte_fallback": False},
        },
    }
    folder = put(tmp_path / "f", content, **config)
    theirs = transformers.AutoTokenizer.from_pretrained(str(folder))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours = digram.load(folder)
    told = any("space before a text" in str(one.message) for one in caught)
    ids = theirs("low", add_special_tokens=False)["input_ids"]
    assert (ours.encode("low") == ids) is not told
    assert told is ((said is not False or name == "T5Tokenizer") is not (scheme == "always"))


def test_a_file_for_newer_versions_is_refused(
    bytes_in_file: dict[str, Any], tmp_path: Path
) -> None:
    """transformers reads it instead of tokenizer.json."""
    named = ["tokenizer.json", "tokenizer.4.0.0.json"]
    folder = put(tmp_path / "f", bytes_in_file, fast_tokenizer_files=named)
    other = bytes_in_file | {"post_processor": None}
    (folder / named[1]).write_text(json.dumps(other))
    theirs = transformers.AutoTokenizer.from_pretrained(str(folder))
    alone = digram.load(folder / named[1])
    assert (
        theirs("low")["input_ids"] == alone("low").ids != digram.load(folder / named[0])("low").ids
    )
    with pytest.raises(digram.VocabError, match="which transformers reads instead of"):
        digram.load(folder)
