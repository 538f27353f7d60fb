"""`digram.compat.transformers`: what it takes from a folder, and its attributes.

tests/oracles/test_transformers_interface.py makes the same calls in transformers itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import digram
from digram.compat.transformers import AutoTokenizer, PreTrainedTokenizerFast

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
