"""How many tokens a text has, and how much text so many tokens are: a part of the tokenizer."""

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
    """A piece of a text, `text[start:end]`, and the number of ids of its own.

    `start` and `end` count characters, or bytes where the text is bytes.
    """

    text: Piece
    start: int
    end: int
    count: int


class CountingCore(Core):
    """The part of `digram.Tokenizer` that counts, and cuts by counts."""

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
        """How many ids each of several texts has: what `count` gives for each.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer=None)
        >>> tok.count_batch(["lower", "", "so low"])
        [3, 0, 4]

        Runs without the GIL on `threads` threads (all cores by default), and stores no ids.
        `out="numpy"` gives a uint64 array. Raises what `encode_batch` raises.
        """
        batch, rule = several_texts(texts, "count"), rule_of(special)
        threads = check_threads(threads)
        choice("out", out, "list", "numpy")
        if out == "list":
            return self._count_batch(batch, rule, threads)
        return self._count_batch_numpy(batch, rule, threads)

    def fits(self, text: str | bytes, n: int, *, special: OnSpecial = "text") -> bool:
        """Whether `text` has at most `n` ids: `count(text) <= n`, without counting all of them.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer=None)
        >>> tok.fits("so low", 4), tok.fits("so low", 3)
        (True, False)
        >>> tok.fits("so low " * 1_000_000, 100)
        False

        Stops as soon as it is known. A text of more than `n` times the bytes of the longest token
        cannot fit and is not looked at; of another, no more is than has `n` ids, and what stands
        with them up to the next place where every text is cut. An error that `count` would meet
        after that is not met. Raises `OptionError` if `n` is negative.
        """
        return self._fits(text, whole_number("n", n, 0), rule_of(special))

    @overload
    def truncate(
        self, text: str, n: int, *, side: Literal["left", "right"] = ..., special: OnSpecial = ...
    ) -> str: ...
    @overload
    def truncate(
        self, text: bytes, n: int, *, side: Literal["left", "right"] = ..., special: OnSpecial = ...
    ) -> bytes: ...
    def truncate(
        self,
        text: str | bytes,
        n: int,
        *,
        side: Literal["left", "right"] = "right",
        special: OnSpecial = "text",
    ) -> str | bytes:
        """Cut `text` to its first `n` tokens, or to its last `n` with `side="left"`.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer=None)
        >>> tok.tokens(tok.encode("so low"))
        [b's', b'o', b' ', b'low']
        >>> tok.truncate("so low", 3), tok.truncate("so low", 3, side="left")
        ('so ', 'o low')

        A text of at most `n` ids is returned as it is. `bytes` give `bytes`. The cut is where a
        token of `text` ends, and never inside a character. What is returned is a text of its own,
        whose ids need not be a slice of those of `text`: where they would be more than `n`, 1, 3,
        7, … tokens fewer are kept, until they are not. So `count` of it, with the same `special`,
        is at most `n`.

        From the right, no more of the text is looked at than has `n` ids, and what stands with them
        up to the next place where every text is cut; an error after that is not met. Takes time
        near-linear in what is looked at. Raises `OptionError` if `n` is negative.
        """
        n = whole_number("n", n, 0)
        choice("side", side, "left", "right")
        return self._truncate(text, n, side == "left", rule_of(special))

    @overload
    def chunks(self, text: str, size: int, *, overlap: int = 0) -> list[Chunk[str]]: ...
    @overload
    def chunks(self, text: bytes, size: int, *, overlap: int = 0) -> list[Chunk[bytes]]: ...
    def chunks(
        self, text: str | bytes, size: int, *, overlap: int = 0
    ) -> list[Chunk[str]] | list[Chunk[bytes]]:
        """`text` in chunks of at most `size` ids of their own, which together cover it.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
        >>> [chunk.text for chunk in tok.chunks("low lower low", 4)]
        ['low lowe', 'r low']
        >>> tok.chunks("low lower low", 4, overlap=2)[1]
        Chunk(text='lower ', start=4, end=10, count=4)

        A chunk is the next `size` tokens of `text`, so it ends where a token does, and never inside
        a character; where these have more than `size` ids as a text of their own, 1, 3, 7, … tokens
        fewer. A token that alone has more is cut between its characters. A chunk begins with the
        last `overlap` tokens of the chunk before, or fewer in the same way, so neighbours share at
        most `overlap` ids; where it would not go on beyond the chunk before, or would begin where
        that does, it begins at its end. An empty text has no chunks. Special tokens in the text
        stay text.

        The time is near-linear in the text. Raises `LimitExceededError` where one character has
        more than `size` ids, `OptionError` unless 0 <= `overlap` < `size`.
        """
        size, overlap = whole_number("size", size, 1), whole_number("overlap", overlap, 0)
        if overlap >= size:
            raise OptionError(
                f"overlap={overlap} is not below size={size}.",
                value=overlap,
                hint="A chunk must go on beyond what it shares with the one before.",
            )
        return [Chunk(*chunk) for chunk in self._chunks(text, size, overlap)]
