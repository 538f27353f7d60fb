"""The merges and ids that Hugging Face's `BpeTrainer` learns."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from oracles.tally import FIGURES, compare_merges
from oracles.texts import first_megabytes
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

import digram
from digram.pretokenizers.pretokenizer import NAMED

Corpus = Callable[[str], list[str]]
Model = dict[str, Any]

SPECIAL = ["<|endoftext|>", "<pad>"]


def theirs(texts: Sequence[str], pretokenizer: str | None, **options: Any) -> Model:
    """The model that Hugging Face's trainer makes, as it stands in a file."""
    tokenizer = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    patterns = [] if pretokenizer is None else NAMED[pretokenizer].patterns
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*splits, byte_level])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(initial_alphabet=alphabet, show_progress=False, **options)
    tokenizer.train_from_iterator(texts, trainer)
    return dict(json.loads(tokenizer.to_str())["model"])


def ours(tokenizer: digram.Tokenizer, folder: Path) -> Model:
    """The model of ours, as it stands in a file."""
    tokenizer.save(folder / "tokenizer.json", format="huggingface")
    return dict(json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"])


def train(texts: Sequence[str], pretokenizer: str | None, **options: Any) -> digram.Tokenizer:
    return digram.train(
        texts, pretokenizer=pretokenizer, byte_order="gpt2", special_first=True, **options
    )


@pytest.mark.parametrize("pretokenizer", ["gpt2", "cl100k", "o200k"])
@pytest.mark.parametrize("name", ["en", "code", "multi"])
def test_merges_and_ids(
    corpus: Corpus, tmp_path: Path, full: bool, name: str, pretokenizer: str
) -> None:
    texts = corpus(name) if full else first_megabytes(corpus(name), 0.5)
    size = 32_000 if full else 4_000
    tokenizer = train(texts, pretokenizer, vocab_size=size, special_tokens=SPECIAL)
    model = ours(tokenizer, tmp_path)
    other = theirs(texts, pretokenizer, vocab_size=size, special_tokens=SPECIAL)
    compare_merges(f"BpeTrainer, {name}.txt, {pretokenizer}", model["merges"], other["merges"])
    assert model["vocab"] == other["vocab"]


@pytest.mark.parametrize("frequency", [2, 7, 100])
def test_min_frequency(corpus: Corpus, tmp_path: Path, frequency: int) -> None:
    texts = first_megabytes(corpus("multi"), 0.3)
    options = {"vocab_size": 60_000, "min_frequency": frequency}
    tokenizer = train(texts, "gpt2", **options)
    model, other = ours(tokenizer, tmp_path), theirs(texts, "gpt2", **options)
    compare_merges(f"BpeTrainer, min_frequency {frequency}", model["merges"], other["merges"])
    assert tokenizer.training is not None
    assert tokenizer.training.stop_reason == "min_frequency"
    assert (tokenizer.training.counts[-1] or 0) >= frequency


@pytest.mark.parametrize("longest", [2, 5, 16])
def test_max_token_length(corpus: Corpus, tmp_path: Path, longest: int) -> None:
    """Theirs is strict: a token must be shorter than the number."""
    texts = first_megabytes(corpus("code"), 0.5)
    tokenizer = train(texts, "gpt2", vocab_size=4_000, max_token_length=longest)
    other = theirs(texts, "gpt2", vocab_size=4_000, max_token_length=longest + 1)
    model = ours(tokenizer, tmp_path)
    compare_merges(f"BpeTrainer, max_token_length {longest}", model["merges"], other["merges"])
    assert model["vocab"] == other["vocab"]
    assert max(map(len, tokenizer.tokens(range(len(tokenizer))))) == longest


def test_small_corpora(tmp_path: Path, full: bool) -> None:
    """Runs, whose pairs overlap, and ties without end: random words over few letters."""
    source = random.Random(7)
    corpora, merges = (5_000 if full else 150), 0
    for number in range(corpora):
        letters = "ab "[: source.randrange(1, 4)] + "é " * (number % 5 == 0)
        texts = [
            "".join(source.choices(letters, k=source.randrange(1, 25))) * source.randrange(1, 4)
            for _ in range(source.randrange(1, 6))
        ]
        cut = source.choice(["gpt2", None])
        model = ours(train(texts, cut, vocab_size=300), tmp_path)
        other = theirs(texts, cut, vocab_size=300, min_frequency=1)
        assert model["merges"] == other["merges"], texts
        assert model["vocab"] == other["vocab"], texts
        merges += len(model["merges"])
    FIGURES.append(f"BpeTrainer, small corpora: {corpora:,} with {merges:,} merges, all equal")
