"""The ids of tiktoken, for the encodings that OpenAI publishes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
import tiktoken
from oracles.published import ENCODINGS, encoding
from oracles.tally import Tally
from oracles.texts import CORPORA, batches, soups, with_endings

import digram

Find = Callable[[str], Path]
Corpus = Callable[[str], list[str]]

HEAD = 10_000
"""Characters of each document that are compared without --full: half of all text."""


class Pair(NamedTuple):
    """One encoding, ours and theirs."""

    name: str
    ours: digram.Tokenizer
    theirs: tiktoken.Encoding

    def compare(self, tally: Tally, texts: Sequence[str], *, decode: bool = False) -> None:
        """Ids, and what they decode to; special tokens in the texts stay text."""
        for batch in batches(texts):
            ids = self.ours.encode_batch(batch)
            # tiktoken's threads pass a lock to each other, so for short texts one is faster.
            threads = 2 if len(batch) < 20_000 else 1
            tally.add(batch, ids, self.theirs.encode_ordinary_batch(batch, num_threads=threads))
            if decode:
                assert self.ours.decode_batch(ids) == batch


@pytest.fixture(scope="module", params=ENCODINGS)
def pair(request: pytest.FixtureRequest, shared_data: Find) -> Pair:
    name: str = request.param
    path = shared_data(f"vocabs/{name}.tiktoken")
    return Pair(name, digram.load(path, encoding=name), encoding(name, shared_data))


def test_vocabularies_are_equal(pair: Pair) -> None:
    assert pair.ours.vocab_size == pair.theirs.n_vocab
    assert set(pair.ours.special_tokens) == pair.theirs.special_tokens_set
    tokens = {pair.ours.token_bytes(id): id for id in range(len(pair.theirs.token_byte_values()))}
    assert sorted(tokens) == pair.theirs.token_byte_values()


@pytest.mark.parametrize("name", CORPORA)
def test_every_document(pair: Pair, corpus: Corpus, full: bool, name: str) -> None:
    texts = [text if full else text[:HEAD] for text in corpus(name)]
    with Tally(f"tiktoken, {pair.name}, {name}.txt", "documents") as tally:
        pair.compare(tally, texts, decode=True)


def test_documents_that_end_in_white_space(pair: Pair, corpus: Corpus, full: bool) -> None:
    """The patterns treat the end of a text in its own way, and the corpora are stripped."""
    with Tally(f"tiktoken, {pair.name}, endings in white space") as tally:
        for name in CORPORA:
            pair.compare(tally, with_endings(corpus(name), each=20 if full else 2))


def test_random_texts(pair: Pair) -> None:
    with Tally(f"tiktoken, {pair.name}, random Unicode") as tally:
        pair.compare(tally, soups(100_000), decode=True)


def test_special_tokens(pair: Pair) -> None:
    """Asked for, they are found where tiktoken finds them."""
    specials = sorted(pair.theirs.special_tokens_set)
    texts = [
        before + special + between + other + after
        for special in specials
        for other in specials
        for before, between, after in [("", "", ""), ("a ", " ", " b"), ("<|", "\n", "|>"), *ODD]
    ]
    ours = [pair.ours.encode(text, special="parse") for text in texts]
    theirs = [pair.theirs.encode(text, allowed_special="all") for text in texts]
    with Tally(f"tiktoken, {pair.name}, special tokens") as tally:
        tally.add(texts, ours, theirs)
    allowed = specials[:1]
    ours = [pair.ours.encode(text, special=allowed) for text in texts]
    theirs = [
        pair.theirs.encode(text, allowed_special=set(allowed), disallowed_special=())
        for text in texts
    ]
    with Tally(f"tiktoken, {pair.name}, one special token allowed") as tally:
        tally.add(texts, ours, theirs)


ODD = [("<|endof", "text|>", "<|endoftext|"), ("it's", "  ", "   "), ("\n", "\n\n", "\n \n")]
