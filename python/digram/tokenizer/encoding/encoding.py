"""`Encoding`: the tokens of one text, or of a text and its pair, with their properties."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from digram._util.validation import any_number
from digram.errors import OptionError, several, show
from digram.tokenizer.encoding.options import Options
from digram.tokenizer.encoding.template_ids import Part
from digram.tokenizer.encoding.truncation import Window, kept, windows

if TYPE_CHECKING:
    from digram._core import Core, Encoded

__all__ = ["Call", "Encoding"]

T = TypeVar("T")


class Call(NamedTuple):
    """The values that the encodings of one call share.

    `encoded` holds the texts, then their pairs; or all words of the texts, then those of the pairs,
    and `bounds` where each of them starts among all ids. `edges[n]` is where text n of these
    starts; `words[n]`, for split texts, which of the words is its first.
    """

    tok: Core
    encoded: Encoded
    texts: int
    bounds: Sequence[int]
    edges: Sequence[int]
    words: Sequence[int] | None
    parts: tuple[Part, ...]
    added: int
    room: int | None
    options: Options
    pad_id: int
    width: int

    def lengths(self, index: int) -> tuple[int, ...]:
        """The numbers of tokens of a text and, if it has one, of its pair."""
        edges, n = self.edges, self.texts
        one = edges[index + 1] - edges[index]
        if len(edges) <= n + 1:
            return (one,)
        return one, edges[n + index + 1] - edges[n + index]

    def first(self, index: int) -> tuple[Window, ...]:
        """The tokens of a text, and of its pair, that the encoding holds, among all ids."""
        lengths = self.lengths(index)
        if self.room is not None and sum(lengths) > self.room:
            lengths = kept(lengths, self.room, self.options)
        edges, n = self.edges, self.texts
        if self.options.truncation_side == "left":
            ends = edges[index + 1 :: n]
            return tuple([(end - size, end) for end, size in zip(ends, lengths, strict=False)])
        return tuple([(at, at + size) for at, size in zip(edges[index::n], lengths, strict=False)])

    def others(self, index: int) -> list[tuple[Window, ...]]:
        """The windows over what was cut off; of a pair, each with each."""
        lengths = self.lengths(index)
        if self.room is None or sum(lengths) <= self.room:
            return []
        sizes = kept(lengths, self.room, self.options)
        found = []
        for number, (length, size) in enumerate(zip(lengths, sizes, strict=True)):
            at = self.edges[index + number * self.texts]
            cut = windows(length, size, self.options.overlap, self.options.truncation_side)
            found.append([(at + start, at + stop) for start, stop in cut])
        # As in Hugging Face's library: those without the first window of the text come first.
        every = [*product(found[0][1:], *found[1:]), *product(found[0][:1], *found[1:])]
        return [pair for pair in every if pair != tuple(cut[0] for cut in found)]


class Encoding:
    r"""The tokens of a text with their properties; made by `tok(text)`.

    >>> import digram
    >>> tok = digram.train("low lower lowest", max_merges=3, pretokenizer="gpt2")
    >>> encoding = tok("low é")
    >>> encoding.ids == tok.encode("low é"), encoding.tokens
    (True, [b'low', b' ', b'\xc3', b'\xa9'])
    >>> encoding.offsets
    [(0, 3), (3, 4), (4, 5), (4, 5)]
    >>> encoding.word_ids
    [0, 1, 1, 1]

    An encoding is immutable. Every list has one entry for each token, and is built at each access;
    keep it in a variable where you loop over it. `len` is the number of
    tokens. Two encodings are equal if all their lists are.
    """

    # Not a frozen dataclass, which would take as long to make as a short text to encode. There is
    # nothing to set: what is public has no setter.
    __slots__ = ("_call", "_index", "_is_first", "_windows")

    def __init__(self, call: Call, index: int, windows: tuple[Window, ...], is_first: bool) -> None:
        self._call = call
        self._index = index
        self._windows = windows
        self._is_first = is_first

    def __len__(self) -> int:
        return max(sum(map(_size, self._windows)) + self._call.added, self._call.width)

    @property
    def ids(self) -> list[int]:
        """The ids."""
        call = self._call
        if len(call.parts) == 1 and call.width == 0:
            return call.encoded.ids(*self._windows[0])
        return self._column(
            lambda part: part.id, call.pad_id, lambda _, window: call.encoded.ids(*window)
        )

    @property
    def tokens(self) -> list[bytes]:
        """The tokens, as bytes; a character may be spread over several of them."""
        return self._call.tok.tokens(self.ids)

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Where each token starts and ends in its text, in the unit that `offsets=` chose.

        A token covers every character of which it holds a byte, so those that share a character
        all have its whole span; in bytes, spans are exact. A special token found in the text has
        the span of its text, an added token (0, 0), as no other token has. Of a text given as
        words, each token has its place in its word.
        """
        return self._column(lambda _: (0, 0), (0, 0), self._spans)

    @property
    def word_ids(self) -> list[int | None]:
        """The number of each token's pretoken, from 0 in each text; None for added tokens.

        Of a text given as words it is the word's index. A special token found in the text counts
        as a pretoken.
        """
        return self._column(lambda _: None, None, self._words)

    @property
    def type_ids(self) -> list[int]:
        """The type ids that the template gives; without a template 0, and 1 for the pair."""
        return self._column(
            lambda part: part.type_id, 0, lambda part, window: [part.type_id] * _size(window)
        )

    @property
    def sequence_ids(self) -> list[int | None]:
        """0 for tokens of the text, 1 for those of its pair, None for added ones."""
        return self._column(
            lambda _: None, None, lambda part, window: [part.sequence] * _size(window)
        )

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for the tokens that the template or padding added, 0 for those of the text."""
        return self._column(lambda _: 1, 1, lambda _, window: [0] * _size(window))

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for everything else."""
        return self._column(lambda _: 1, 0, lambda _, window: [1] * _size(window))

    @property
    def overflowing(self) -> list[Encoding]:
        """What truncation cut off, as encodings of the further windows, with template and padding.

        Of a pair of which both texts were cut, there is one for each window of the one with each of
        the other.
        """
        if not self._is_first:
            return []
        call, index = self._call, self._index
        return [Encoding(call, index, cut, False) for cut in call.others(index)]

    def token_to_chars(self, token: int) -> tuple[int, int] | None:
        """The offsets of one token; None for an added one. `OptionError` for one that is not."""
        token = any_number("token", token)
        if not -len(self) <= token < len(self):
            raise OptionError(
                f"token={show(token)} is none of {several(len(self), 'token')}.", value=token
            )
        token += len(self) * (token < 0)
        for (start, stop), before in self._texts():
            at = start + token - before
            if start <= at < stop:
                return self._call.encoded.spans(at, at + 1)[0]
        return None

    def char_to_token(self, position: int, sequence: int = 0) -> int | None:
        """The first token that covers a place of the text, counted as `offsets` are.

        >>> import digram
        >>> tok = digram.train("low lower lowest", max_merges=3, pretokenizer="gpt2")
        >>> tok("low é").char_to_token(4), tok("low").char_to_token(7)
        (2, None)

        `sequence=1` asks for a place in the pair. None where this encoding has no token: outside
        the text, or in what was cut off. A text given as words has no such places: `OptionError`.
        """
        if self._call.words is not None:
            raise OptionError(
                "offsets count within each word, so a place in the text has no meaning here.",
                hint="Use word_to_tokens.",
            )
        window, before = self._text(sequence)
        position = any_number("position", position)
        if not 0 <= position <= sys.maxsize:
            return None
        found = self._call.encoded.token_at(*window, position)
        return None if found is None else found - window[0] + before

    def word_to_tokens(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """The first token of a word (see `word_ids`) and the one after its last, or None.

        >>> import digram
        >>> digram.train("a", max_merges=0, pretokenizer="gpt2")("an ox").word_to_tokens(1)
        (2, 5)
        """
        call, ((start, stop), before) = self._call, self._text(sequence)
        word = any_number("word", word)
        found = 0, 0
        if call.words is not None:
            number = self._index + sequence * call.texts
            at = call.words[number] + word
            if word >= 0 and at < call.words[number + 1]:
                found = call.bounds[at], call.bounds[at + 1]
        elif 0 <= word < stop:
            found = call.encoded.of_pretoken(start, stop, word)
        first, after = max(found[0], start), min(found[1], stop)
        return (first - start + before, after - start + before) if first < after else None

    def _texts(self) -> list[tuple[Window, int]]:
        """The tokens of each text, and how many tokens of this encoding stand before them."""
        call, found = self._call, dict[int, tuple[Window, int]]()
        before = 0
        if call.options.padding_side == "left":
            before = len(self) - call.added - sum(map(_size, self._windows))
        for part in call.parts:
            if part.sequence >= 0:
                found[part.sequence] = self._windows[part.sequence], before
            before += 1 if part.sequence < 0 else _size(self._windows[part.sequence])
        return [found[number] for number in sorted(found)]

    def _text(self, sequence: int) -> tuple[Window, int]:
        if type(sequence) is int and 0 <= sequence < len(self._windows):
            return self._texts()[sequence]
        raise OptionError(
            f"sequence={show(sequence)} is not 0 for the text, or 1 for its pair, if it has one.",
            value=sequence,
        )

    def _spans(self, _: Part, window: Window) -> list[tuple[int, int]]:
        return self._call.encoded.spans(*window)

    def _words(self, part: Part, window: Window) -> list[int | None]:
        call = self._call
        if call.words is None:
            return [*call.encoded.pretokens(*window)]
        # Each word is a text of its own there.
        at, stop = window
        word = bisect_right(call.bounds, at) - 1
        first = call.words[self._index + part.sequence * call.texts]
        found: list[int | None] = []
        while at < stop:
            end = min(call.bounds[word + 1], stop)
            found += [word - first] * (end - at)
            at, word = end, word + 1
        return found

    def _column(
        self, added: Callable[[Part], T], pad: T, own: Callable[[Part, Window], list[T]]
    ) -> list[T]:
        """An entry for each token: of a part of one token, of padding, of the tokens of a text."""
        call, column = self._call, list[T]()
        for part in call.parts:
            if part.sequence < 0:
                column.append(added(part))
            else:
                column += own(part, self._windows[part.sequence])
        missing = call.width - len(column)
        if missing <= 0:
            return column
        return (
            [pad] * missing + column
            if call.options.padding_side == "left"
            else column + [pad] * missing
        )

    def _lists(self) -> tuple[Any, ...]:
        masks = (self.type_ids, self.sequence_ids, self.special_tokens_mask, self.attention_mask)
        return (self.ids, self.tokens, self.offsets, self.word_ids, *masks)

    def _repr_html_(self) -> str:
        from digram.tokenizer.html import encoding_page

        return encoding_page(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoding):
            return NotImplemented
        return self._lists() == other._lists() and self.overflowing == other.overflowing

    def __hash__(self) -> int:
        return hash(tuple(self.ids))

    def __repr__(self) -> str:
        ids = self.ids
        more = ", ..." if len(ids) > 8 else ""
        return f"<digram.Encoding: {several(len(ids), 'token')}, {str(ids[:8])[:-1]}{more}]>"


def _size(window: Window) -> int:
    return window[1] - window[0]
