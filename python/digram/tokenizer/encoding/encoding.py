"""`Encoding`: the tokens of a text, or of a text and its pair, with their properties."""

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
from digram.tokenizer.encoding.trimming import Trimming, spans_of
from digram.tokenizer.encoding.truncation import Window, kept, windows

if TYPE_CHECKING:
    from digram._core import Core, Encoded
    from digram.tokenizer.encoding.in_parts import EncodedInParts

__all__ = ["Call", "Encoding"]

T = TypeVar("T")


class Call(NamedTuple):
    """The values that the encodings of one call share.

    `encoded` has the texts, then their pairs; or all words of the texts, then those of the pairs.
    `given` are these texts, with their parts end to end, or words.
    `bounds` has the index of the first id of each of them. `edges[n]` is the index of the first id
    of text n; for texts given as words, `words[n]` is the index of its first word.
    """

    tok: Core
    encoded: Encoded | EncodedInParts
    given: Sequence[Any]
    trimming: Trimming | None
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
        """The tokens of a text, and of its pair, in the encoding, as indices of all ids."""
        lengths = self.lengths(index)
        if self.room is not None and sum(lengths) > self.room:
            lengths = kept(lengths, self.room, self.options)
        edges, n = self.edges, self.texts
        if self.options.truncation_side == "left":
            ends = edges[index + 1 :: n]
            return tuple([(end - size, end) for end, size in zip(ends, lengths, strict=False)])
        return tuple([(at, at + size) for at, size in zip(edges[index::n], lengths, strict=False)])

    def others(self, index: int) -> list[tuple[Window, ...]]:
        """The windows over the remaining tokens; for a pair, all other combinations."""
        lengths = self.lengths(index)
        if self.room is None or sum(lengths) <= self.room:
            return []
        sizes = kept(lengths, self.room, self.options)
        on_left = self.options.truncation_side == "left"
        found = []
        for number, (length, size) in enumerate(zip(lengths, sizes, strict=True)):
            at = self.edges[index + number * self.texts]
            cut = windows(length, size, self.options.overlap, on_left=on_left)
            found.append([(at + start, at + stop) for start, stop in cut])
        # The order of Hugging Face's library: those without the first window of the text first.
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

    An encoding is immutable. Every list has one entry per token, including tokens of the template
    and padding, and is created at each access in time linear in the tokens: assign it to a variable
    before a loop. `len` is the number of tokens. Two encodings are equal if all their lists are
    equal.
    """

    # Not a frozen dataclass, whose creation takes as long as encoding a short text. Public
    # attributes are properties without setters.
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
        """The ids of the tokens."""
        call = self._call
        if len(call.parts) == 1 and call.width == 0:
            return call.encoded.ids(*self._windows[0])
        return self._column(
            lambda part: part.id, call.pad_id, lambda _, window: call.encoded.ids(*window)
        )

    @property
    def tokens(self) -> list[bytes]:
        """The tokens as bytes; special tokens as their text in UTF-8.

        A token may be a part of a character. Without added tokens, the tokens join to the text.
        """
        return self._call.tok.tokens(self.ids)

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and end of each token in its text, in the unit of `tok(text, offsets=...)`.

        >>> import digram
        >>> tok = digram.train("low lower", max_merges=2, pretokenizer="gpt2")
        >>> tok("é low").offsets, tok("é low", offsets="bytes").offsets
        ([(0, 1), (0, 1), (1, 2), (2, 5)], [(0, 1), (1, 2), (2, 3), (3, 6)])

        A token covers every character of which it has a byte, so tokens that share a character all
        have its whole span; in bytes, spans are exact. A special token found in the text has the
        span of its text. With `trim_offsets` of the definition, spaces at the ends of tokens are
        left out. An added token has (0, 0), which no other token has. In a text given as
        words, offsets are relative to the word.
        """
        return self._column(lambda _: (0, 0), (0, 0), self._spans)

    @property
    def word_ids(self) -> list[int | None]:
        """The number of each token's pretoken, from 0 in each text; None for added tokens.

        >>> import digram
        >>> tok = digram.train("low lower", max_merges=2, pretokenizer="gpt2")
        >>> tok("low lower").word_ids
        [0, 1, 1, 1, 1]
        >>> tok(["New York", "low"], is_split_into_words=True).word_ids[-2:]
        [0, 1]

        In a text given as words it is the index of the word. A special token found in the text
        counts as a pretoken.
        """
        return self._column(lambda _: None, None, self._words)

    @property
    def type_ids(self) -> list[int]:
        """The type id of each token, from the template.

        Without a template it is 0 for tokens of the text, and 1 for tokens of its pair.
        """
        pad = self._call.options.pad_type_id
        return self._column(
            lambda part: part.type_id, pad, lambda part, window: [part.type_id] * _size(window)
        )

    @property
    def sequence_ids(self) -> list[int | None]:
        """0 for tokens of the text, 1 for tokens of its pair, None for added tokens."""
        return self._column(
            lambda _: None, None, lambda part, window: [part.sequence] * _size(window)
        )

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens added by the template or padding, 0 for tokens of the text."""
        return self._column(lambda _: 1, 1, lambda _, window: [0] * _size(window))

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for all other tokens."""
        return self._column(lambda _: 1, 0, lambda _, window: [1] * _size(window))

    @property
    def overflowing(self) -> list[Encoding]:
        """The tokens removed by truncation, as encodings of windows, with template and padding.

        >>> import digram
        >>> encoding = digram.train("a", max_merges=0)("abcde", max_length=2)
        >>> encoding.tokens, [window.tokens for window in encoding.overflowing]
        ([b'a', b'b'], [[b'c', b'd'], [b'e']])

        Empty if nothing was removed. If both texts of a pair were truncated, there is one for each
        other combination of windows.
        """
        if not self._is_first:
            return []
        call, index = self._call, self._index
        return [Encoding(call, index, cut, False) for cut in call.others(index)]

    def token_to_chars(self, token: int) -> tuple[int, int] | None:
        """Return the offsets of a token, as in `offsets`; None for an added token.

        >>> import digram
        >>> digram.train("low", max_merges=2, pretokenizer="gpt2")("a low").token_to_chars(2)
        (2, 5)

        `token` is the index of the token; negative ones count from the end. Raises `OptionError`
        for an index outside of the encoding.
        """
        token = any_number("token", token)
        if not -len(self) <= token < len(self):
            raise OptionError(
                f"token={show(token)} is not one of {several(len(self), 'token')}.", value=token
            )
        token += len(self) * (token < 0)
        for (start, stop), before in self._texts():
            at = start + token - before
            if start <= at < stop:
                return spans_of(self._call, (start, stop))[token - before]
        return None

    def char_to_token(self, position: int, sequence: int = 0) -> int | None:
        """Return the index of the first token that covers a position of the text, or None.

        >>> import digram
        >>> tok = digram.train("low lower lowest", max_merges=3, pretokenizer="gpt2")
        >>> tok("low é").char_to_token(4), tok("low").char_to_token(7)
        (2, None)

        `position` is in the unit of `offsets`, and `sequence` is 0 for the text, 1 for its pair.
        There is no such token outside of the text, or in a truncated part. Raises `OptionError` for
        a text given as words, and for a pair that does not exist.
        """
        if self._call.words is not None:
            raise OptionError(
                "offsets are relative to words here, so a position in the text is not defined.",
                hint="Use word_to_tokens.",
            )
        window, before = self._text(sequence)
        position = any_number("position", position)
        if not 0 <= position <= sys.maxsize:
            return None
        if self._call.trimming is not None:
            spans = enumerate(spans_of(self._call, window), before)
            return next((at for at, (start, end) in spans if start <= position < end), None)
        found = self._call.encoded.token_at(*window, position)
        return None if found is None else found - window[0] + before

    def word_to_tokens(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """Return the indices of the first token of a word and of the one after its last.

        >>> import digram
        >>> digram.train("a", max_merges=0, pretokenizer="gpt2")("an ox").word_to_tokens(1)
        (2, 5)

        `word` is a number of `word_ids`, and `sequence` is 0 for the text, 1 for its pair. None if
        the encoding has no token of the word. Raises `OptionError` for a pair that does not exist.
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
            found = call.encoded.tokens_of_pretoken(start, stop, word)
        first, after = max(found[0], start), min(found[1], stop)
        return (first - start + before, after - start + before) if first < after else None

    def _texts(self) -> list[tuple[Window, int]]:
        """The tokens of each text, and the number of tokens of this encoding before them."""
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
        return spans_of(self._call, window)

    def _texts_of(self, id: int) -> list[bytes | None]:
        """The normalized text that each token with an id stands for; None for other tokens."""
        encoded = self._call.encoded
        return self._column(lambda _: None, None, lambda _, window: encoded.texts_of(*window, id))

    def _words(self, part: Part, window: Window) -> list[int | None]:
        call = self._call
        if call.words is None:
            return [*call.encoded.pretokens(*window)]
        # Each word was encoded as a separate text.
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
        """One entry per token: for added tokens, padding, and the tokens of a text."""
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
