"""PyPI's gguf: it reads what digram writes, and digram reads what it writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from vocabularies import SAMPLES, bpe

import digram
from digram import Matching, Template
from digram.formats import gguf as ours
from digram.formats._letters import to_letters

gguf = pytest.importorskip("gguf", reason="gguf is one of the tools of `make setup`")

DEFINITION = replace(
    SAMPLES["gpt2"],
    training=None,
    special_tokens={"<s>": 900, "</s>": 901, "<tag>": 902},
    matching={"<tag>": Matching(always=True)},
    template=Template("<s> $A </s>"),
    pad_token="</s>",
    context_size=512,
)


def test_it_reads_what_digram_writes(tmp_path: Path) -> None:
    ours.write(DEFINITION, tmp_path / "a.gguf")
    reader = gguf.GGUFReader(tmp_path / "a.gguf")
    assert reader.tensors == []
    found = {name: field.contents() for name, field in reader.fields.items()}
    tokens, types = (found[f"tokenizer.ggml.{key}"] for key in ("tokens", "token_type"))
    for token_id, token in enumerate(DEFINITION.tokens):
        assert token is not None
        assert (tokens[token_id], types[token_id]) == (to_letters(token), 1)
    assert (tokens[900:], types[900:]) == (["<s>", "</s>", "<tag>"], [3, 3, 4])
    assert (tokens[500], types[500]) == ("[PAD500]", 5)
    assert found["tokenizer.ggml.merges"] == [
        f"{tokens[left]} {tokens[right]}" for left, right, _ in bpe(DEFINITION).merges
    ]
    expected = {
        "general.architecture": "gpt2",
        "gpt2.context_length": 512,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.bos_token_id": 900,
        "tokenizer.ggml.eos_token_id": 901,
        "tokenizer.ggml.padding_token_id": 901,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_eos_token": True,
    }
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize("order", ["LITTLE", "BIG"])
def test_digram_reads_what_it_writes(tmp_path: Path, order: str) -> None:
    path = tmp_path / "a.gguf"
    end = gguf.GGUFEndian[order]
    writer: Any = gguf.GGUFWriter(path, "gpt2", endianess=end)
    names = [to_letters(token) for token in DEFINITION.tokens if token is not None]
    names += [f"[PAD{n}]" for n in range(len(names), 900)]
    types = [gguf.TokenType.NORMAL] * len(DEFINITION.tokens)
    types += [gguf.TokenType.UNUSED] * (900 - len(types))
    writer.add_context_length(512)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([*names, "<s>", "</s>", "<tag>"])
    kinds = gguf.TokenType
    writer.add_token_types([*types, kinds.CONTROL, kinds.CONTROL, kinds.USER_DEFINED])
    writer.add_token_merges(
        [f"{names[left]} {names[right]}" for left, right, _ in bpe(DEFINITION).merges]
    )
    writer.add_bos_token_id(900)
    writer.add_eos_token_id(901)
    writer.add_pad_token_id(901)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)
    writer.add_chat_template("{{ messages }}")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    roles = digram.SpecialRoles(bos="<s>", eos="</s>")
    expected = replace(
        DEFINITION, chat_templates={"default": "{{ messages }}"}, special_roles=roles
    )
    assert ours.read(path) == expected
    assert digram.load(path) == digram.Tokenizer(expected)
