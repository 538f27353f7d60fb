"""The counts of a corpus, taken in one pass: tokens, text of special tokens, changed texts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from digram.analysis.audit.special import pattern
from digram.corpus import Corpus
from digram.display.terminal import visible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Read", "read", "round_trip"]

_SHOWN = 10  # examples of changed texts
_WIDTH = 60  # characters of each


@dataclass(eq=False)
class Read:
    """Sums over a corpus."""

    times: NDArray[np.int64]
    """The count of each id."""
    special: dict[str, int] = field(default_factory=dict)
    """The count of the text of each special token that occurs."""
    documents: int = 0
    bytes: int = 0
    changed: int = 0
    """The number of texts that decoding does not give back."""
    examples: list[str] = field(default_factory=list)
    """Some of these, safe to print."""
    skipped: int = 0
    """Records skipped under `on_error="skip"`."""

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return int(self.times.sum())


def read(
    tok: Tokenizer,
    corpus: Corpus,
    *,
    threads: int | None = None,
    advance: Callable[[int], object] = lambda _: None,
) -> Read:
    """Encode a corpus, decode it again, and count.

    >>> import digram
    >>> tok = digram.train("low low", max_merges=2, special_tokens=["<|end|>"])
    >>> counts = read(tok, Corpus.of(["low <|end|>", "é"]))
    >>> counts.documents, counts.bytes, counts.tokens, counts.special, counts.changed
    (2, 13, 11, {'<|end|>': 1}, 0)

    `advance` is called with the number of bytes read. Memory: a batch of texts or the longest one,
    and its ids.
    """
    import numpy as np

    counts = Read(np.zeros(tok.vocab_size, np.int64))
    special = pattern(tok)
    bytes_done = 0
    reading = corpus.batches()
    with contextlib.closing(reading):
        for batch in reading:
            try:
                ids, offsets = tok._encode_batch_numpy(batch, None, threads)
            except Exception as error:
                error.add_note(f"in the batch that starts with text {counts.documents}")
                raise
            data = [text.encode() if isinstance(text, str) else bytes(text) for text in batch]
            counts.times += np.bincount(ids, minlength=tok.vocab_size)
            if tok.decoding is not None or tok.decode_bytes(ids) != b"".join(data):
                for text, (start, stop) in zip(data, pairwise(offsets.tolist()), strict=True):
                    _compare(counts, text, tok.decode_bytes(ids[start:stop]))
            if special is not None:
                matches = (match for text in data for match in special.finditer(text))
                for match in matches:
                    name = match[0].decode()
                    counts.special[name] = counts.special.get(name, 0) + 1
            size = sum(map(len, data))
            counts.documents += len(data)
            counts.bytes += size
            advance(reading.done - bytes_done if reading.done else size)
            bytes_done = reading.done
    counts.skipped = reading.skipped
    return counts


def _compare(counts: Read, text: bytes, decoded: bytes) -> None:
    if text == decoded:
        return
    counts.changed += 1
    if len(counts.examples) < _SHOWN:
        index = next(
            (
                position
                for position, (expected, actual) in enumerate(zip(text, decoded, strict=False))
                if expected != actual
            ),
            0,
        )
        excerpt = visible(text[max(0, index - 8) : index + _WIDTH])[:_WIDTH]
        counts.examples.append(excerpt)


def round_trip(tok: Tokenizer) -> tuple[int, list[str]]:
    """The number of difficult test texts, and the names of those that a round trip changes.

    >>> import digram
    >>> round_trip(digram.train("a", max_merges=0))[1]
    []
    >>> tok = digram.train("ab", unit="char", max_merges=0, on_unknown=digram.SpecialToken("<unk>"))
    >>> round_trip(tok)[1][:2]
    ['control characters', 'line ends']
    """
    from digram.errors import InvalidTextError

    texts: dict[str, str | bytes] = {
        **_HOSTILE,
        "texts of special tokens": " ".join(tok.special_tokens),
    }
    if tok.unit == "byte":
        texts |= _NO_TEXT
    failed = []
    for name, text in texts.items():
        data = text.encode() if isinstance(text, str) else text
        try:
            decoded = tok.decode_bytes(tok.encode(data))
        except InvalidTextError:  # a character without a token
            decoded = None
        if decoded != data:
            failed.append(name)
    return len(texts), failed


def _all_characters(step: int) -> str:
    return "".join(chr(n) for n in range(0, 0x110000, step) if not 0xD800 <= n < 0xE000)


_HOSTILE: dict[str, str] = {
    "nothing": "",
    "control characters": "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)])),
    "line ends": "a\r\nb\rc\n\nd\n \n\x0b\x0c\x85\u2028\u2029",
    "white space": "a  b\t\tc   \u00a0\u2003\u3000\u200b ",
    "white space alone": " \n\t" * 50,
    "a byte order mark": "\ufeffa\ufeff",
    "marks without a letter": "\u0301\u0301a\u0301\u0327\u20e3",
    "normal forms": "\u00e9e\u0301\ufb01\u212b\uac00\u1100\u1161",
    "text from the right": "\u202eabc\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628",
    "joined emoji": "\U0001f469\u200d\U0001f467\U0001f1e9\U0001f1ea\U0001f44d\U0001f3fd",
    "the replacement character": "\ufffd\ufffd",
    "private use and noncharacters": "\ue000\uf8ff\ufdd0\uffff\U0010ffff",
    "digits": "0123456789" * 5 + "\u0663\u0967\uff11\u00bd\u2167",
    "one letter": "a" * 2000,
    "quotes and backslashes": "\"'\\`\u2019\\u0041\\x41%41&amp;",
    "characters of all of Unicode": _all_characters(61),
}
_NO_TEXT: dict[str, bytes] = {
    "all bytes": bytes(range(256)),
    "bytes that are no UTF-8": b"\xff\xfea\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\xe4\xb8",
}
