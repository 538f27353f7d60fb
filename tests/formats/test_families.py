"""The table of families in docs/support.md. After a change:
PYTHONPATH=tests python tests/formats/test_families.py.

Each family is a tokenizer of the library with the stages of the published ones, trained on a small
text. The table says what its file holds and what was found to be equal.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from formats import test_pipelines as pipelines
from formats.more_shapes import MORE_SHAPES
from formats.shapes import SHAPES
from formats.test_pipelines import level, made, plain, special, split
from formats.test_unigram import WORDS, charsmap
from formats.test_unigram import made as unigram
from formats.test_wordpiece import NAMES, peer
from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors

import digram
from digram.formats.huggingface import dumps, loads
from digram.pretokenizers import NAMED

PAGE = Path(__file__).parents[2] / "docs" / "support.md"
START, END = "<!-- made by tests/formats/test_families.py -->\n", "<!-- end of families -->"
TEXTS = 400
END_OF_TEXT = special("<|endoftext|>")


def in_turn(*stages: Any) -> Any:
    return pre_tokenizers.Sequence([*stages])


def gpt2() -> Tokenizer:
    theirs = made(None, level(True), [END_OF_TEXT], [])
    theirs.post_processor = processors.ByteLevel(trim_offsets=False)
    return theirs


def luke() -> Tokenizer:
    """As RoBERTa, with a space before the first word."""
    mask = special("<mask>", lstrip=True)
    cut = pre_tokenizers.ByteLevel(add_prefix_space=True)
    return made(None, cut, [special("<s>"), special("</s>"), mask], [])


def whisper() -> Tokenizer:
    times = [plain(f"<|{at / 50:.2f}|>") for at in range(40)]
    return made(None, level(True), [END_OF_TEXT, special("<|en|>")], times)


def starcoder() -> Tokenizer:
    digits = pre_tokenizers.Digits(individual_digits=True)
    return made(None, in_turn(digits, level(True)), [END_OF_TEXT, special("<fim_prefix>")], [])


def falcon() -> Tokenizer:
    cuts = [pre_tokenizers.Punctuation("contiguous"), split("[0-9][0-9][0-9]"), level(True)]
    return made(None, in_turn(*cuts), [END_OF_TEXT, special(">>QUESTION<<")], [])


def llama3() -> Tokenizer:
    cut = in_turn(split(NAMED["llama3"].patterns[0]), level())
    reserved = [special(f"<|reserved_special_token_{at}|>") for at in range(8)]
    begin = special("<|begin_of_text|>")
    theirs = made(None, cut, [begin, *reserved], [], ignore_merges=True)
    template = processors.TemplateProcessing(
        single="<|begin_of_text|> $A",
        pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1",
        special_tokens=[("<|begin_of_text|>", theirs.token_to_id("<|begin_of_text|>"))],
    )
    theirs.post_processor = processors.Sequence(
        [processors.ByteLevel(trim_offsets=False), template]
    )
    return theirs


def o200k() -> Tokenizer:
    return made(None, in_turn(split(NAMED["o200k"].patterns[0]), level()), [END_OF_TEXT], [])


def stablelm2() -> Tokenizer:
    return made(None, in_turn(split(NAMED["qwen2"].patterns[0]), level()), [END_OF_TEXT], [])


def deepseek_v3() -> Tokenizer:
    cuts = [*map(split, NAMED["deepseek-v3"].patterns), level()]
    some = [plain("<｜place▁holder▁no▁1｜>")]
    return made(None, in_turn(*cuts), [special("<｜begin▁of▁sentence｜>")], some)


def bloom() -> Tokenizer:
    cut = split(r" ?[^(\s|[.,!?…。，、।۔،])]+")
    return made(None, in_turn(cut, level()), [special("<s>"), special("</s>")], [])


def bert() -> Tokenizer:
    return peer(NAMES)


def cased_bert() -> Tokenizer:
    return peer(NAMES, normalizers.BertNormalizer(lowercase=False))


def xlm_roberta() -> Tokenizer:
    return unigram(WORDS, normalizers.Precompiled(charsmap()))


def pegasus() -> Tokenizer:
    stages = [normalizers.Precompiled(charsmap()), normalizers.Replace(Regex(" {2,}"), "▁")]
    return unigram(pre_tokenizers.Metaspace(), normalizers.Sequence(stages))


FAMILIES: dict[str, Callable[[], Tokenizer]] = {
    "GPT-2, GPT-J, CodeGen": gpt2,
    "RoBERTa, BART, Longformer": pipelines.roberta,
    "LUKE, DeBERTa 1, with `add_prefix_space`": luke,
    "Whisper": whisper,
    "GPT-NeoX, Pythia, OLMo 1, MPT": pipelines.gpt_neox,
    "StarCoder, SmolLM, Refact": starcoder,
    "Command-R, Aya": pipelines.command_r,
    "Falcon": falcon,
    "BLOOM": bloom,
    "Llama 3": llama3,
    "GPT-4o, gpt-oss": o200k,
    "Qwen 1.5 to 3": pipelines.qwen,
    "StableLM 2": stablelm2,
    "DeepSeek V3, R1": deepseek_v3,
    "Llama 1 and 2, TinyLlama, Yi": pipelines.llama2,
    "Llama 2 as first published": pipelines.llama2_of_2023,
    "Mistral 7B, Llama 2 with `legacy: false`": pipelines.mistral,
    "Phi-3": pipelines.phi3,
    "Gemma 1 to 3": pipelines.gemma_with_runs,
    "T5, XLM-R": xlm_roberta,
    "Pegasus, XGLM": pegasus,
    "BERT, DistilBERT, BGE, E5": bert,
    "BERT, cased": cased_bert,
    **SHAPES,
    **MORE_SHAPES,
}


def kinds(stage: Any) -> str:
    """The types of a stage and of those in it."""
    if stage is None:
        return "–"
    inner = next((stage[name] for name in ("normalizers", "pretokenizers") if name in stage), None)
    if inner is not None:
        return ", ".join(map(kinds, inner))
    return f"`{stage['type']}`"


def model_of(file: dict[str, Any]) -> str:
    model = file["model"]
    flags = [
        name for name in ("byte_fallback", "fuse_unk", "ignore_merges") if model.get(name) is True
    ]
    return ", ".join([model["type"], *(f"`{flag}`" for flag in flags)])


def equal(theirs: Tokenizer) -> str:
    """What is equal for a family, also in the file that digram writes; raises if it is not."""
    file = json.loads(theirs.to_str())
    kind, vocab = file["model"]["type"], file["model"]["vocab"]
    definition = loads(theirs.to_str().encode())
    found = digram.verify(digram.Tokenizer(definition), theirs, fuzz=TEXTS)
    assert found.equal, str(found)
    # The vocabularies of these have their special tokens, and the library makes them of text.
    special_tokens = {one["content"] for one in file["added_tokens"] if one["special"]}
    letters = {text for text in special_tokens if len(text) == 1}
    parsed = kind in ("WordPiece", "Unigram") or not letters.isdisjoint(vocab)
    assert {*found.compared} == ({"parse"} if parsed else {"text", "parse"})
    written = Tokenizer.from_str(dumps(definition).decode())
    again = digram.verify(digram.Tokenizer(definition), written, fuzz=TEXTS // 4)
    assert again.equal, str(again)
    assert all({*parts} >= {"ids", "offsets", "decoded"} for parts in found.compared.values())
    return "ids, offsets, decoded text" + "; special tokens parsed" * parsed


def row(name: str, theirs: Tokenizer) -> str:
    file = json.loads(theirs.to_str())
    stages = [kinds(file["normalizer"]), kinds(file["pre_tokenizer"]), model_of(file)]
    return f"| {' | '.join([name, *stages, equal(theirs)])} |"


def table() -> str:
    head = "| tokenizers | normalizer | pre_tokenizer | model | equal |\n|---|---|---|---|---|"
    return "\n".join([head, *(row(name, family()) for name, family in FAMILIES.items())]) + "\n"


@pytest.mark.parametrize("name", FAMILIES)
def test_a_row_of_the_page(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = page[page.index(START) + len(START) : page.index(END)].splitlines()
    assert row(name, FAMILIES[name]()) in rows


def test_the_page_has_no_other_rows() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = page[page.index(START) + len(START) : page.index(END)].splitlines()
    assert [line.split(" | ")[0].removeprefix("| ") for line in rows[2:]] == [*FAMILIES]
    assert f"{TEXTS} generated texts" in page


def test_decoders_are_those_of_the_stages() -> None:
    """A family without its decoder would be compared less than the page says."""
    without = {name for name, family in FAMILIES.items() if family().decoder is None}
    assert without == {"ESM-C"}  # its tokens are shown with spaces between them
    assert isinstance(gpt2().decoder, decoders.ByteLevel)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, after = text[: text.index(START) + len(START)], text[text.index(END) :]
    PAGE.write_text(before + table() + after, encoding="utf-8")
