"""Encodings for tiktoken: equal ids or a refusal, as values and as installed plugins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import tiktoken
import vocabularies
from vocabularies import PLAIN, SAMPLES, changed

import digram
from digram import Matching, OptionError, Pretokenizer, Regex, VocabError

CANNOT = {
    "cl100k": "either of the special tokens '<|end|>' and '<|end|>!'",
    "deepseek-v3": "has 3 patterns",
    "two regexes": "has 2 patterns",
    "two merges make one token": "ids are in the order of merges",
    "unreachable token": "no merge makes token 259",
    **dict.fromkeys((name for name in SAMPLES if "digits" in name), "has a policy for digits"),
    "banana": "has a policy for digits",
    **dict.fromkeys((name for name in SAMPLES if "characters" in name), "a character vocabulary"),
}


def same_ids(ours: digram.Tokenizer, theirs: tiktoken.Encoding, texts: list[str]) -> None:
    for text in texts:
        ids = ours.encode(text)
        assert theirs.encode_ordinary(text) == ids
        assert theirs.encode(text, allowed_special="all") == ours.encode(text, special="parse")
        assert theirs.decode_bytes(ids) == ours.decode_bytes(ids)


@pytest.mark.parametrize("name", SAMPLES)
def test_same_ids_or_a_refusal(name: str) -> None:
    tok = digram.Tokenizer(SAMPLES[name])
    if name in CANNOT:
        with pytest.raises(VocabError, match=CANNOT[name]):
            tok.to_tiktoken()
        return
    theirs = tok.to_tiktoken(name)
    assert (theirs.name, theirs.n_vocab) == (name, tok.vocab_size)
    same_ids(tok, theirs, vocabularies.texts(300))


@pytest.mark.parametrize(
    "pattern",
    [
        r"\w+",
        r"[a-z]+|\d{2}",
        r"(?i:the)|\s+(?!\S)",
        r"(?i)the|LOW",
        r"a*?b",
        r"\S+?",
        r".+",
        r"^\w+",
        r"\w+$|\s",
        r"\b\w",
        r"(?:ab)+|.",
        r"[[:alpha:]]+",
        r"\p{N}{1,3}+",
    ],
)
def test_text_between_matches_is_kept(pattern: str) -> None:
    """tiktoken drops what its pattern does not match."""
    tok = digram.train(vocabularies.CORPUS, max_merges=60, pretokenizer=Regex(pattern))
    texts = [
        *vocabularies.texts(200),
        "١٢٣ ß \u212a ſ a\u0301 ab\r\nthe THE  \x85\u2028 x",
        "a\nb\n",
    ]
    same_ids(tok, tok.to_tiktoken(), texts)


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_published_encodings(name: str, shared_data: Callable[[str], Path]) -> None:
    tok = digram.load(shared_data(f"vocabs/{name}.tiktoken"))
    same_ids(tok, tok.to_tiktoken(name), vocabularies.texts(300))


def test_other_refusals() -> None:
    special = replace(PLAIN, special_tokens={"<s>": 300})
    for matching in (Matching(always=True), Matching(lstrip=True)):
        with pytest.raises(VocabError, match="exactly as written, but '<s>' has Matching"):
            digram.Tokenizer(replace(special, matching={"<s>": matching})).to_tiktoken()
    lower = Pretokenizer("gpt2", normalizer=digram.pretokenizers.Lowercase())
    with pytest.raises(VocabError, match="tiktoken cannot store a normalizer"):
        digram.Tokenizer(replace(PLAIN, pretokenizer=lower)).to_tiktoken()
    with pytest.raises(VocabError, match="tiktoken cannot store rules"):
        digram.Tokenizer(PLAIN).with_rules(digram.Rules(["low"])).to_tiktoken()
    ordered = changed(PLAIN, tokens=[*PLAIN.tokens[:256], b"anan", b"an"], merges=[])
    with pytest.raises(VocabError):
        digram.Tokenizer(ordered).to_tiktoken()
    with pytest.raises(TypeError):
        digram.Tokenizer(PLAIN).to_tiktoken(3)  # type: ignore[arg-type]


def plugin(folder: Path) -> digram.Tokenizer:
    tok = digram.train(
        vocabularies.CORPUS,
        max_merges=50,
        pretokenizer=Regex(r"""'"[\p{L}]+|\s\p{L}+|"{3}"""),
        special_tokens=["<|end|>", "\"'''é\n\\"],
    )
    tok.save_tiktoken_plugin(folder, "My.encoding-1")
    return tok


SCRIPT = """
import json, sys, tiktoken
theirs = tiktoken.get_encoding("My.encoding-1")
texts = json.load(sys.stdin)
print(json.dumps([theirs.encode(text, allowed_special="all") for text in texts]))
print("cl100k_base" in tiktoken.list_encoding_names())
"""


def asked(texts: list[str], path: Path) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(texts),
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.splitlines()


def test_a_plugin_is_found(tmp_path: Path) -> None:
    tok = plugin(tmp_path / "plugin")
    texts = [*vocabularies.texts(100), "\"'''é\n\\ <|end|>"]
    ids, others = asked(texts, tmp_path / "plugin")
    assert json.loads(ids) == [tok.encode(text, special="parse") for text in texts]
    assert others == "True"
    assert {path.relative_to(tmp_path / "plugin").as_posix() for path in tmp_path.rglob("*.*")} >= {
        "pyproject.toml",
        "tiktoken_ext/digram_my_encoding_1.py",
        "tiktoken_ext/digram_my_encoding_1.tiktoken",
    }


def test_a_plugin_is_installed(tmp_path: Path) -> None:
    tok = plugin(tmp_path / "plugin")
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--target"]
    command = [sys.executable, "-m", "pip", "install", *options, str(tmp_path / "target")]
    subprocess.run([*command, str(tmp_path / "plugin")], check=True, capture_output=True)
    ids, _ = asked(["low é"], tmp_path / "target")
    assert json.loads(ids) == [tok.encode("low é")]


@pytest.mark.parametrize("name", ["", "a b", "é", "a/b", "../a", "-a", "a\n", "x" * 101, "gpt2"])
def test_names_of_plugins(name: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="is published" if name == "gpt2" else "is not a name"):
        digram.Tokenizer(PLAIN).save_tiktoken_plugin(tmp_path / "plugin", name)
    assert not (tmp_path / "plugin").exists()
