"""Chats against `apply_chat_template` of transformers, where that is installed."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import chat_templates
import pytest
import vocabularies

import digram
from digram import Matching

transformers: Any = pytest.importorskip("transformers")

if int(transformers.__version__.split(".")[0]) < 5:
    pytest.skip("version 5 reads messages otherwise", allow_module_level=True)

FLAGS: dict[str, dict[str, Matching]] = {
    "plain": {},
    "strips": {
        "<|im_end|>": Matching(rstrip=True),
        "<|user|>": Matching(rstrip=True),
        "<|eot|>": Matching(lstrip=True),
        "</s>": Matching(lstrip=True, rstrip=True),
    },
    "normalized": {"<turn>": Matching(normalized=True), "<|im_start|>": Matching(normalized=True)},
    "words": {"<|eot|>": Matching(single_word=True)},
}


def both(tok: digram.Tokenizer, folder: Path) -> Any:
    tok.save_pretrained(folder, allow_loss=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transformers.AutoTokenizer.from_pretrained(str(folder))


@pytest.mark.parametrize("name", ["gpt2", "qwen2", "two regexes", "characters or unknown"])
@pytest.mark.parametrize("flags", FLAGS)
def test_harmless_chats_have_the_same_ids(name: str, flags: str, tmp_path: Path) -> None:
    tok = chat_templates.with_chats(digram.Tokenizer(vocabularies.SAMPLES[name]), FLAGS[flags])
    theirs = both(tok, tmp_path / "f")
    rng = random.Random(name + flags)
    compared = 0
    for template in chat_templates.TEMPLATES:
        for _ in range(40):
            instructions = template == "instructions"
            messages = chat_templates.chat(rng, chat_templates.WORDS, instructions=instructions)
            tools = [{"name": "f", "description": "low <b>"}] if rng.random() < 0.3 else None
            options: dict[str, Any] = {"add_generation_prompt": rng.random() < 0.5}
            if not options["add_generation_prompt"] and messages[-1].get("content", "").strip():
                options["continue_final_message"] = rng.random() < 0.3
            variables = {"think": False} if rng.random() < 0.3 else {}
            try:
                text = theirs.apply_chat_template(
                    messages,
                    chat_template=template,
                    tools=tools,
                    tokenize=False,
                    **variables,
                    **options,
                )
            except ValueError:
                with pytest.raises(digram.OptionError):
                    tok.chat(messages, template=template, tools=tools, **options)
                continue
            try:
                ours = tok.chat(
                    messages, template=template, tools=tools, variables=variables, **options
                )
            except digram.SpecialTokenError:
                # A word right before a token that has to stand alone.
                assert flags == "words"
                continue
            their = theirs.apply_chat_template(
                messages, chat_template=template, tools=tools, **variables, **options
            )
            assert ours.text == text
            assert ours.ids == their["input_ids"]
            compared += len(ours)
            if template == "generation" and not options.get("continue_final_message"):
                encoded = theirs.apply_chat_template(
                    messages,
                    chat_template=template,
                    return_assistant_tokens_mask=True,
                    tools=tools,
                    **options,
                )
                assert encoded["assistant_masks"] == ours.assistant_mask
    assert compared > 1000


@pytest.mark.parametrize("template", [*chat_templates.TEMPLATES])
def test_both_refuse_the_same_chats(template: str, tmp_path: Path) -> None:
    tok = chat_templates.with_chats(digram.Tokenizer(vocabularies.SAMPLES["gpt2"]), {})
    theirs = both(tok, tmp_path / "f")
    chats: list[Any] = [
        [],
        [{"role": "user"}],
        [{"role": "user", "content": None}],
        [{"role": "assistant", "content": "low"}] * 2,
        [{"role": "user", "content": [{"type": "text", "text": "low"}]}],
        [{"content": "low"}],
        ["low"],
    ]
    for messages in chats:
        try:
            text = theirs.apply_chat_template(messages, chat_template=template, tokenize=False)
        except Exception:
            with pytest.raises((digram.OptionError, TypeError)):
                tok.chat(messages, template=template)
        else:
            assert tok.chat(messages, template=template).text == text
