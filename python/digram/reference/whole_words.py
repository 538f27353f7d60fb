"""Models that look up words or tokens directly, as a readable specification.

WordLevel takes whole words, and a greedy model the longest token at each place.

>>> word_level(["a", "tree", "a"], {"a": 1, "the": 2}, 0)
[1, 0, 1]
>>> greedy(b"abcd", {b"a": 0, b"b": 1, b"c": 2, b"d": 3, b"ab": 4, b"bcd": 5})
[4, 2, 3]
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence


def word_level(words: Iterable[str], ids: Mapping[str, int], unknown: int) -> list[int]:
    """The id of each word; `unknown` for one that is no token.

    >>> word_level([], {"a": 1}, 0)
    []
    """
    return [ids.get(word, unknown) for word in words]


def words_of(text: str, ids: Mapping[str, int], unknown: int) -> list[int]:
    """The ids of a text that is split before each space, as SentencePiece does for models of words.

    Consecutive words that are no tokens are one unknown token.

    >>> words_of(" a b  c a", {" a": 1}, 0)
    [1, 0, 1]
    """
    starts = [at for at, character in enumerate(text) if at == 0 or character == " "]
    ends = [*starts[1:], len(text)]
    found: list[int] = []
    is_after_unknown = False
    for start, end in zip(starts, ends, strict=False):
        is_known = text[start:end] in ids
        if is_known or not is_after_unknown:
            found.append(ids.get(text[start:end], unknown))
        is_after_unknown = not is_known
    return found


def greedy(text: bytes, ids: Mapping[bytes, int]) -> list[int]:
    """The longest token at each place; each byte must be a token.

    >>> greedy(b"aab", {b"a": 0, b"b": 1, b"aa": 2, b"ab": 3})
    [2, 1]
    """
    found: list[int] = []
    longest = max(map(len, ids))
    at = 0
    while at < len(text):
        lengths = range(min(longest, len(text) - at), 0, -1)
        length = next(length for length in lengths if text[at : at + length] in ids)
        found.append(ids[text[at : at + length]])
        at += length
    return found


def train_word_level(
    words: Sequence[str],
    vocab_size: int,
    *,
    min_frequency: int = 1,
    special_tokens: Sequence[str] = (),
) -> list[str]:
    """The tokens by id: the special ones, and the most frequent words.

    Of equally frequent words those with lower code points come first.

    >>> train_word_level(["b", "a", "c", "b"], 3, special_tokens=["<unk>"])
    ['<unk>', 'b', 'a']
    """
    counts = Counter(word for word in words if word not in special_tokens)
    frequent = [word for word, count in counts.items() if count >= min_frequency]
    ordered = sorted(frequent, key=lambda word: (-counts[word], word))
    return [*special_tokens, *ordered][:vocab_size]
