"""What a class of transformers has in place of the stages of a tokenizer.json, and its warnings.

`tests/oracles/test_transformers_classes.py` compares with version 5; what version 4.57 does was
compared for all classes that make such files.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import digram
from digram import Template, VocabError

SPECIAL = ["<s>", "</s>", "<pad>", "en_XX"]
TOK = digram.train("low lower lowest", max_merges=6, pretokenizer="gpt2", special_tokens=SPECIAL)


def put(folder: Path, template: Template | None, section: dict[str, Any], **config: Any) -> Path:
    tok = TOK if template is None else TOK.with_template(template)
    tok.save_pretrained(folder)
    path = folder / "tokenizer.json"
    content = json.loads(path.read_bytes())
    del content["model"]["digram"]  # its digest is that of the file as it was saved
    path.write_text(json.dumps(content | section))
    roles = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(roles | config))
    return folder


def told(folder: Path) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        digram.load(folder)
    return [str(one.message) for one in caught]


BEGUN, ENDED = Template("<s> $A", pair="<s> $A <s>:1 $B:1"), Template("$A </s>", pair="$A $B </s>")


@pytest.mark.parametrize("name", ["LlamaTokenizerFast", "GemmaTokenizer", "CohereTokenizerFast"])
@pytest.mark.parametrize(
    ("template", "config", "made"),
    [
        (None, {}, "<s> text"),
        (BEGUN, {}, None),
        (BEGUN, {"add_bos_token": True}, None),
        (BEGUN, {"add_bos_token": False}, "text"),
        (ENDED, {"add_bos_token": True, "add_eos_token": True}, "<s> text </s>"),
        (ENDED, {"add_bos_token": False, "add_eos_token": True}, None),
        (None, {"add_bos_token": None}, None),
        (None, {"bos_token": None}, None),
    ],
)
def test_tokens_that_version_4_puts_around_a_text(
    name: str, template: Template | None, config: Any, made: str | None, tmp_path: Path
) -> None:
    found = told(put(tmp_path / "f", template, {}, tokenizer_class=name, **config))
    if made is None:
        assert found == []
    else:
        [message] = found
        assert f"transformers 4 makes '{made}' of a text" in message


@pytest.mark.parametrize(
    ("name", "template", "made"),
    [
        ("RobertaTokenizer", None, "<s> text </s>"),
        ("RobertaTokenizer", Template("<s> $A </s>"), None),
        ("T5Tokenizer", BEGUN, "text </s>"),
        ("T5Tokenizer", ENDED, None),
        ("CLIPTokenizerFast", ENDED, "<s> text </s>"),
        ("XLNetTokenizer", Template("$A </s> <s>:2"), None),
        ("Qwen2Tokenizer", BEGUN, None),
    ],
)
def test_tokens_that_version_5_puts_around_a_text(
    name: str, template: Template | None, made: str | None, tmp_path: Path
) -> None:
    found = told(put(tmp_path / "f", template, {}, tokenizer_class=name))
    if made is None:
        assert found == []
    else:
        [message] = found
        assert f"transformers 5 makes '{made}' of a text" in message


@pytest.mark.parametrize("prefixed", [False, True])
def test_a_prefix_that_version_4_takes_from_the_config(prefixed: bool, tmp_path: Path) -> None:
    cut = {"type": "ByteLevel", "add_prefix_space": prefixed, "trim_offsets": True}
    section = {"pre_tokenizer": cut | {"use_regex": True}}
    name = "PreTrainedTokenizerFast"
    folder = put(tmp_path / "f", None, section, tokenizer_class=name, add_prefix_space=prefixed)
    assert told(folder) == []
    folder = put(tmp_path / "g", None, section, tokenizer_class=name, add_prefix_space=not prefixed)
    [message] = told(folder)
    assert "transformers 4 has another pre_tokenizer than tokenizer.json" in message
    tok = digram.load(folder / "tokenizer.json")
    assert tok.tokens(tok.encode("low"))[0].startswith(b" ") is prefixed


def test_a_prefix_in_a_sequence_stays(tmp_path: Path) -> None:
    """No version changes it there."""
    inner = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    section = {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [inner]}}
    name = "GPT2Tokenizer"
    folder = put(tmp_path / "f", None, section, tokenizer_class=name, add_prefix_space=True)
    assert told(folder) == []


def test_a_language_that_is_no_special_token_is_refused(tmp_path: Path) -> None:
    folder = put(tmp_path / "f", ENDED, {}, tokenizer_class="MBartTokenizer", src_lang="xx_XX")
    with pytest.raises(VocabError, match=r"'xx_XX', which the class MBartTokenizer puts beside"):
        digram.load(folder)
    assert digram.load(folder / "tokenizer.json")("low").ids[-1] == TOK.special_tokens["</s>"]
    put(folder, ENDED, {}, tokenizer_class="MBartTokenizer", src_lang=None)
    with pytest.warns(UserWarning, match=r"another post_processor .* \(text </s> en_XX\)"):
        assert digram.load(folder)("low").ids[-1] == TOK.special_tokens["en_XX"]


def test_a_program_in_python_does_not_read_the_file(tmp_path: Path) -> None:
    [message] = told(put(tmp_path / "f", None, {}, tokenizer_class="MarianTokenizer"))
    assert "MarianTokenizer of transformers is a program in Python, which does not read" in message


def test_a_regex_that_transformers_mends(tmp_path: Path) -> None:
    [message] = told(put(tmp_path / "f", None, {}, fix_mistral_regex=True))
    assert "fix_mistral_regex is true in tokenizer_config.json" in message
    assert told(put(tmp_path / "g", None, {}, fix_mistral_regex=False)) == []


def test_code_for_the_tokenizer(tmp_path: Path) -> None:
    [message] = told(put(tmp_path / "f", None, {}, auto_map={"AutoTokenizer": ["a.B", None]}))
    assert "auto_map in tokenizer_config.json names code for the tokenizer" in message
    assert told(put(tmp_path / "g", None, {}, auto_map={"AutoModel": "a.B"})) == []
