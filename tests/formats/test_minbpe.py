"""minbpe's .model: a few lines with its rule give the same ids; what is written is read again."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import regex
import vocabularies
from vocabularies import BANANA, PLAIN, SAMPLES, changed, of_bytes, trained

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
from digram.formats.minbpe import dumps, loads, read, write

GPT4 = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
"""The default pattern of minbpe's RegexTokenizer."""


def theirs(data: bytes, text: str) -> list[int]:
    """What minbpe does with a file and a text without special tokens."""
    version, pattern, number, *rest = data.decode().splitlines()
    assert version == "minbpe v1"
    merges = {}
    for at, line in enumerate(rest[int(number) :]):
        left, right = line.split()
        merges[int(left), int(right)] = 256 + at
    ids = []
    for piece in regex.findall(pattern, text) if pattern else [text]:
        part = [*piece.encode()]
        while pairs := [merges[one] for one in pairwise(part) if one in merges]:
            made, at, joined = min(pairs), 0, []
            while at < len(part):
                merged = merges.get((*part[at : at + 2],)) == made
                joined.append(made if merged else part[at])
                at += 2 if merged else 1
            part = joined
        ids += part
    return ids


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "llama3", "no pretokenizer", "banana"])
def test_minbpe_gives_the_same_ids(name: str, tmp_path: Path) -> None:
    definition = replace(SAMPLES[name], training=None)
    if name == "banana":
        definition = replace(definition, pretokenizer=Pretokenizer(None))
    if name == "cl100k":
        definition = replace(definition, special_tokens={"<|end|>": 336, "ä": 900})
    if name == "o200k":
        definition = trained(pretokenizer="o200k", special_tokens=["<s>"])
        definition = replace(definition, training=None)
    data = dumps(definition)
    assert loads(data) == definition
    tok = digram.Tokenizer(definition)
    for text in vocabularies.texts(300):
        assert tok.encode(text) == theirs(data, text), text
    write(definition, tmp_path / "a.model")
    assert read(tmp_path / "a.model") == definition
    tok.save(tmp_path / "b", format="minbpe")
    assert digram.load(tmp_path / "b") == tok


def test_the_default_pattern_of_minbpe() -> None:
    """Possessive repetitions, and one line end at a time."""
    made = trained(pretokenizer=Regex(GPT4))
    data = dumps(made)
    assert data.splitlines()[1].decode() == GPT4
    tok = digram.Tokenizer(loads(data))
    for text in vocabularies.texts(300):
        assert tok.encode(text) == theirs(data, text), text


def test_the_bytes_of_a_file() -> None:
    banana = of_bytes((97, 110), (256, 256), special_tokens={"<|end|>": 258})
    data = b"minbpe v1\n\n1\n<|end|> 258\n97 110\n256 256\n"
    assert dumps(banana) == data
    assert loads(data.replace(b"\n", b"\r\n")) == banana
    spaced = data.replace(b"v1\n\n", b"v1 \n  \t\n").replace(b"97 110", b" 97   110 ")
    assert loads(spaced) == banana


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"minbpe v2\n\n0\n", CorruptFileError, "line 1: 'minbpe v2': the first line should be"),
        (b"minbpe v1\n", CorruptFileError, "line 2: the pattern is missing"),
        (b"minbpe v1\n\n", CorruptFileError, "line 3: this should be the number of special"),
        (b"minbpe v1\n\n-1\n", CorruptFileError, "line 3: '-1': this should be the number"),
        (b"minbpe v1\n\n9999999999\n", CorruptFileError, "before the last of 9,999,999,999"),
        (b"minbpe v1\n\n1\n<s> x 1\n", CorruptFileError, "line 4: .*a special token and its id"),
        (b"minbpe v1\n\n2\n<s> 1000\n<s> 1001\n", CorruptFileError, "line 5: .*occurs twice"),
        (b"minbpe v1\n\n1\n<s> 97\n", VocabError, "'<s>' has the id 97 of token b'a'"),
        (b"minbpe v1\n\n1\n<s> 9999999999\n", VocabError, "out of range"),
        (b"minbpe v1\n\n0\n97 x\n", CorruptFileError, "line 4: '97 x': .*two ids below 256"),
        (b"minbpe v1\n\n0\n97 256\n", CorruptFileError, "line 4: .*two ids below 256"),
        (b"minbpe v1\n\n0\n97 98 99\n", CorruptFileError, "line 4"),
        (b"minbpe v1\n\n0\n97 98\n\n97 99\n", CorruptFileError, "line 5"),
        (b"minbpe v1\n\n0\n97 98\n97 98\n", VocabError, "b'ab' has the ids 256 and 257"),
        (b"minbpe v1\n\n0\n97 9", CorruptFileError, "line 4.*ends inside a line"),
        (b"minbpe v1\n(\n0\n", PatternError, "unclosed group"),
        (b"minbpe v1\n\\w+\n0\n", VocabError, "does not match all text"),
        (b"minbpe v1\n\n0\n\xff\xfe\n", CorruptFileError, "UTF-8"),
        (
            b"minbpe v1\n\n0\n97 97\n" + b"".join(b"%d %d\n" % (n, n) for n in range(256, 300)),
            CorruptFileError,
            "the tokens have more than",
        ),
    ],
)
def test_what_is_refused(data: bytes, error: type[DigramError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        loads(data, "x.model")
    assert caught.value.path == "x.model"


def test_it_is_recognised_by_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    path.write_bytes(dumps(PLAIN))
    assert digram.load(path).definition == PLAIN
    path.write_bytes(dumps(PLAIN).replace(b"minbpe v1", b"minbpe v9"))
    with pytest.raises(CorruptFileError, match="'minbpe v9': the first line should be"):
        digram.load(path)


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (BANANA, "more than one pattern"),
        (SAMPLES["characters or bytes"], "a character vocabulary"),
        (SAMPLES["qwen2"], "the first ids are the 256 bytes in the order"),
        (SAMPLES["holes"], "the first ids are the 256 bytes in the order"),
        (SAMPLES["unreachable token"], "the first ids are the 256 bytes in the order"),
        (SAMPLES["whole pretokens"], "cannot store ignore_merges"),
        (replace(PLAIN, special_tokens={"a b": 300}), "'a b', which has white space"),
        (replace(PLAIN, special_tokens={"a\u2028": 300}), "which has white space"),
        (replace(PLAIN, pretokenizer=Pretokenizer(Regex("\n|[^\n]+"))), "which has a line end"),
        (replace(PLAIN, pretokenizer=Pretokenizer(Regex(r"[^\s]+|\s "))), "would lose"),
        (
            changed(PLAIN, special_tokens={"x": 300}, template=Template("x $A")),
            "cannot store the template",
        ),
        (
            replace(PLAIN, special_tokens={"x": 300}, matching={"x": Matching(always=True)}),
            "is found in all text",
        ),
    ],
)
def test_what_a_file_cannot_store(definition: digram.Definition, message: str) -> None:
    with pytest.raises(VocabError, match=message):
        dumps(definition)
