"""SuperBPE as tokenizers reads it, and as tiktoken does: lines of text, merged by rank."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
import tiktoken
import tokenizers
from oracles.tally import Tally
from oracles.texts import batches

import digram

Find = Callable[[str], Path]
Corpus = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def joined(corpus: Corpus) -> digram.Tokenizer:
    """Words and superwords of English and code."""
    texts = [text for name in ("en", "code") for text in corpus(name)[:300]]
    tok = digram.train(texts, vocab_size=8_000, superwords=digram.TwoStage(subwords=0.6))
    assert sum(b" " in token[1:] for token in tok.tokens(range(256, 8_000))) > 1_000
    return tok


@pytest.mark.parametrize("name", ["en", "code", "multi"])
def test_in_tokenizers(
    name: str, joined: digram.Tokenizer, corpus: Corpus, tmp_path: Path, full: bool
) -> None:
    joined.save(tmp_path / "joined.json", format="huggingface")
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "joined.json"))
    texts = corpus(name) if full else corpus(name)[:200]
    with Tally(f"tokenizers, superwords, {name}.txt", "documents") as tally:
        for batch in batches(texts):
            theirs = other.encode_batch_fast(batch, add_special_tokens=False)
            tally.add(batch, joined.encode_batch(batch), [one.ids for one in theirs])


def test_in_tiktoken(joined: digram.Tokenizer, corpus: Corpus, tmp_path: Path, full: bool) -> None:
    joined.save(tmp_path / "joined.tiktoken")
    lines = (tmp_path / "joined.tiktoken").read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}
    # What two splits cut one after the other, one pattern cuts at once.
    pattern = r"\p{N}{1,3}|[^\r\n\p{N}]+|[\r\n]+"
    other = tiktoken.Encoding("joined", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    texts = corpus("en") if full else corpus("en")[:200]
    with Tally("tiktoken, superwords, en.txt", "documents") as tally:
        for batch in batches(texts):
            tally.add(batch, joined.encode_batch(batch), other.encode_ordinary_batch(batch))
