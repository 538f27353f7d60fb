"""The merges that rustbpe learns."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
import rustbpe
from oracles.tally import FIGURES, Tally, compare_merges
from oracles.texts import first_megabytes

import digram
from digram.pretokenizers.pretokenizer import NAMED

Corpus = Callable[[str], list[str]]


def theirs(texts: Sequence[str], size: int, pretokenizer: str) -> rustbpe.Tokenizer:
    tokenizer = rustbpe.Tokenizer()
    pattern = NAMED[pretokenizer].patterns[0]
    tokenizer.train_from_iterator(iter(texts), vocab_size=size, pattern=pattern)
    return tokenizer


def tokens(tokenizer: rustbpe.Tokenizer) -> list[bytes]:
    """What each merge made, in rank order; the pair itself rustbpe does not tell."""
    return [bytes(token) for token, _ in tokenizer.get_mergeable_ranks()][256:]


@pytest.mark.parametrize("pretokenizer", ["gpt2", "gpt4"])
@pytest.mark.parametrize("name", ["en", "code", "multi"])
def test_merges(corpus: Corpus, full: bool, name: str, pretokenizer: str) -> None:
    """The tokens in their order, and ids that only the same pairs give."""
    texts = corpus(name) if full else first_megabytes(corpus(name), 2)
    size = 32_000 if full else 10_000
    named = digram.pretokenizers.resolve(pretokenizer).name
    assert named is not None
    ours = digram.train(texts, vocab_size=size, pretokenizer=pretokenizer)
    other = theirs(texts, size, named)
    made = [merge.token for merge in ours.merge_log]
    compare_merges(f"rustbpe, {name}.txt, {pretokenizer}", made, tokens(other))
    some = first_megabytes(texts, 1)
    with Tally(f"rustbpe, {name}.txt, {pretokenizer}, ids", "documents") as tally:
        tally.add(some, ours.encode_batch(some), other.batch_encode(some))


def test_small_corpora(full: bool) -> None:
    """Runs, whose pairs overlap, and ties without end: random words over few letters."""
    source = random.Random(11)
    corpora, merges = (20_000 if full else 250), 0
    for number in range(corpora):
        letters = "ab "[: source.randrange(1, 4)] + "é " * (number % 5 == 0)
        texts = [
            "".join(source.choices(letters, k=source.randrange(1, 25))) * source.randrange(1, 4)
            for _ in range(source.randrange(1, 6))
        ]
        ours = digram.train(texts, vocab_size=300, pretokenizer="gpt2")
        other = theirs(texts, 300, "gpt2")
        assert [merge.token for merge in ours.merge_log] == tokens(other), texts
        assert ours.encode_batch(texts) == other.batch_encode(texts), texts
        merges += len(ours.merge_log)
    FIGURES.append(f"rustbpe, small corpora: {corpora:,} with {merges:,} merges, all equal")
