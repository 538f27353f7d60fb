"""Training on sequences of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import TYPE_CHECKING

from digram._util.validation import iterable, whole_number
from digram.errors import OptionError
from digram.multimodal.sequences.alphabet import Alphabet, as_arrays
from digram.multimodal.sequences.tokenizer import SequenceTokenizer
from digram.training.counts import Counts
from digram.training.options import Ties
from digram.training.train import train

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from digram.multimodal.sequences.alphabet import Numbers
    from digram.tokenizer.merge import Merge

__all__ = ["train_ids"]


def train_ids(
    sequences: Iterable[Numbers],
    *,
    vocab_size: int | None = None,
    max_merges: int | None = None,
    min_frequency: int | None = None,
    symbols: int | Numbers | None = None,
    weights: Iterable[int] | None = None,
    ties: Ties = "ids",
    special_tokens: Iterable[str] = (),
    threads: int | None = None,
    memory_limit: int | str | None = None,
    runners_up: int = 0,
    on_merge: Callable[[Merge], object] | None = None,
    progress: bool | None = None,
) -> SequenceTokenizer:
    """Train byte-pair encoding on sequences of numbers: merge the most frequent pair, repeatedly.

    >>> import digram, numpy as np
    >>> rows = np.array([[0, 1, 2, 0, 1], [2, 0, 1, 2, 2]])  # a sequence each
    >>> tok = digram.train_ids(rows, vocab_size=5, symbols=3)
    >>> tok.merges
    [(0, 1, 3), (2, 3, 4)]
    >>> tok.encode_ids([2, 0, 1, 1])
    [4, 1]

        sequences: lists or arrays of unsigned 32-bit integers, or the rows of an array: codes of
            an image or of audio, quantized actions, bases of DNA. No pair crosses from one sequence
            to the next, and none is split inside: a sequence may have millions of symbols.
        symbols: the number of symbols, counted from 0, or a list of them. By default those that
            occur; other numbers then cannot be encoded.
        weights: the weight of each sequence in the counts; 1 by default.
        special_tokens: ids after the merges that have no symbol: begin, end, padding. They must not
            consist only of characters of symbols (see `Alphabet`).

    The other arguments are those of `digram.train`, and so is the algorithm: the merges are those
    of text whose characters are the symbols. Raises `OptionError` for options that contradict each
    other, and `InvalidTextError` for a number that is not a symbol. Memory: some 20 bytes per
    symbol of the distinct sequences; nothing grows with the square of the vocabulary. A
    `memory_limit` must allow for the longest sequence, which is one pretoken: about 20 MiB, and 16
    bytes per byte of UTF-8 (2 to 4 per symbol). Otherwise an `OptionError` is raised; raise the
    limit, or split the sequence. Without `symbols`, all sequences are held in memory in addition.
    """
    read = as_arrays(sequences)
    if symbols is None:
        all_sequences = [*read]
        alphabet, read = _of_all(all_sequences), iter(all_sequences)
    else:
        alphabet = Alphabet.of(symbols)
    texts = (alphabet.text(one, f"sequences[{number}]") for number, one in enumerate(read))
    source: Iterable[str] | Counts = texts
    if weights is not None:
        source = _weighted(texts, weights)
    if not isinstance(special_tokens, str):  # `train` refuses a str
        special_tokens = [*special_tokens]
        _refuse_spelled(special_tokens, alphabet)
    tok = train(
        source,
        vocab_size=vocab_size,
        max_merges=max_merges,
        min_frequency=min_frequency,
        unit="char",
        alphabet=alphabet.characters(),
        pretokenizer=None,
        ties=ties,
        special_tokens=special_tokens,
        threads=threads,
        memory_limit=memory_limit,
        runners_up=runners_up,
        on_merge=on_merge,
        progress=progress,
    )
    return SequenceTokenizer(tok, alphabet)


def _of_all(sequences: list[NDArray[np.uint32]]) -> Alphabet:
    """The alphabet of the numbers that occur."""
    import numpy as np

    found = [np.unique(one) for one in sequences]
    if not any(map(len, found)):
        raise OptionError(
            "the sequences are empty, so the symbols are unknown.",
            hint="Pass them as symbols=.",
        )
    return Alphabet.of(np.concatenate(found))


def _refuse_spelled(special_tokens: Iterable[str], alphabet: Alphabet) -> None:
    """Raise an error for special tokens that are the text of symbols."""
    characters: set[str] = set()
    for index, token in enumerate(special_tokens):
        characters = characters or {*alphabet.characters()}
        if isinstance(token, str) and token and characters.issuperset(token):
            raise OptionError(
                f"special_tokens[{index}] = {token!r} is also how the symbols "
                f"{alphabet.sequence(token).tolist()} are spelled.",
                index=index,
                value=token,
                hint='Choose a name such as "<end>".',
            )


def _weighted(texts: Iterable[str], weights: Iterable[int]) -> Counts:
    """The count of each sequence."""
    times: dict[str, int] = {}
    weights = iterable("weights", weights, "numbers")
    for number, (text, weight) in enumerate(zip_longest(texts, weights)):
        if text is None or weight is None:
            short = "sequences" if text is None else "weights"
            raise OptionError(
                f"there are only {number} {short}.", hint="Give a weight for each sequence."
            )
        count = whole_number(f"weights[{number}]", weight, 0)
        if text and count:
            times[text] = times.get(text, 0) + count
    return Counts(times, pretokenizer=None, unit="char")
