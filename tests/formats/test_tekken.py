"""tekken.json: what is read is what tiktoken makes of it, and what is written is read again.

With mistral-common 1.13 and the files in it, the ids of 2,002 texts were equal.
"""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import vocabularies
from vocabularies import BYTES, SAMPLES, trained

import digram
from digram import (
    CorruptFileError,
    DigramError,
    Matching,
    PatternError,
    Pretokenizer,
    Regex,
    Template,
    VocabError,
)
from digram.formats.tekken import dumps, loads, read, write

PATTERN = digram.pretokenizers.NAMED["o200k"].patterns[0]
NAMES = ["<unk>", "<s>", "</s>"]


def told(number: int = 300, **changes: Any) -> dict[str, Any]:
    """A file as Mistral writes it: 300 tokens, of which the first are used."""
    tokens = [*BYTES, b" t", b"he", b" the", *(b"%dx" % n for n in range(41))]
    config = {
        "pattern": PATTERN,
        "num_vocab_tokens": 300,
        "default_vocab_size": number,
        "default_num_special_tokens": 25,
        "version": "v3",
    }
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    return {"config": config | changes.pop("config", {}), "vocab": vocab} | changes


def packed(top: Any) -> bytes:
    return json.dumps(top).encode()


def special(*names: str) -> list[dict[str, Any]]:
    return [{"rank": n, "token_str": name, "is_control": True} for n, name in enumerate(names)]


def test_what_mistral_common_reads() -> None:
    """Its rules, by tiktoken: ids behind the special tokens, and none of those from text."""
    top = told(284, special_tokens=special(*NAMES))
    definition = loads(packed(top))
    assert definition.special_tokens == {
        **{name: id for id, name in enumerate(NAMES)},
        **{f"<SPECIAL_{id}>": id for id in range(3, 25)},
    }
    used = {base64.b64decode(one["token_bytes"]): one["rank"] for one in top["vocab"][: 284 - 25]}
    theirs = tiktoken.Encoding("t", pat_str=PATTERN, mergeable_ranks=used, special_tokens={})
    tok = digram.Tokenizer(definition)
    assert tok.vocab_size == 284
    for text in [*vocabularies.texts(500), " the<s>the 0x1x"]:
        assert tok.encode(text) == [id + 25 for id in theirs.encode_ordinary(text)], text


def test_the_built_in_special_tokens() -> None:
    for top in (told(), told(special_tokens=None)):
        found = loads(packed(top)).special_tokens
        assert [found[name] for name in ("<s>", "<pad>", "[TOOL_CONTENT]", "<SPECIAL_20>")] == [
            *(1, 11, 19, 20)
        ]
    with pytest.raises(CorruptFileError, match="special_tokens is missing, which files of version"):
        loads(packed(told(config={"version": "v11"})))


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "llama3", "qwen2"])
def test_what_is_written_is_read_again(name: str, tmp_path: Path) -> None:
    definition = replace(
        trained(pretokenizer=name, special_tokens=NAMES, special_first=True), training=None
    )
    write(definition, tmp_path / "a.json")
    assert read(tmp_path / "a.json") == loads(dumps(definition)) == definition
    tok = digram.Tokenizer(definition)
    tok.save(tmp_path / "tekken.json")  # the name says the format
    assert digram.load(tmp_path / "tekken.json") == digram.load(tmp_path) == tok
    (tmp_path / "tekken.json").rename(tmp_path / "vocab.json")
    assert digram.load(tmp_path / "vocab.json") == tok  # what a file holds decides
    top = json.loads((tmp_path / "a.json").read_bytes())
    assert top["config"]["default_vocab_size"] == tok.vocab_size
    assert top["vocab"][32] == {"rank": 32, "token_bytes": "IA==", "token_str": " "}
    assert top["vocab"][255]["token_str"] is None


def test_a_token_with_the_name_of_its_field(tmp_path: Path) -> None:
    """A tokenizer.json whose vocabulary has such a token is still one."""
    tok = digram.train("token_bytes " * 9, max_merges=40, pretokenizer=None)
    assert b"token_bytes" in tok.tokens(range(tok.vocab_size))
    tok.save(tmp_path / "a.json")
    assert digram.load(tmp_path / "a.json") == tok


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"config": {"version": "3"}}, VocabError, "config.version '3' is not supported"),
        ({"config": {"more": 1}}, VocabError, "the key 'config.more' is not supported"),
        ({"more": 1}, VocabError, "the key 'more' is not supported"),
        ({"config": {"pattern": 1}}, CorruptFileError, "config.pattern should be a string"),
        ({"config": {"pattern": "("}}, PatternError, "unclosed group"),
        ({"config": {"pattern": r"\p{L}+|\s"}}, VocabError, "does not match all text: .* be lost"),
        ({"config": {"default_vocab_size": -1}}, CorruptFileError, "default_vocab_size is -1"),
        ({"config": {"default_vocab_size": 326}}, VocabError, "is 326, of which 25 .* 300 tokens"),
        ({"config": {"default_vocab_size": 200}}, VocabError, "is 200, of which 25"),
        ({"config": {"default_num_special_tokens": 1 << 40}}, VocabError, "is out of range"),
        ({"config": {"default_num_special_tokens": 9}}, VocabError, "20 tokens, .* is 9"),
        ({"special_tokens": special("a", "a")}, VocabError, "special token 'a' occurs twice"),
        ({"special_tokens": [{"rank": 1}]}, VocabError, r"special_tokens\[0\].rank should be 0"),
        ({"special_tokens": [1]}, CorruptFileError, r"special_tokens\[0\] should be an object"),
        ({"special_tokens": special("")}, VocabError, "special token '' has no text"),
        ({"vocab": 1}, CorruptFileError, "vocab should be a list"),
    ],
)
def test_what_is_refused(change: dict[str, Any], error: type[DigramError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        loads(packed(told(**change)), "t.json")
    assert caught.value.path == "t.json"


@pytest.mark.parametrize(
    ("rank", "entry", "message"),
    [
        (256, 7, r"vocab\[256\] should be an object"),
        (
            256,
            {"rank": 3, "token_bytes": "", "token_str": ""},
            r"\[256\].rank should be 256, not 3",
        ),
        (256, {"rank": 256, "token_bytes": "?"}, r"vocab\[256\].token_bytes '\?' is not base64"),
        (256, {"rank": 256, "token_bytes": None}, r"\[256\].token_bytes should be a string"),
        (
            256,
            {"rank": 256, "token_bytes": "IA=="},
            r"vocab\[256\] is token b' ', as vocab\[32\] is",
        ),
        (32, {"rank": 32, "token_bytes": "ICA="}, "1 of the 256 bytes have no token: 0x20"),
    ],
)
def test_damaged_tokens(rank: int, entry: Any, message: str) -> None:
    top = told()
    top["vocab"][rank] = entry
    with pytest.raises(DigramError, match=message):
        loads(packed(top))


FIRST = trained(pretokenizer="gpt2", special_tokens=NAMES, special_first=True)


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (SAMPLES["cl100k"], "'<|end|>' has the id 336, and not 0"),
        (replace(FIRST, pretokenizer=Pretokenizer(None)), "needs a pretokenizer"),
        (replace(FIRST, pretokenizer=Pretokenizer("deepseek-v3")), "more than one pattern"),
        (
            replace(FIRST, pretokenizer=Pretokenizer("gpt2", digits="individual")),
            "than one pattern",
        ),
        (replace(FIRST, pretokenizer=Pretokenizer(Regex(r"\w+"))), "would lose"),
        (replace(FIRST, pretokenizer=Pretokenizer(Regex(r"[\w--a]+|."))), "interpret differently"),
        (replace(FIRST, template=Template("<s> $A")), "cannot store the template"),
        (replace(FIRST, matching={"<s>": Matching(always=True)}), "is found in all text"),
        (SAMPLES["characters or bytes"], "a character vocabulary"),
        (replace(SAMPLES["holes"], special_tokens={}, pretokenizer=FIRST.pretokenizer), "no gaps"),
        (replace(FIRST, special_tokens={"<unk>": 0, "<s>": 1}), "the 256 bytes in the order"),
    ],
)
def test_what_a_file_cannot_store(definition: digram.Definition, message: str) -> None:
    with pytest.raises(VocabError, match=message.replace("|e", r"\|e").replace("d|", r"d\|")):
        dumps(definition)
