"""The beginning of a text with its tokens."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from digram._util.validation import utf8_bytes
from digram.corpus import Corpus, CorpusLike, Table
from digram.errors import OptionError, placed

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Sample", "check_readable_again", "sample"]

_READ = 1 << 14  # bytes to read of a text


class Sample(NamedTuple):
    """The first tokens of the first non-empty text of a corpus."""

    tokens: list[bytes]
    ids: list[int]
    is_whole: bool
    """Whether these are all tokens of the text."""

    def to_dict(self) -> dict[str, Any]:
        """The text of the tokens, their ids and their bytes, ready for JSON."""
        return {
            "text": b"".join(self.tokens).decode("utf-8", "replace"),
            "ids": self.ids,
            "tokens": [token.hex() for token in self.tokens],
            "is_whole": self.is_whole,
        }


def sample(tok: Tokenizer, corpus: CorpusLike, most: int = 160) -> Sample:
    """The first tokens of a corpus, up to a maximum number.

    >>> import digram
    >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
    >>> sample(tok, ["", "low lower"], most=3)
    Sample(tokens=[b'low', b' ', b'low'], ids=[257, 32, 257], is_whole=False)
    """
    reading = Corpus.of(corpus).parts(lambda text, _: len(text))
    with contextlib.closing(reading):
        texts = (utf8_bytes(f"corpus[{number}]", text) for number, text in enumerate(reading))
        data = next(filter(None, texts), b"")
    start = data[: _without_part(data, _READ)]
    shown = tok.truncate(start, most)
    ids = tok.encode(shown)
    return Sample(tok.tokens(ids), ids, len(shown) == len(data))


def check_readable_again(name: str, corpus: CorpusLike) -> None:
    """Raise an error for a corpus that can be read only once: a report reads it several times."""
    held = corpus.data if isinstance(corpus, Table) else corpus
    if isinstance(held, Iterator):
        error = OptionError(
            "this is an iterator, which can be read only once, and a report reads its texts "
            "several times.",
            value=corpus,
            hint="Pass a list of texts, files, or a whole table.",
        )
        placed(error, name)
        raise error


def _without_part(data: bytes, end: int) -> int:
    """The end moved back to the start of a character that it would split."""
    while 0 < end < len(data) and 0x80 <= data[end] < 0xC0:
        end -= 1
    return end
