"""Counting the tokens of texts, and truncating or splitting texts by their number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, overload

from digram._core import Core
from digram._util.validation import check_threads, choice, several_texts, whole_number
from digram.errors import OptionError
from digram.vocab.special_tokens import OnSpecial, TextOrParts, rule_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Chunk", "CountingCore"]

Piece = TypeVar("Piece", str, bytes)


@dataclass(frozen=True, slots=True)
class Chunk(Generic[Piece]):
    """A piece of a text, `text[start:end]`, and the number of its ids.

    `start` and `end` count characters, or bytes if the text is `bytes`.
    """

    text: Piece
    start: int
    end: int
    count: int


class CountingCore(Core):
    """The methods of `digram.Tokenizer` for counting tokens, truncating and splitting texts."""

    __slots__ = ()

    @overload
    def count_batch(
        self,
        texts: Iterable[TextOrParts],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["list"] = "list",
    ) -> list[int]: ...
    @overload
    def count_batch(
        self,
        texts: Iterable[TextOrParts],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["numpy"],
    ) -> NDArray[np.uint64]: ...
    def count_batch(
        self,
        texts: Iterable[TextOrParts],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["list", "numpy"] = "list",
    ) -> list[int] | NDArray[np.uint64]:
        """Count the ids of several texts; returns the result of `count` for each, in order.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer=None)
        >>> tok.count_batch(["lower", "", "so low"])
        [3, 0, 4]

        Runs without the GIL on `threads` threads (all cores by default), and stores no ids.
        `out="numpy"` returns a uint64 array. Raises the errors of `encode_batch`.
        """
        batch, rule = several_texts(texts, "count"), rule_of(special)
        threads = check_threads(threads)
        choice("out", out, "list", "numpy")
        if out == "list":
            return self._count_batch(batch, rule, threads)
        return self._count_batch_numpy(batch, rule, threads)

    def fits(self, text: str | bytes, max_length: int, *, special: OnSpecial = "text") -> bool:
        """Whether `text` has at most `max_length` ids; faster than `count(text) <= max_length`.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer=None)
        >>> tok.fits("so low", 4), tok.fits("so low", 3)
        (True, False)
        >>> tok.fits("so low " * 1_000_000, 100)
        False

        Stops as soon as the answer is known. A text of more than `max_length` times the bytes of
        the longest token cannot fit, and is not read. Of other texts, only the first part is
        encoded: `max_length` ids, up to the next place at which the text is certainly split. An
        error that `count` would raise after that place is not raised. Raises `OptionError` if
        `max_length` is negative.
        """
        return self._fits(text, whole_number("max_length", max_length, 0), rule_of(special))

    @overload
    def truncate(
        self,
        text: str,
        max_length: int,
        *,
        side: Literal["left", "right"] = ...,
        special: OnSpecial = ...,
    ) -> str: ...
    @overload
    def truncate(
        self,
        text: bytes,
        max_length: int,
        *,
        side: Literal["left", "right"] = ...,
        special: OnSpecial = ...,
    ) -> bytes: ...
    def truncate(
        self,
        text: str | bytes,
        max_length: int,
        *,
        side: Literal["left", "right"] = "right",
        special: OnSpecial = "text",
    ) -> str | bytes:
        """Truncate `text` to its first `max_length` tokens, or the last ones with `side="left"`.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer=None)
        >>> tok.tokens(tok.encode("so low"))
        [b's', b'o', b' ', b'low']
        >>> tok.truncate("so low", 3), tok.truncate("so low", 3, side="left")
        ('so ', 'o low')

        A text of at most `max_length` ids is returned unchanged. The result has the type of `text`.
        The text is divided between tokens, and never inside a character. The ids of the result
        need not be a slice of those of `text`: if it has more than `max_length` ids, 1, 3, 7, …
        fewer tokens are kept, until it fits. So `count` of the result, with the same `special`, is
        at most `max_length`.

        With `side="right"`, only the first `max_length` ids of the text are encoded, up to the next
        place at which the text is certainly split; an error after that place is not raised. The
        time is nearly linear in the encoded text. Raises `OptionError` if `max_length` is negative.
        """
        max_length = whole_number("max_length", max_length, 0)
        choice("side", side, "left", "right")
        return self._truncate(text, max_length, side == "left", rule_of(special))

    @overload
    def chunks(self, text: str, max_length: int, *, overlap: int = 0) -> list[Chunk[str]]: ...
    @overload
    def chunks(self, text: bytes, max_length: int, *, overlap: int = 0) -> list[Chunk[bytes]]: ...
    def chunks(
        self, text: str | bytes, max_length: int, *, overlap: int = 0
    ) -> list[Chunk[str]] | list[Chunk[bytes]]:
        """Split `text` into chunks of at most `max_length` ids, which together cover the text.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
        >>> [chunk.text for chunk in tok.chunks("low lower low", 4)]
        ['low lowe', 'r low']
        >>> tok.chunks("low lower low", 4, overlap=2)[1]
        Chunk(text='lower ', start=4, end=10, count=4)

        A chunk has the next `max_length` tokens of `text`, so it ends at the end of a token, and
        never inside a character. If these tokens, encoded as a separate text, have more than
        `max_length` ids, the chunk has 1, 3, 7, … fewer tokens; a single token with more ids is
        divided between its characters. A chunk starts with the last `overlap` tokens of the
        previous chunk, or fewer by the same rule, so neighbours share at most `overlap` ids. It
        starts at the end of the previous chunk if it would otherwise not extend beyond that chunk,
        or would start at the same place. An empty text has no chunks. Special tokens in the text
        are encoded as text.

        The time is nearly linear in the text. Raises `LimitExceededError` if a character has more
        than `max_length` ids, `OptionError` unless 0 <= `overlap` < `max_length`.
        """
        max_length = whole_number("max_length", max_length, 1)
        overlap = whole_number("overlap", overlap, 0)
        if overlap >= max_length:
            raise OptionError(
                f"overlap={overlap} is not below max_length={max_length}.",
                value=overlap,
                hint="Pass a smaller overlap, or a larger max_length.",
            )
        return [Chunk(*chunk) for chunk in self._chunks(text, max_length, overlap)]
