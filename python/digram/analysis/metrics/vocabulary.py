"""Facts about each token of a vocabulary, computed once for all texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from digram import _core
from digram.vocab.special_tokens import SpecialToken

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from digram.tokenizer.tokenizer import Tokenizer

    Ints: TypeAlias = NDArray[np.int64]

__all__ = ["SPACES", "Vocabulary", "vocabulary"]

# Unicode's White_Space, which `\s` matches in the core's patterns. Python's own `\s` matches four
# more control characters (U+001C to U+001F).
SPACES = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
_SPACE = re.compile(f"[{SPACES}]")
_BLANK = re.compile(f"[{SPACES}]+")
_ASCII_SPACES = b"\t\n\x0b\x0c\r "


class Vocabulary(NamedTuple):
    """Facts by id, and the words that are tokens."""

    size: int
    """The number of tokens that text can become: all but special ones; the unknown token counts."""
    is_blank: NDArray[np.bool_]
    """Whether the token is white space and nothing else."""
    characters: NDArray[np.uint64]
    """The number of complete characters in the token; parts of one at its ends do not count."""
    words: _core.WordSet
    """The words that are one token, by themselves or with a space before them."""


def vocabulary(tok: Tokenizer, threads: int | None = None) -> Vocabulary:
    r"""Examine each token once.

    >>> import digram
    >>> tok = digram.train("low low é é", vocab_size=260, pretokenizer="gpt2")
    >>> found = vocabulary(tok)
    >>> found.size, int(found.is_blank.sum()), found.characters[[65, 0xC3, 256]].tolist()
    (260, 6, [1, 0, 1])
    >>> found.words.count(["low é", "lower"])
    (3, 2)

    Special tokens have no characters, since no text becomes them. Takes some 1 µs per token.
    """
    import numpy as np

    special = [*tok.special_tokens.values()]
    tokens: list[bytes] = [token or b"" for token in tok._model.tokens()]
    tokens += [b""] * (tok.vocab_size - len(tokens))
    for id in special:
        tokens[id] = b""
    length = np.array([*map(len, tokens)], np.int64)
    # Most tokens are ASCII, and counting their bytes is enough. One more byte at the end makes
    # each token, even an empty one, start at a byte.
    data = np.frombuffer(b"".join([*tokens, b"."]), np.uint8)
    start = np.cumsum(length) - length
    spaces = _per_token(np.isin(data, [*_ASCII_SPACES]), start, length)
    is_ascii = _per_token(data >= 0x80, start, length) == 0
    characters = length.copy()
    is_blank = (length > 0) & (spaces == length)
    is_word = ~is_blank & (spaces == (data[start] == ord(" ")))
    for id in np.flatnonzero(~is_ascii).tolist():
        token = tokens[id]
        text = token.decode("utf-8", "ignore")
        characters[id] = len(text)
        whole = len(text.encode()) == len(token)
        is_blank[id] = whole and _BLANK.fullmatch(text) is not None
        # In a vocabulary of characters, incomplete characters stand for unknown ones: not words.
        is_word[id] = not _SPACE.search(text.removeprefix(" ")) and (whole or tok.unit == "byte")
    is_word &= (length > 0) & ~is_blank
    if tok.unit == "char" and tok.on_unknown == "error":
        is_word[tok.unreachable()] = False  # they may hold a character without a token
    # The pretokenizer may split a token, such as " 12" if digits are separate pretokens.
    ids = np.flatnonzero(is_word)
    words = [tokens[id] for id in ids.tolist()]
    found, ends = tok._encode_batch_numpy(words, None, threads)
    is_one = np.diff(ends) == 1
    is_one[is_one] = found[ends[:-1][is_one]] == ids[is_one]
    kept = [words[index].removeprefix(b" ") for index in np.flatnonzero(is_one).tolist()]
    size = len(tok) - len(special) + isinstance(tok.on_unknown, SpecialToken)
    return Vocabulary(size, is_blank, characters.astype(np.uint64), _core.WordSet(kept))


def _per_token(of_bytes: NDArray[np.bool_], start: Ints, length: Ints) -> Ints:
    """How many bytes of each token are marked."""
    import numpy as np

    sums: Ints = np.concatenate([[0], np.cumsum(of_bytes, dtype=np.int64)])
    found: Ints = sums[start + length] - sums[start]
    return found
