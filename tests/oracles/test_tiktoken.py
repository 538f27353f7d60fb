"""The ids of tiktoken, for the encodings that OpenAI publishes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, cycle, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
import tiktoken
from click.testing import CliRunner
from oracles.published import ENCODINGS, encoding
from oracles.tally import Tally
from oracles.texts import CORPORA, batches, first_megabytes, soups, with_endings

import digram
from digram.cli import cli

Find = Callable[[str], Path]
Corpus = Callable[[str], list[str]]

HEAD = 4_000
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
    tokens = {pair.ours.id_to_token(id): id for id in range(len(pair.theirs.token_byte_values()))}
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
            pair.compare(tally, with_endings(corpus(name), each=20 if full else 1))


def test_random_texts(pair: Pair, full: bool) -> None:
    with Tally(f"tiktoken, {pair.name}, random Unicode") as tally:
        pair.compare(tally, soups(1_000_000 if full else 16_000), decode=True)


def test_every_way_in_and_out(pair: Pair, corpus: Corpus, full: bool) -> None:
    """One text, batches of every form, any number of texts, a long text on two threads, chunks."""
    texts = [text for name in CORPORA for text in first_megabytes(corpus(name), 8 if full else 0.3)]
    texts += soups(100_000 if full else 2_000)
    theirs = pair.theirs.encode_ordinary_batch(texts, num_threads=2)
    joined = "\n".join(texts)
    whole = pair.theirs.encode_ordinary(joined)
    sizes = cycle([1, 7, 4_000, 65_536])
    data, at, chunks = joined.encode(), 0, []
    while at < len(data):
        chunks.append(data[at : at + next(sizes)])
        at += len(chunks[-1])
    tok = pair.ours
    flat = tok.encode_batch(texts, threads=1, out="numpy")
    rows = [flat.ids[a:b].tolist() for a, b in pairwise(flat.offsets.tolist())]
    ways: dict[str, list[list[int]]] = {
        "one by one": [tok.encode(text) for text in texts],
        "arrays": rows,
        "Arrow, two threads": pa.array(tok.encode_batch(texts, threads=2, out="arrow")).to_pylist(),
        "any number of texts": list(tok.encode_iter(iter(texts))),
        "the rich call": [encoding.ids for encoding in tok(texts)[:]],
    }
    for way, ours in ways.items():
        with Tally(f"tiktoken, {pair.name}, {way}") as tally:
            tally.add(texts, ours, theirs)
    assert tok.count_batch(texts) == [len(ids) for ids in theirs]
    for threads in (1, 2):
        with Tally(f"tiktoken, {pair.name}, all as one text, threads={threads}") as tally:
            tally.add([joined], tok.encode_batch([joined], threads=threads), [whole])
    with Tally(f"tiktoken, {pair.name}, all as one text, in {len(chunks):,} chunks") as tally:
        tally.add([joined], [list(chain.from_iterable(tok.encode_stream(chunks)))], [whole])


def test_files(pair: Pair, shared_data: Find, corpus: Corpus, tmp_path: Path, full: bool) -> None:
    """Their documents, all of one as a text in blocks, and the command line on it."""
    tok, path = pair.ours, tmp_path / "texts.txt"
    texts = [text for name in CORPORA for text in first_megabytes(corpus(name), 8 if full else 0.2)]
    texts = [text for text in texts + soups(100_000 if full else 2_000) if text]
    whole = pair.theirs.encode_ordinary("\n".join(texts))
    end = b"\xff"  # in no text
    path.write_bytes(end.join(text.encode() for text in texts))
    with Tally(f"tiktoken, {pair.name}, the documents of a file") as tally:
        ours = list(tok.encode_iter(digram.files(path, separator=end)))
        tally.add(texts, ours, pair.theirs.encode_ordinary_batch(texts, num_threads=2))
    path.write_bytes("\n".join(texts).encode())
    ways: dict[str, list[int]] = {}
    with path.open("rb") as file:
        blocks = iter(partial(file.read, 65_536), b"")
        ways["in blocks"] = list(chain.from_iterable(tok.encode_stream(blocks)))
    vocabulary = shared_data(f"vocabs/{pair.name}.tiktoken")
    command = ["encode", "-t", str(vocabulary), "--encoding", pair.name, "--raw", "u32", str(path)]
    result = CliRunner().invoke(cli, command, catch_exceptions=False)
    ways["by the command line"] = np.frombuffer(result.stdout_bytes, "<u4").tolist()
    for way, ids in ways.items():
        with Tally(f"tiktoken, {pair.name}, a file {way}") as tally:
            tally.add(["\n".join(texts)], [ids], [whole])


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


LONG_PIECES = [
    "\0",
    "é",
    "ß",
    "日",
    "本語",
    "。",
    "ก",
    "ำ",
    "🙂",
    "👩\u200d👩\u200d👧",
    "e\u0301",
    "Ж",
    "\ud7ff",
]


@pytest.mark.parametrize("seed", range(12))
def test_long_pretokens(pair: Pair, seed: int) -> None:
    """Of one thing, and of several, longer than the parts in which a pretoken is looked up."""
    random = np.random.default_rng(seed)
    texts = []
    for size in (1, 1, 2, 3, 6):
        pieces = random.choice(LONG_PIECES, size, replace=False)
        texts.append("".join(random.choice(pieces, int(random.integers(9_000, 40_000)))))
    with Tally(f"tiktoken, {pair.name}, long pretokens", "pretokens") as tally:
        pair.compare(tally, texts, decode=True)
    for text in texts:
        assert pair.ours.encode(text) == pair.ours.encode_batch([text])[0]
        assert pair.ours.count(text) == len(pair.ours.encode(text))
