"""Hostile and unsupported GGUF files, and tokenizers that no such file can store."""

from __future__ import annotations

import os
import struct
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
import vocabularies
from formats.test_families import FAMILIES
from gguf_files import LETTERS, NUMBERS, PIECES, RUNS, Entry, keys, packed, scored
from vocabularies import BANANA, PLAIN, SAMPLES, changed

import digram
from digram import (
    CorruptFileError,
    DigramError,
    LimitExceededError,
    Matching,
    Pretokenizer,
    Regex,
    Template,
    VocabError,
)
from digram.formats import gguf
from digram.formats._gguf_splits import _REFUSED
from digram.formats.gguf import dumps, loads
from digram.formats.huggingface import loads as of_huggingface
from digram.pretokenizers import NFC


@pytest.mark.parametrize(
    ("entries", "error", "message"),
    [
        (keys(model=None), VocabError, "the file has no tokenizer"),
        (keys(model=(8, "bert")), VocabError, "the unknown token 'd' is not in the vocabulary"),
        (keys(model=(8, "plamo2")), VocabError, r"model 'plamo2' \(the tokenizer of PLaMo 2"),
        (keys(model=(8, "new")), VocabError, "model 'new' is not supported"),
        (keys(model=(4, 1)), CorruptFileError, "tokenizer.ggml.model should be a text, not 1"),
        (
            scored(scores=(9, (6, [0.0] * 263 + [float("nan")] * 8))),
            VocabError,
            "the score of '▁a' is not a number",
        ),
        (keys(pre=(8, "new")), VocabError, "pre 'new' is not supported. Supported: gpt-2"),
        (keys(tokens=None), CorruptFileError, "the key tokenizer.ggml.tokens is missing"),
        (keys(merges=None), CorruptFileError, "the key tokenizer.ggml.merges is missing"),
        (keys(tokens=(8, "x")), CorruptFileError, "tokens should be a list of texts, not b'x'"),
        (keys(merges=(9, (5, [1]))), CorruptFileError, "list of texts, not a list of 1 numbers"),
        (keys(token_type=(9, (5, [1]))), CorruptFileError, "has 1 numbers for 259 tokens"),
        (keys(token_type=(9, (6, [1.0] * 259))), CorruptFileError, "numbers of 32 bits"),
        (keys(token_type=(9, (5, [9] * 259))), VocabError, "has the type 9, which is not known"),
        (keys(tokens=(9, (8, [*LETTERS, "a", "th", "x"]))), VocabError, "'a' has the ids 97 and"),
        (
            keys(tokens=(9, (8, [*LETTERS, b"\xff"]))),
            CorruptFileError,
            r"tokens\[256\] .*not UTF-8",
        ),
        (keys(merges=(9, (8, ["a q"]))), VocabError, "merge 0: .*needs token 'aq'"),
        (keys(merges=(9, (8, ["an"]))), VocabError, "merge 0"),
        (keys(add_bos_token=(4, 1)), CorruptFileError, "should be true or false, not 1"),
        (keys(add_bos_token=(7, 2)), CorruptFileError, "should be true or false, not 2"),
        (keys(bos_token_id=(9, (4, [1])), add_bos_token=(7, 1)), CorruptFileError, "be an id"),
        (keys(pre=(99, 1)), CorruptFileError, "has the type 99, which GGUF does not define"),
        (keys(tokens=(9, (9, []))), CorruptFileError, "an array of texts or numbers"),
        (scored(scores=(9, (6, [0.0]))), CorruptFileError, "scores has 1 numbers for"),
        (scored(tokens=(9, (8, ["a"]))), VocabError, "256 of the tokens for bytes are missing"),
        (
            scored(tokens=(9, (8, [*PIECES[:-2], "a n", "x", *RUNS]))),
            VocabError,
            "'a n', which has a space, is not supported",
        ),
    ],
)
def test_what_is_refused(entries: dict[str, Entry], error: type[DigramError], message: str) -> None:
    packed_kinds = NUMBERS | {99: "B"}
    data = packed(entries) if 99 not in {kind for kind, _ in entries.values()} else None
    if data is None:
        NUMBERS.update(packed_kinds)
        data = packed(entries)
        del NUMBERS[99]
    with pytest.raises(error, match=message) as caught:
        loads(data, "x.gguf")
    assert caught.value.path == "x.gguf"


@pytest.mark.parametrize("pre", _REFUSED)
def test_splits_that_cannot_be_exact(pre: str) -> None:
    with pytest.raises(VocabError, match=rf"pre '{pre}' is not supported \(") as caught:
        loads(packed(keys(pre=(8, pre))))
    assert caught.value.value == pre


def test_a_truncated_file_is_refused_at_every_byte() -> None:
    data = packed(keys())
    for end in range(len(data)):
        with pytest.raises(DigramError):
            loads(data[:end], "x.gguf")
    with pytest.raises(
        CorruptFileError, match=r"should have .* bytes, but .* follow byte"
    ) as caught:
        loads(data[:-1], "x.gguf")
    assert caught.value.offset is not None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"GGML" + bytes(40), "does not start with GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1 of GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 4, 0, 0), "version 4 of GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "the number of keys is 1,152,"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 0, 0)[:16], "number of keys should have 8 bytes"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 62) + bytes(40), "key 0 should have 4,611"),
        (packed({"a": (9, (8, []))})[:-8] + struct.pack("<Q", 1 << 61), "of elements of 'a' is 2,"),
        (packed({"a": (9, (4, []))})[:-8] + struct.pack("<Q", 1 << 61), "of elements of 'a' is 2,"),
        (
            packed({"tokenizer.ggml.tokens": (9, (8, []))})[:-8] + struct.pack("<Q", 1 << 40),
            "elements of 'tokenizer.ggml.tokens' is 1,099",
        ),
    ],
)
def test_lengths_and_counts_are_not_trusted(data: bytes, message: str) -> None:
    tracemalloc.start()
    with pytest.raises(DigramError, match=message):
        loads(data, "x.gguf")
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_nested_arrays_and_repeated_keys_are_refused() -> None:
    deep: Entry = (8, [])
    for _ in range(40):
        deep = (9, [deep])
    with pytest.raises(CorruptFileError, match="nested more than 8 deep"):
        loads(packed({"a": (9, deep)}))
    entries = packed({"a": (0, 1), "b": (0, 1)}).replace(b"b", b"a")
    with pytest.raises(CorruptFileError, match=r"the key b'a' occurs twice"):
        loads(entries)


def test_weights_are_not_read(tmp_path: Path) -> None:
    """A sparse file of 64 GB after the metadata, and one whose metadata is as large."""
    path = tmp_path / "model.gguf"
    path.write_bytes(packed(keys()))
    os.truncate(path, 1 << 36)
    tracemalloc.start()
    assert digram.load(path) == digram.Tokenizer(loads(packed(keys())))
    assert tracemalloc.get_traced_memory()[1] < 32 << 20
    tracemalloc.stop()
    for key in ("a", "tokenizer.ggml.tokens"):
        name = struct.pack("<Q", len(key)) + key.encode()
        head = struct.pack("<IQQ", 3, 0, 2) + name + struct.pack("<IQ", 8, 1 << 34)
        path.write_bytes(b"GGUF" + head)
        os.truncate(path, 1 << 36)
        with pytest.raises(LimitExceededError, match="the limit for the metadata"):
            digram.load(path)


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (replace(BANANA, special_tokens={}), "no split that is this pretokenizer"),
        (PLAIN, "no split that is this pretokenizer"),
        (SAMPLES["whitespace"], "no split that is this pretokenizer"),
        (SAMPLES["llama3"], r"llama3 exactly: .*'ſ.*gguf.pretokenizer\(\"llama-bpe\"\)"),
        (SAMPLES["qwen2"], r"qwen2 exactly: .*pretokenizer\(\"qwen2\"\)"),
        (SAMPLES["o200k"], r"o200k exactly: .*marks.*pretokenizer\(\"gpt-4o\"\)"),
        (SAMPLES["whole pretokens"], "cannot store ignore_merges"),
        (
            replace(SAMPLES["gpt2"], pretokenizer=Pretokenizer("gpt2", normalizer=NFC())),
            r"cannot store NFC\(\): llama.cpp applies no normalization form",
        ),
        (
            replace(SAMPLES["gpt2"], pretokenizer=gguf.pretokenizer("tekken")),
            "pretokens that are tokens are not merged",
        ),
        (changed(SAMPLES["gpt2"], tokens=[*SAMPLES["gpt2"].tokens, b""]), "the empty token"),
        (SAMPLES["characters or bytes"], "nothing is split"),
        (SAMPLES["characters or unknown"], "unknown characters are encoded as bytes"),
        (
            replace(SAMPLES["gpt2"], special_tokens={"he": 900}),
            "special token 'he' has the name of token",
        ),
        (
            replace(SAMPLES["gpt2"], special_tokens={"<|start|>": 900}),
            "'<|start|>' is found in all text by llama.cpp, whatever its type",
        ),
        (
            replace(
                SAMPLES["gpt2"],
                special_tokens={"</s>": 900},
                matching={"</s>": Matching(always=True)},
            ),
            "'</s>' is found only on request by llama.cpp",
        ),
        (
            replace(
                SAMPLES["gpt2"],
                special_tokens={"<x>": 900},
                matching={"<x>": Matching(rstrip=True)},
            ),
            "cannot store rstrip of '<x>'",
        ),
        (
            replace(SAMPLES["gpt2"], special_tokens={"<x>": 900}, template=Template("<x> <x> $A")),
            "one token before a text and one after it",
        ),
        (
            replace(
                SAMPLES["gpt2"],
                special_tokens={f"<|tool_{n}|>": 900 + n for n in range(3)},
                reserved={"tool": range(900, 903)},
            ),
            "cannot store the names of reserved ids",
        ),
    ],
)
def test_what_a_file_cannot_store(definition: digram.Definition, message: str) -> None:
    with pytest.raises(VocabError, match=message.replace("|", r"\|")):
        dumps(definition)


def test_only_the_template_of_pairs_is_lost() -> None:
    """As the folders of Llama 2 have it, beside a template of texts that a file can store."""
    pairs = Template("<x> $A", pair="<x> $A <x>:1 $B:1")
    definition = replace(SAMPLES["gpt2"], special_tokens={"<x>": 900}, template=pairs)
    with pytest.raises(VocabError) as caught:
        dumps(definition)
    assert caught.value.message == (
        "a .gguf file can store the tokens around a text, but not those around a pair of texts, as "
        "in Template('<x> $A', pair='<x> $A <x>:1 $B:1')."
    )
    assert "to leave out those of pairs; single texts get the same ids." in str(caught.value)
    back = loads(dumps(definition, allow_loss=True))
    assert back.template == Template("<x> $A")


@pytest.mark.parametrize(
    ("name", "pre"),
    [("llama3", "dbrx"), ("cl100k", "dbrx"), ("qwen2", "qwen2"), ("o200k", "gpt-4o")],
)
def test_allow_loss_accepts_the_nearest_split(name: str, pre: str) -> None:
    definition = replace(SAMPLES[name], special_tokens={})
    again = loads(dumps(definition, allow_loss=True))
    assert again == replace(definition, training=None, pretokenizer=gguf.pretokenizer(pre))
    ours, theirs = digram.Tokenizer(definition), digram.Tokenizer(again)
    for text in vocabularies.texts(300):
        if text.isascii():
            assert ours.encode(text) == theirs.encode(text)


@pytest.mark.parametrize(
    ("family", "pre", "difference"),
    [
        ("StarCoder, SmolLM, Refact", "starcoder", "digits are those of Unicode 17"),
        ("Viking, Poro", "viking", "digits are those of Unicode 17"),
        ("Falcon", "falcon", "punctuation"),
        ("Mistral Nemo, Pixtral", "tekken", "both cases"),
        ("Qwen 3.5", "qwen35", "in ASCII only"),
        ("Kimi K2", "kimi-k2", "both cases"),
        ("DeepSeek-Coder", "deepseek-coder", "white space"),
    ],
)
def test_published_splits_that_llama_cpp_has_nearly(family: str, pre: str, difference: str) -> None:
    definition = of_huggingface(FAMILIES[family]().to_str().encode())
    cut = definition.pretokenizer
    plain = Pretokenizer([Regex(one) for one in cut.patterns]) if cut.normalizer else cut
    with pytest.raises(VocabError, match=f"of this tokenizer exactly: .*{difference}"):
        dumps(replace(definition, pretokenizer=plain))
    found = loads(dumps(definition, allow_loss=True))
    assert found.pretokenizer == gguf.pretokenizer(pre)
    tok, again = digram.Tokenizer(definition), digram.Tokenizer(found)
    for text in ("The low (123) towers, 2024's. def f(x):\n    return x + 1\n", "тест 日本語 é"):
        assert again.encode(text) == tok.encode(text)
