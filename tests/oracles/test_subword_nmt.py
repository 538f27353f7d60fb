"""The merges that subword-nmt learns, where they can be compared.

subword-nmt glues its mark `</w>` to the last character of each word, which makes another symbol of
it. Words that all end in one character that stands nowhere else are the same with and without the
mark: that character takes its place. It also splits at spaces only, and misreads words that hold
other white space, so each word comes with its count, and holds none.
"""

from __future__ import annotations

import io
import random
from collections import Counter
from collections.abc import Callable

import pytest
from oracles.tally import FIGURES, compare_merges
from oracles.texts import first_megabytes
from subword_nmt import learn_bpe

import digram

Corpus = Callable[[str], list[str]]
Pairs = list[tuple[str, str]]

END = "▁"


def theirs(words: Counter[str], merges: int, min_frequency: int) -> Pairs:
    """Its merges, without the mark."""
    table = io.StringIO("".join(f"{word}{END} {count}\n" for word, count in words.items()))
    out = io.StringIO()
    learn_bpe.learn_bpe(table, out, merges, min_frequency=min_frequency, is_dict=True)
    version, *lines = out.getvalue().splitlines()
    assert version == "#version: 0.2"
    pairs = [tuple(line.replace(END + "</w>", END).split(" ")) for line in lines]
    return [(left, right) for left, right in pairs]


def ours(words: Counter[str], merges: int, min_frequency: int) -> Pairs:
    """Our merges by its rule; among equal counts the greatest pair of strings."""
    tokenizer = digram.train(
        "".join(f"{word}{END}" * count for word, count in words.items()),
        unit="char",
        pretokenizer=digram.Regex(f"[^{END}]*{END}"),
        ties="lexicographic",
        max_merges=merges,
        min_frequency=min_frequency,
    )
    return [(left.decode(), right.decode()) for left, right in tokenizer.merges]


@pytest.mark.parametrize("name", ["en", "code", "multi"])
def test_merges(corpus: Corpus, full: bool, name: str) -> None:
    megabytes, merges = (2, 32_000) if full else (0.1, 1_000)
    text = " ".join(first_megabytes(corpus(name), megabytes)).replace(END, " ")
    words = Counter(word for word in text.split() if len(word) < 200)
    compare_merges(f"subword-nmt, {name}.txt", ours(words, merges, 2), theirs(words, merges, 2))


def test_small_corpora(full: bool) -> None:
    """Runs, ties without end, and a minimum frequency: random words over few letters."""
    source = random.Random(13)
    corpora, merges = (10_000 if full else 250), 0
    for _ in range(corpora):
        letters = "abcé"[: source.randrange(1, 5)]
        words = Counter(
            "".join(source.choices(letters, k=source.randrange(1, 12)))
            for _ in range(source.randrange(1, 20))
        )
        frequency = source.randrange(1, 4)
        found = theirs(words, 60, frequency)
        assert ours(words, 60, frequency) == found, words
        merges += len(found)
    FIGURES.append(f"subword-nmt, small corpora: {corpora:,} with {merges:,} merges, all equal")
