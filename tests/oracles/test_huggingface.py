"""The ids of Hugging Face's `tokenizers`, for a published file and for files that digram saves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tokenizers
from oracles.tally import Tally
from oracles.texts import CORPORA, SEPARATOR, batches, first_megabytes, soups, with_endings

import digram
from digram import Pretokenizer, Regex, SpecialToken

Find = Callable[[str], Path]
Corpus = Callable[[str], list[str]]

HEAD = 150
"""Characters of each document that are compared without --full: `tokenizers` is slow."""
MANY = 1_000_000
"""Random texts that are compared with --full."""

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
    "deepseek-v3, unknown": ("deepseek-v3", SpecialToken("<unk>")),
    "whitespace, unknown": ("whitespace", SpecialToken("<unk>")),
    "none, unknown": (None, SpecialToken("<unk>")),
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


class Published(NamedTuple):
    """A published vocabulary, ours and theirs."""

    name: str
    ours: digram.Tokenizer
    theirs: tokenizers.Tokenizer


@pytest.fixture(
    scope="module",
    params=["gpt2_tokenizer.json", "cl100k_base.tiktoken", "o200k_base.tiktoken"],
)
def published(
    request: pytest.FixtureRequest, shared_data: Find, tmp_path_factory: pytest.TempPathFactory
) -> Published:
    """It reads no `.tiktoken`, and gets those as the `tokenizer.json` that we save."""
    name: str = request.param
    path = shared_data(f"vocabs/{name}")
    if name.endswith(".json"):
        ours = digram.load(path)
    else:
        ours = digram.load(path, encoding=path.stem)
        path = tmp_path_factory.mktemp("published") / "tokenizer.json"
        ours.save(path)
    return Published(name, ours, tokenizers.Tokenizer.from_file(str(path)))


@pytest.mark.parametrize("name", CORPORA)
def test_published_file(published: Published, corpus: Corpus, full: bool, name: str) -> None:
    texts = [text if full else text[:HEAD] for text in corpus(name)]
    with Tally(f"tokenizers, {published.name}, {name}.txt", "documents") as tally:
        compare(tally, published.ours, published.theirs, texts)


def test_published_file_on_random_texts(published: Published, corpus: Corpus, full: bool) -> None:
    endings = with_endings(corpus("multi"), each=20 if full else 1)
    with Tally(f"tokenizers, {published.name}, random Unicode and endings") as tally:
        compare(tally, published.ours, published.theirs, soups(MANY if full else 2_500))
        compare(tally, published.ours, published.theirs, endings)


@pytest.mark.parametrize("name", BYTE_LEVEL)
def test_our_file_over_bytes(corpus: Corpus, tmp_path: Path, full: bool, name: str) -> None:
    """Trained, saved, and loaded there as it is."""
    texts = sample(corpus, 6 if full else 0.4)
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
        compare(tally, ours, theirs, [*texts, *soups(MANY if full else 1_500)])
        compare(tally, ours, theirs, ["a<|user|>b" + SEPARATOR, "<|user|", "<|user|><|user|> "])


@pytest.mark.parametrize("name", CHARACTERS)
def test_our_file_over_characters(corpus: Corpus, tmp_path: Path, full: bool, name: str) -> None:
    """Trained on half of the texts, so that the other half has characters without a token."""
    pretokenizer, on_unknown = CHARACTERS[name]
    texts = sample(corpus, 6 if full else 0.4)
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
        compare(tally, ours, theirs, [*texts, *soups(MANY if full else 1_500)])
