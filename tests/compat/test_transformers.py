"""`digram.compat.transformers`: what it takes from a folder, and its attributes.

tests/oracles/test_transformers_interface.py makes the same calls in transformers itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from formats import test_pipelines as pipelines

import digram
from digram.compat.transformers import AutoTokenizer, PreTrainedTokenizerFast
from digram.errors import OptionError

TOK = digram.train("low low lower", vocab_size=260, special_tokens=["<pad>", "<s>"])
NONE = ["input_ids", "attention_mask"]
TYPED = ["input_ids", "token_type_ids", "attention_mask"]


def folder(path: Path, config: dict[str, Any], model: dict[str, Any] | None = None) -> Path:
    path.mkdir()
    TOK.save(path / "tokenizer.json")
    (path / "tokenizer_config.json").write_text(json.dumps(config))
    if model is not None:
        (path / "config.json").write_text(json.dumps(model))
    return path


@pytest.mark.parametrize(
    ("config", "model", "inputs", "side"),
    [
        ({}, None, NONE, "right"),
        *(
            ({"tokenizer_class": name}, None, NONE, "right")
            for name in (
                *("Qwen2Tokenizer", "Qwen2TokenizerFast", "GPT2TokenizerFast"),
                *("RobertaTokenizerFast", "GPTNeoXTokenizerFast", "PreTrainedTokenizerFast"),
                *("TokenizersBackend", "DistilBertTokenizer", "Unknown"),
            )
        ),
        # Llama's class is not taken for tokens of bytes.
        ({"tokenizer_class": "LlamaTokenizerFast"}, None, NONE, "right"),
        ({"tokenizer_class": "GemmaTokenizer"}, None, NONE, "left"),
        ({"tokenizer_class": "GemmaTokenizer", "padding_side": "right"}, None, NONE, "right"),
        ({"tokenizer_class": "BertTokenizerFast"}, None, TYPED, "right"),
        ({"tokenizer_class": "ElectraTokenizer"}, None, TYPED, "right"),
        ({"tokenizer_class": "DebertaTokenizer"}, None, [*NONE, "token_type_ids"], "right"),
        ({"tokenizer_class": "FNetTokenizer"}, None, TYPED[:2], "right"),
        ({"tokenizer_class": "BertTokenizer", "model_input_names": NONE}, None, NONE, "right"),
        ({"model_input_names": TYPED}, None, TYPED, "right"),
        ({}, {"model_type": "bert"}, TYPED, "right"),
        ({}, {"tokenizer_class": "BertTokenizer"}, TYPED, "right"),
        ({}, {"model_type": "gemma2"}, NONE, "left"),
        # Models whose class transformers does not take as it is named.
        ({"tokenizer_class": "GemmaTokenizer"}, {"model_type": "mistral"}, NONE, "right"),
        ({"tokenizer_class": "BertTokenizer"}, {"model_type": "siglip2"}, NONE, "left"),
    ],
)
def test_inputs_and_side_are_those_of_the_class(
    config: dict[str, Any], model: Any, inputs: list[str], side: str, tmp_path: Path
) -> None:
    tok = AutoTokenizer.from_pretrained(folder(tmp_path / "f", config, model))
    assert (tok.model_input_names, tok.padding_side) == (inputs, side)
    assert sorted(tok("low")) == sorted(inputs)


def test_a_tokenizer_of_no_folder_has_no_types(tmp_path: Path) -> None:
    TOK.save(tmp_path / "tokenizer.json")
    for tok in (
        PreTrainedTokenizerFast(TOK),
        AutoTokenizer.from_pretrained(tmp_path / "tokenizer.json"),
    ):
        assert [*tok("low")] == NONE
    assert [*tok("low", return_token_type_ids=True)] == TYPED


def test_what_has_no_names_of_tokens_is_refused_in_terms_of_loading(tmp_path: Path) -> None:
    joined = digram.train("low low lower", max_merges=5, superwords="boundless")
    joined.save(tmp_path / "own.json")
    with pytest.raises(digram.VocabError, match="this interface names tokens as") as caught:
        PreTrainedTokenizerFast(joined)
    assert "digram.load" in str(caught.value)
    assert "format=" not in str(caught.value)
    with pytest.raises(digram.VocabError, match="this interface names tokens as"):
        AutoTokenizer.from_pretrained(tmp_path / "own.json")


def test_tokens_of_the_model_are_counted_without_added_ones(tmp_path: Path) -> None:
    path = folder(tmp_path / "f", {}) / "tokenizer.json"
    content = json.loads(path.read_bytes())
    content["model"].pop("digram")
    for text in TOK.special_tokens:
        content["model"]["vocab"].pop(text, None)
    path.write_text(json.dumps(content))
    for tok in (
        AutoTokenizer.from_pretrained(tmp_path / "f"),
        AutoTokenizer.from_pretrained(path),
        PreTrainedTokenizerFast(tokenizer_file=path),
    ):
        assert (tok.vocab_size, len(tok)) == (258, 260)
    tok.add_tokens("<new>")
    assert (tok.vocab_size, len(tok)) == (258, 261)
    assert PreTrainedTokenizerFast(TOK).vocab_size == 260


def test_encodings_have_padding_and_texts_of_tokens() -> None:
    tok = PreTrainedTokenizerFast(TOK.with_pad_token("<pad>"))
    batch = tok(["low", "low low"], padding=True, padding_side="left")
    assert batch.encodings is not None
    first, second = batch.encodings
    assert (first.tokens, first.attention_mask) == (["<pad>", "<pad>", "low"], [0, 0, 1])
    assert (second.tokens, second.ids) == (["low", "Ġ", "low"], batch["input_ids"][1])
    assert (first.char_to_token(1), first.token_to_chars(2), first.word_to_chars(0)) == (
        2,
        (0, 3),
        (0, 3),
    )
    assert (first.char_to_word(0), first.token_to_word(0), batch[1].word_ids) == (
        0,
        None,
        [0, 1, 1],
    )
    assert (batch.n_sequences, tok("a", "b").n_sequences) == (1, 2)
    assert tok.pad({"input_ids": [1]}).n_sequences is None


def test_an_array_of_no_numbers_has_the_type_of_ids() -> None:
    tokenizer = PreTrainedTokenizerFast(TOK)
    for text in ("", ["", ""]):
        assert tokenizer(text, return_tensors="np")["input_ids"].dtype == "int64"


def test_a_token_that_could_not_be_named_is_refused_when_it_is_added() -> None:
    tok = digram.train("low lower", model="wordpiece", vocab_size=30)
    tokenizer = PreTrainedTokenizerFast(tok)
    with pytest.raises(ValueError, match="this interface names tokens as"):
        tokenizer.add_special_tokens({"pad_token": "covid"})
    assert tokenizer.pad_token is None
    assert tokenizer("low")["input_ids"] == tok.encode("low")


def test_a_token_with_a_space_at_its_start_is_refused_beside_the_symbol(tmp_path: Path) -> None:
    """transformers keeps the space at the start of decoded text."""
    pipelines.llama2().save(str(tmp_path / "tokenizer.json"))
    tokenizer = PreTrainedTokenizerFast(digram.load(tmp_path / "tokenizer.json"))
    with pytest.raises(ValueError, match="' new' begins with a space"):
        tokenizer.add_tokens([" new"])
    assert tokenizer.add_tokens(["new"]) == 1


OF_DOWNLOADS: dict[str, Any] = {"revision": "v2", "cache_dir": "c", "force_download": True}


def test_options_that_say_where_files_are(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("DIGRAM_TOKENIZERS", str(tmp_path))
    path = folder(tmp_path / "model", {})
    expected = AutoTokenizer.from_pretrained(path)("low lower")
    without = {"use_fast": False, "trust_remote_code": True, "token": "hf", "proxies": {}}
    usual = {"revision": "main", "cache_dir": None, "force_download": False}
    for given in (without | usual, {"local_files_only": True}):
        for name in (path, "model"):
            assert AutoTokenizer.from_pretrained(name, **given)("low lower") == expected
    # Both take them for files that are on the machine, and do not use them.
    assert AutoTokenizer.from_pretrained(path, **OF_DOWNLOADS)("low lower") == expected
    for name in (tmp_path, str(tmp_path)):
        found = AutoTokenizer.from_pretrained(name, subfolder="model")
        assert found("low lower") == expected
    for option, value in OF_DOWNLOADS.items():
        with pytest.raises(OptionError, match=f"{option}=.* is not supported for a name"):
            AutoTokenizer.from_pretrained("model", **{option: value})
    with pytest.raises(OptionError, match="'legacy' is no option of a tokenizer"):
        AutoTokenizer.from_pretrained(path, legacy=False)
    with pytest.raises(OptionError, match="'a', 'b' are no options of a tokenizer"):
        AutoTokenizer.from_pretrained(path, a=1, b=2)
    named: dict[str, Any] = {"pretrained_model_name_or_path": path}
    assert AutoTokenizer.from_pretrained(**named)("low lower") == expected


@pytest.mark.parametrize("value", ["input_ids", 3, [None]])
def test_names_of_inputs_are_a_list(value: Any, tmp_path: Path) -> None:
    TOK.save_pretrained(tmp_path / "f")
    path = tmp_path / "f" / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"model_input_names": value}))
    with pytest.raises(ValueError, match="model_input_names is a list of names, not"):
        AutoTokenizer.from_pretrained(tmp_path / "f")


def test_special_tokens_without_a_usual_role(tmp_path: Path) -> None:
    config = {"additional_special_tokens": ["<s>"], "image_token": {"content": "<pad>"}}
    tok = AutoTokenizer.from_pretrained(folder(tmp_path / "f", config))
    assert (tok.extra_special_tokens, tok.image_token) == (["<s>"], "<pad>")
    assert tok.image_token_id == TOK.special_tokens["<pad>"]
    assert tok.all_special_tokens == ["<pad>", "<s>"]
    tok.save_pretrained(tmp_path / "g")
    again = AutoTokenizer.from_pretrained(tmp_path / "g")
    assert again.special_tokens_map == {"image_token": "<pad>"}
    assert again.extra_special_tokens == ["<s>"]
    tok.extra_special_tokens = ["<x>"]
    assert tok.all_special_tokens == ["<pad>", "<x>"]
    assert tok.init_kwargs["additional_special_tokens"] == ["<s>"]


def test_room_for_texts() -> None:
    tok = PreTrainedTokenizerFast(
        TOK.with_template(digram.Template("<s> $A", pair="<s> $A <s> $B"))
    )
    tok.model_max_length = 9
    assert (tok.max_len_single_sentence, tok.max_len_sentences_pair) == (8, 7)
