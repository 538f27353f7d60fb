"""Counting the tokens of texts, and truncating or splitting texts by their number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, overload

from digram._core import Core
from digram._util.validation import check_threads, choice, several_texts, whole_number
from digram.errors import OptionError
from digram.vocab.special_tokens import OnSpecial, TextOrParts, rule_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from digram.tokenizer.chunk import Chunk

__all__ = ["CountingCore"]


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
        """Count the tokens of several texts: the result of `count` for each, in order.

        `count` itself takes a list as the parts of one text, and gives one number.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer=None)
        >>> tok.count_batch(["lower", "", "so low"])
        [3, 0, 4]

        `texts` and `special` have the same meaning as in `encode_batch`, whose errors it raises.
        Returns a list, or a uint64 array with `out="numpy"`. Runs without the GIL on `threads`
        threads (all cores by default), and stores no ids. The time is linear in the texts.
        """
        batch, rule = several_texts(texts, "count"), rule_of(special)
        threads = check_threads(threads)
        choice("out", out, "list", "numpy")
        if out == "list":
            return self._count_batch(batch, rule, threads)
        return self._count_batch_numpy(batch, rule, threads)

    def fits(self, text: str | bytes, max_length: int, *, special: OnSpecial = "text") -> bool:
        """Return whether `text` has at most `max_length` tokens.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer=None)
        >>> tok.fits("so low", 4), tok.fits("so low", 3)
        (True, False)
        >>> tok.fits("so low " * 1_000_000, 100)
        False

        Faster than `count(text) <= max_length`, since it stops as soon as the answer is known. The
        time is linear in `max_length`, however long the text is: a beginning of the text is read,
        and a longer one if it has too few tokens. The whole text is read if no beginning ends at a
        place at which all texts with the same two characters can be divided: patterns that look
        behind have no such places, and neither has a long word. An error that `count` would raise
        for the rest of the text is not raised. Raises the other errors of `count`, and
        `OptionError` if `max_length` is negative.
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

        A text of at most `max_length` tokens is returned unchanged. The result has the type of
        `text`, which is cut between tokens and never inside a character. The tokens of the result
        can differ from those of `text` at the cut, and be more; then 1, 3, 7, … fewer tokens are
        kept, until the result fits. So `count` of the result, with the same `special`, is always at
        most `max_length`.

        With `side="right"`, only a beginning of the text is read, as by `fits`: the time is nearly
        linear in `max_length`, however long the text is, unless there is no place at which it can
        be divided. Errors in the rest are not raised. With `side="left"`, the time is nearly linear
        in the text. Raises the other errors of `count`, and `OptionError` if `max_length` is
        negative.
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
        """Split `text` into chunks of at most `max_length` tokens, which together cover the text.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
        >>> [chunk.text for chunk in tok.chunks("low lower low", 4)]
        ['low lowe', 'r low']
        >>> tok.chunks("low lower low", 4, overlap=2)[1]
        Chunk(text='lower ', start=4, end=10, count=4)

        A chunk is the next `max_length` tokens of `text`. It ends at the end of a token, and never
        inside a character. If it has more than `max_length` tokens when it is encoded on its own,
        it is shortened by 1, 3, 7, … tokens; if a single token has more, that is cut between its
        characters.

        A chunk starts with the last `overlap` tokens of the previous one, or fewer by the same
        rule, so that neighbours share at most `overlap` tokens. It starts at the end of the
        previous chunk if it would otherwise not extend beyond that chunk, or would start at the
        same place.

        Special tokens in the text are encoded as text. An empty text has no chunks. The time is
        nearly linear in the text. Raises `LimitExceededError` if a character has more than
        `max_length` tokens; `OptionError` unless 0 <= `overlap` < `max_length`; and the errors of
        `count`.
        """
        max_length = whole_number("max_length", max_length, 1)
        overlap = whole_number("overlap", overlap, 0)
        if overlap >= max_length:
            raise OptionError(
                f"overlap={overlap} is not below max_length={max_length}.",
                value=overlap,
                hint="Pass a smaller overlap, or a larger max_length.",
            )
        from digram.tokenizer.chunk import Chunk

        return [Chunk(*chunk) for chunk in self._chunks(text, max_length, overlap)]
