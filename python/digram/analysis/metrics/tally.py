"""The counts of a corpus, taken in one pass; all measures are computed from them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from digram.analysis.metrics.vocabulary import Vocabulary
from digram.corpus import Corpus

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Tally", "tally", "together"]


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Sums over a corpus.

    `times[id]` is the count of that token, `lengths[n]` the number of tokens of text n.
    """

    times: NDArray[np.uint64]
    lengths: NDArray[np.uint64]
    bytes: int
    characters: int
    whole_characters: int
    """Characters that are not split between tokens."""
    blank_tokens: int
    """Tokens that are white space and nothing else."""
    words: int
    """Words, which white space separates."""
    whole_words: int
    """Words that are one token."""
    skipped: int = 0
    """Records skipped under `on_error="skip"`."""


def tally(
    tok: Tokenizer,
    corpus: Corpus,
    facts: Vocabulary,
    *,
    threads: int | None = None,
    advance: Callable[[int], object] = lambda _: None,
) -> Tally:
    """Encode a corpus and count its tokens, words and characters.

    >>> import digram
    >>> from digram.analysis.metrics.vocabulary import vocabulary
    >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
    >>> found = tally(tok, Corpus.of(["low low", "é lo"]), vocabulary(tok))
    >>> found.lengths.tolist(), found.bytes, found.characters, found.whole_characters
    ([3, 4], 12, 11, 10)
    >>> found.words, found.whole_words, found.blank_tokens
    (4, 3, 2)

    `advance` is called with the number of bytes read. Memory: a batch of texts, and 8 bytes per
    text.
    """
    import numpy as np

    times = np.zeros(tok.vocab_size, np.uint64)
    lengths: list[NDArray[np.uint64]] = []
    size = characters = words = whole_words = first = done = 0
    reading = corpus.batches()
    with contextlib.closing(reading):
        for batch in reading:
            try:
                more, each = tok._histogram_batch(batch, None, threads)
            except Exception as error:
                error.add_note(f"in the batch that starts with text {first}")
                raise
            first += len(batch)
            times += more
            lengths.append(each)
            words_of_batch, whole_of_batch = facts.words.count(batch, threads)
            words, whole_words = words + words_of_batch, whole_words + whole_of_batch
            size_of_batch, characters_of_batch = _sizes(batch)
            size, characters = size + size_of_batch, characters + characters_of_batch
            advance(reading.done - done if reading.done else size_of_batch)
            done = reading.done
    return Tally(
        times,
        np.concatenate(lengths) if lengths else np.zeros(0, np.uint64),
        size,
        characters,
        int((times * facts.characters).sum()),
        int(times[facts.is_blank].sum()),
        words,
        whole_words,
        reading.skipped,
    )


def together(tallies: Sequence[Tally]) -> Tally:
    """The tally of several corpora as one."""
    import numpy as np

    return Tally(
        np.sum([one.times for one in tallies], axis=0, dtype=np.uint64),
        np.concatenate([one.lengths for one in tallies]),
        sum(one.bytes for one in tallies),
        sum(one.characters for one in tallies),
        sum(one.whole_characters for one in tallies),
        sum(one.blank_tokens for one in tallies),
        sum(one.words for one in tallies),
        sum(one.whole_words for one in tallies),
        sum(one.skipped for one in tallies),
    )


def _sizes(batch: list[Any]) -> tuple[int, int]:
    """Bytes and characters; invalid UTF-8 counts as the U+FFFD that would replace it."""
    size = characters = 0
    for text in batch:
        if isinstance(text, str):
            characters += len(text)
            size += len(text) if text.isascii() else len(text.encode())
        else:
            size += len(text)
            characters += len(text) if text.isascii() else len(text.decode("utf-8", "replace"))
    return size, characters
