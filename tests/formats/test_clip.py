"""CLIP's vocabulary: the file of OpenAI beside the tokenizer.json of Hugging Face."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from formats.test_affixes import END, HOSTILE, TRAINED_ON, clip
from tokenizers import Tokenizer

import digram
from digram import CorruptFileError, LimitExceededError, VocabError
from digram.formats.clip import dumps, loads
from digram.formats.huggingface import loads as of_json
from digram.vocab.bpe import require_bpe

HEAD = '"bpe_simple_vocab_16e6.txt#version: 0.2\n'


def openai(merges: list[list[str]]) -> dict[str, int]:
    """The ids as OpenAI's program counts them."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = [chr(byte) for byte in printable] + [chr(256 + n) for n in range(len(others))]
    names = letters + [letter + END for letter in letters]
    names += ["".join(pair) for pair in merges] + ["<|startoftext|>", "<|endoftext|>"]
    return {name: id for id, name in enumerate(names)}


def made() -> tuple[bytes, Tokenizer]:
    """A file with merges that CLIP does not use, and the same vocabulary in a tokenizer.json."""
    file = json.loads(clip().to_str())
    unique: dict[str, list[str]] = {}
    for pair in file["model"]["merges"]:
        unique.setdefault("".join(pair), pair)
    merges = [*unique.values()]
    vocab = openai(merges)
    file["model"] |= {"vocab": vocab, "merges": merges}
    for token in file["added_tokens"]:
        token["id"] = vocab[token["content"]]
    ends = [["<|endoftext|>", len(vocab) - 1], ["<|startoftext|>", len(vocab) - 2]]
    file["post_processor"] |= {"sep": ends[0], "cls": ends[1]}
    lines = "".join(f"{left} {right}\n" for left, right in merges)
    return gzip.compress((HEAD + lines).encode()), Tokenizer.from_str(json.dumps(file))


def test_the_file_is_that_of_the_library(tmp_path: Path) -> None:
    data, theirs = made()
    path = tmp_path / "bpe_simple_vocab_16e6.txt.gz"
    path.write_bytes(data)
    ours = digram.load(path)
    found = digram.verify(ours, theirs, TRAINED_ON + HOSTILE, fuzz=1000)
    assert found.equal, str(found)
    assert ours("low", special="parse").ids == theirs.encode("low").ids
    assert ours("low", "er").ids == theirs.encode("low", "er").ids
    of_library = of_json(theirs.to_str().encode())
    mine = ours.definition
    assert (mine.tokens, mine.model, mine.pretokenizer, mine.template) == (
        of_library.tokens,
        of_library.model,
        of_library.pretokenizer,
        of_library.template,
    )
    ours.save(tmp_path / "again.txt.gz", format="clip")
    assert digram.load(tmp_path / "again.txt.gz") == ours
    assert gzip.decompress((tmp_path / "again.txt.gz").read_bytes()) == gzip.decompress(data)
    (tmp_path / "plain.txt").write_bytes(gzip.decompress(data))
    assert digram.load(tmp_path / "plain.txt") == ours


def test_only_the_merges_of_clip_are_used() -> None:
    """Pairs of letters, and then triples: more than CLIP uses."""
    letters = [chr(code) for code in range(33, 127)]
    pairs = [f"{a} {b}" for a in letters for b in letters]
    pairs += [f"{a}{b} {c}" for a in letters[:30] for b in letters[:30] for c in letters[:50]]
    assert len(pairs) > 48_894
    found = loads(gzip.compress((HEAD + "\n".join(pairs) + "\n").encode()))
    assert len(require_bpe(found.model, "the test").merges) == 256 + 48_894
    assert found.special_tokens == {"<|startoftext|>": 49406, "<|endoftext|>": 49407}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("l o\n", r"line 1: the first line has no"),
        (HEAD + "l o\nl o\n", "line 3: 'lo' is a token already"),
        (HEAD + "l\n", "line 2: 'l' is not two tokens"),
        (HEAD + "l o w\n", "line 2: 'l o w' is not two tokens"),
        (HEAD + "lo w\n", "line 2: 'lo' is no token yet"),
        (HEAD + "l 日\n", "line 2: '日' is no token yet"),
        (HEAD + "l</w> o\n", "line 2: 'l</w>' is the end of a word"),
        (HEAD + "a Ġ\n", "line 2: 'aĠ' is a token already"),
    ],
)
def test_damaged_files_are_refused(content: str, message: str) -> None:
    with pytest.raises((CorruptFileError, VocabError), match=message):
        loads(content.encode(), "f")
    with pytest.raises((CorruptFileError, VocabError), match=message):
        loads(gzip.compress(content.encode()), "f")


def test_damaged_compression_is_refused() -> None:
    data = made()[0]
    with pytest.raises(CorruptFileError, match="ends too early"):
        loads(data[:-9])
    with pytest.raises(CorruptFileError, match="is damaged"):
        loads(data[:40] + b"\xff\xff" + data[42:])
    with pytest.raises(LimitExceededError, match="more than 67,108,864 bytes"):
        loads(gzip.compress(bytes(1 << 27)))


def test_other_tokenizers_are_refused() -> None:
    whole = loads(made()[0])
    assert dumps(whole) == dumps(whole)
    model = require_bpe(whole.model, "the test")
    for changed, message in (
        (replace(whole, context_size=76), "cannot store this context size"),
        (replace(whole, pretokenizer=digram.Pretokenizer("gpt2")), "this pretokenizer"),
        (replace(whole, model=replace(model, merges=model.merges[:-1])), "these tokens"),
        (digram.train("a", max_merges=0).definition, "cannot store"),
    ):
        with pytest.raises(VocabError, match=message):
            dumps(changed)


def test_two_files_with_a_suffix_are_refused(tmp_path: Path) -> None:
    theirs = made()[1]
    theirs.model.save(str(tmp_path))
    with pytest.raises(VocabError, match="tokens at the end of words have the suffix '</w>'"):
        digram.load(tmp_path, pretokenizer="gpt2")
