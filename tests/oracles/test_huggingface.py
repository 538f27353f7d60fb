"""The ids of Hugging Face's `tokenizers`, for a published file and for files that digram saves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from oracles.tally import Tally
from oracles.texts import CORPORA, SEPARATOR, batches, first_megabytes, soups, with_endings

import digram
from digram import Pretokenizer, Regex, Special

Find = Callable[[str], Path]
Corpus = Callable[[str], list[str]]

HEAD = 600
"""Characters of each document that are compared without --full: `tokenizers` is slow."""

BYTE_LEVEL: dict[str, Any] = {
    **{name: name for name in ("gpt2", "cl100k", "o200k", "llama3", "qwen2", "deepseek-v3")},
    "whitespace": "whitespace",
    "none": None,
    "gpt2, digits one by one": Pretokenizer("gpt2", digits="individual"),
    "gpt2, digits by threes from the right": Pretokenizer("gpt2", digits="threes_from_right"),
    "o200k, digits by threes from the left": Pretokenizer("o200k", digits="threes_from_left"),
    "own pattern": Regex(r"\p{Lu}?\p{Ll}+|\p{Nd}{1,2}|[^\s\p{L}]|\s+"),
    "own patterns": [Regex(r"\p{N}{3}"), Regex(r" ?\p{Han}{1,2}| ?[\p{L}\p{M}]+")],
}
CHARACTERS: dict[str, tuple[Any, Any]] = {
    "o200k, bytes": ("o200k", "bytes"),
    "none, bytes": (None, "bytes"),
    "whitespace, bytes": ("whitespace", "bytes"),
    "deepseek-v3, unknown": ("deepseek-v3", Special("<unk>")),
    "whitespace, unknown": ("whitespace", Special("<unk>")),
    "none, unknown": (None, Special("<unk>")),
}


def compare(
    tally: Tally, ours: digram.Tokenizer, theirs: tokenizers.Tokenizer, texts: Sequence[str]
) -> None:
    """Ids of both; in Hugging Face's files special tokens are parsed out of any text."""
    for batch in batches(texts):
        encoded = theirs.encode_batch_fast(batch, add_special_tokens=False)
        tally.add(batch, ours.encode_batch(batch, special="parse"), [one.ids for one in encoded])


def sample(corpus: Corpus, megabytes: float) -> list[str]:
    """Some documents of each corpus, none of them long, and some with white space at their end."""
    texts = [
        text
        for name in CORPORA
        for text in first_megabytes([text[:4_000] for text in corpus(name)], megabytes / 4)
    ]
    return [*texts, *with_endings(texts, each=1)]


@pytest.mark.parametrize("name", CORPORA)
def test_published_file(shared_data: Find, corpus: Corpus, full: bool, name: str) -> None:
    path = shared_data("vocabs/gpt2_tokenizer.json")
    ours, theirs = digram.load(path), tokenizers.Tokenizer.from_file(str(path))
    texts = [text if full else text[:HEAD] for text in corpus(name)]
    with Tally(f"tokenizers, gpt2_tokenizer.json, {name}.txt", "documents") as tally:
        compare(tally, ours, theirs, texts)


def test_published_file_on_random_texts(shared_data: Find, corpus: Corpus, full: bool) -> None:
    path = shared_data("vocabs/gpt2_tokenizer.json")
    ours, theirs = digram.load(path), tokenizers.Tokenizer.from_file(str(path))
    with Tally("tokenizers, gpt2_tokenizer.json, random Unicode and endings") as tally:
        compare(tally, ours, theirs, soups(100_000 if full else 15_000))
        compare(tally, ours, theirs, with_endings(corpus("multi"), each=20 if full else 1))


@pytest.mark.parametrize("name", BYTE_LEVEL)
def test_our_file_over_bytes(corpus: Corpus, tmp_path: Path, full: bool, name: str) -> None:
    """Trained, saved, and loaded there as it is."""
    texts = sample(corpus, 6 if full else 0.8)
    ours = digram.train(
        texts[::2],
        vocab_size=3_000,
        max_token_length=40,
        pretokenizer=BYTE_LEVEL[name],
        special_tokens=[SEPARATOR, "<|user|>"],
    )
    ours.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert digram.load(tmp_path / "tokenizer.json") == ours
    with Tally(f"tokenizers, our file, {name}") as tally:
        compare(tally, ours, theirs, [*texts, *soups(100_000 if full else 3_000)])
        compare(tally, ours, theirs, ["a<|user|>b" + SEPARATOR, "<|user|", "<|user|><|user|> "])


@pytest.mark.parametrize("name", CHARACTERS)
def test_our_file_over_characters(corpus: Corpus, tmp_path: Path, full: bool, name: str) -> None:
    """Trained on half of the texts, so that the other half has characters without a token."""
    pretokenizer, on_unknown = CHARACTERS[name]
    texts = sample(corpus, 6 if full else 0.8)
    ours = digram.train(
        texts[::2],
        vocab_size=12_000,
        max_token_length=40,
        unit="char",
        pretokenizer=pretokenizer,
        on_unknown=on_unknown,
    )
    ours.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert digram.load(tmp_path / "tokenizer.json") == ours
    with Tally(f"tokenizers, our file over characters, {name}") as tally:
        compare(tally, ours, theirs, [*texts, *soups(100_000 if full else 3_000)])
