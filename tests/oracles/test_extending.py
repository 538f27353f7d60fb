"""A published vocabulary that was extended gives the same ids in tiktoken and in tokenizers."""

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
def grown(shared_data: Find, corpus: Corpus) -> digram.Tokenizer:
    """cl100k with 4,000 tokens more, learned from nine tenths of medical text."""
    tok = digram.load(shared_data("vocabs/cl100k_base.tiktoken"), encoding="cl100k_base")
    texts = corpus("med")
    found, change = digram.extend(tok, texts[: len(texts) * 9 // 10], add=4_000)
    assert change.added == [*range(100_277, 104_277)]
    assert found.unreachable() == tok.unreachable()
    assert sum(found.count_batch(texts)) < sum(tok.count_batch(texts))
    return found


def test_rank_is_id_in_tiktoken(grown: digram.Tokenizer, corpus: Corpus, tmp_path: Path) -> None:
    grown.save(tmp_path / "grown.tiktoken", allow_loss=True)  # without its special tokens
    lines = (tmp_path / "grown.tiktoken").read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}
    assert all(grown.token_to_id(token) == rank for token, rank in ranks.items())
    (pattern,) = grown.pretokenizer.patterns
    other = tiktoken.Encoding(
        "grown", pat_str=pattern, mergeable_ranks=ranks, special_tokens=grown.special_tokens
    )
    with Tally("tiktoken, cl100k extended, med.txt", "documents") as tally:
        for batch in batches(corpus("med")):
            tally.add(batch, grown.encode_batch(batch), other.encode_ordinary_batch(batch))


def test_in_tokenizers(grown: digram.Tokenizer, corpus: Corpus, tmp_path: Path) -> None:
    grown.save(tmp_path / "grown.json")
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "grown.json"))
    with Tally("tokenizers, cl100k extended, med.txt", "documents") as tally:
        for batch in batches(corpus("med")):
            theirs = other.encode_batch_fast(batch, add_special_tokens=False)
            tally.add(batch, grown.encode_batch(batch), [one.ids for one in theirs])
