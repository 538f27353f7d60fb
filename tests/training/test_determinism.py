"""One corpus, one tokenizer: whatever the order of its documents and the number of threads.

Digests are of the saved file, so ids, counts of merges and the record of training are held equal
too. The smaller properties are in `properties/test_training.py`; here texts are large enough that
threads have something to share.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

import digram

SEPARATOR = "<|endoftext|>"
THREADS = (1, 2, 3, 7, 16)
Ties = Literal["ids", "first_seen", "lexicographic"]


@pytest.fixture
def digest(tmp_path: Path) -> Callable[..., str]:
    """Trains, saves, and gives the digest of the file."""

    def of(source: Any, **options: Any) -> str:
        path = tmp_path / "tokenizer.json"
        digram.train(source, **options).save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    return of


def shuffles(documents: Sequence[str]) -> list[list[str]]:
    """An order for each number of threads; the first is the one given."""
    orders = [random.Random(seed).sample(documents, len(documents)) for seed in range(1, 5)]
    return [list(documents), *orders]


def invented(megabytes: float) -> list[str]:
    """Documents of words that few or many texts share, in several scripts, and of long words."""
    rng = random.Random(20)
    letters = ["aeioustrnl", "αειουστρν", "あいうえお漢字", "0123456789", "ñéü 😀", "ab"]
    words = [
        "".join(rng.choices(rng.choice(letters), k=rng.choice((1, 2, 3, 5, 8, 13, 60))))
        for _ in range(6_000)
    ]
    documents, held = [], 0
    while held < megabytes * 1e6:
        places = (int(len(words) * rng.random() ** 3) for _ in range(rng.randrange(1, 2_000)))
        documents.append(rng.choice((" ", "\n", ", ", "")).join(words[place] for place in places))
        held += len(documents[-1].encode())
    return documents


@pytest.mark.parametrize("ties", ["ids", "lexicographic"])
@pytest.mark.parametrize("pretokenizer", ["gpt2", "cl100k", None])
def test_order_and_threads_leave_no_trace(
    digest: Callable[..., str], ties: Ties, pretokenizer: str | None
) -> None:
    documents = invented(1.0)
    options: dict[str, Any] = {"vocab_size": 2_000, "ties": ties, "pretokenizer": pretokenizer}
    found = {
        digest(order, threads=threads, **options)
        for order, threads in zip(shuffles(documents), THREADS, strict=True)
    }
    assert len(found) == 1
    assert found != {digest(documents[1:], **options)}, "the digest should tell corpora apart"


def test_threads_leave_no_trace_where_the_first_seen_wins(digest: Callable[..., str]) -> None:
    """The order of documents does, for it decides who is first."""
    documents = invented(1.0)
    options: dict[str, Any] = {"vocab_size": 2_000, "ties": "first_seen", "pretokenizer": "gpt2"}
    found = [
        {digest(order, threads=threads, **options) for threads in THREADS}
        for order in shuffles(documents)[:2]
    ]
    assert [len(each) for each in found] == [1, 1]
    assert found[0] != found[1], "the digest should see an order that counts"


@pytest.mark.parametrize("ties", ["ids", "lexicographic"])
def test_counts_of_shards_in_any_order(
    digest: Callable[..., str], tmp_path: Path, ties: Ties
) -> None:
    """Shards are counted each by itself, on any number of threads, saved, and added up."""
    documents = invented(1.0)
    paths = []
    for shard, threads in enumerate(THREADS):
        counts = digram.count_pretokens(documents[shard :: len(THREADS)], threads=threads)
        paths.append(tmp_path / f"{shard}.arrow")
        counts.save(paths[-1])
    options: dict[str, Any] = {"vocab_size": 2_000, "ties": ties}
    found = {digest(documents, **options)}
    for order in shuffles([str(path) for path in paths]):
        found.add(
            digest(digram.Counts.merge([digram.Counts.load(path) for path in order]), **options)
        )
    assert len(found) == 1


def test_characters_are_learned_the_same(digest: Callable[..., str]) -> None:
    found = {
        digest(order, threads=threads, vocab_size=2_000, unit="char", on_unknown="bytes")
        for order, threads in zip(shuffles(invented(0.5)), THREADS, strict=True)
    }
    assert len(found) == 1


@pytest.mark.parametrize("ties", ["ids", "lexicographic"])
@pytest.mark.parametrize("name", ["en", "code", "multi"])
def test_real_text(
    digest: Callable[..., str], shared_data: Callable[[str], Path], name: str, ties: Ties
) -> None:
    with shared_data(f"corpora/{name}.txt").open(encoding="utf-8", newline="") as file:
        documents = file.read(2_000_000).split(SEPARATOR)
    found = {
        digest(order, threads=threads, vocab_size=16_000, ties=ties)
        for order, threads in zip(shuffles(documents), THREADS, strict=True)
    }
    assert len(found) == 1


def test_texts_and_files_are_one_corpus(
    digest: Callable[..., str], shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    """Documents as texts, as one file, and as a file each, in any order of the files."""
    with shared_data("corpora/multi.txt").open(encoding="utf-8", newline="") as file:
        documents = file.read(500_000).split(SEPARATOR)
    paths = []
    for number, document in enumerate(documents):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text(document, encoding="utf-8", newline="")
    whole = tmp_path / "whole.txt"
    whole.write_text(SEPARATOR.join(documents), encoding="utf-8", newline="")
    options: dict[str, Any] = {"vocab_size": 4_000}
    assert (
        digest(documents, threads=3, **options)
        == digest(digram.files(whole, separator=SEPARATOR), threads=2, **options)
        == digest(random.Random(5).sample(paths, len(paths)), threads=7, **options)
    )
