"""`tok(text)`: the signature of the rich call, and what it promises."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypedDict, Unpack, overload

from digram._core import Core
from digram._util.validation import check_threads
from digram.tokenizer.encoding.call import encode
from digram.tokenizer.encoding.encoding import Encoding
from digram.tokenizer.encoding.encodings import Encodings
from digram.tokenizer.encoding.options import Offsets, Padding, Side, Truncation, checked
from digram.tokenizer.encoding.template_ids import Layout
from digram.vocab.special_tokens import OnSpecial, rule_of

__all__ = ["CallOptions", "CallableCore"]


class CallOptions(TypedDict, total=False):
    """The options of `tok(text)`; see `Tokenizer.__call__`."""

    special: OnSpecial
    add_special_tokens: bool
    max_length: int | Literal["context"] | None
    truncation: Truncation
    truncation_side: Side
    overlap: int
    padding: Padding | None
    padding_side: Side
    pad_to_multiple_of: int | None
    offsets: Offsets | None
    threads: int | None


class CallableCore(Core):
    """The part of `digram.Tokenizer` that is called. Its `_extra` has a `layout`."""

    __slots__ = ()

    @overload
    def __call__(  # type: ignore[overload-overlap]  # a str is an iterable of str, too
        self,
        text: str | bytes,
        pair: str | bytes | None = None,
        *,
        is_split_into_words: Literal[False] = False,
        **options: Unpack[CallOptions],
    ) -> Encoding: ...
    @overload
    def __call__(
        self,
        text: Iterable[str | bytes],
        pair: Iterable[str | bytes] | None = None,
        *,
        is_split_into_words: Literal[False] = False,
        **options: Unpack[CallOptions],
    ) -> Encodings: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        text: Sequence[str | bytes],
        pair: Sequence[str | bytes] | None = None,
        *,
        is_split_into_words: Literal[True],
        **options: Unpack[CallOptions],
    ) -> Encoding: ...
    @overload
    def __call__(
        self,
        text: Iterable[Sequence[str | bytes]],
        pair: Iterable[Sequence[str | bytes]] | None = None,
        *,
        is_split_into_words: Literal[True],
        **options: Unpack[CallOptions],
    ) -> Encodings: ...
    def __call__(
        self,
        text: Any,
        pair: Any = None,
        *,
        is_split_into_words: bool = False,
        special: OnSpecial = "text",
        add_special_tokens: bool = True,
        max_length: int | Literal["context"] | None = None,
        truncation: Truncation = "longest_first",
        truncation_side: Side = "right",
        overlap: int = 0,
        padding: Padding | None = None,
        padding_side: Side = "right",
        pad_to_multiple_of: int | None = None,
        offsets: Offsets | None = None,
        threads: int | None = None,
    ) -> Encoding | Encodings:
        """An `Encoding`: the ids of a text, with the place, the word and the role of each token.

        >>> import digram
        >>> tok = digram.train("low lower", max_merges=2, special_tokens=["<s>", "<pad>"])
        >>> tok = tok.with_template(digram.Template("<s> $A")).with_pad_token("<pad>")
        >>> encoding = tok("low lower")
        >>> encoding.tokens, encoding.special_tokens_mask
        ([b'<s>', b'low', b' ', b'low', b'e', b'r'], [1, 0, 0, 0, 0, 0])
        >>> encoding.offsets
        [(0, 0), (0, 3), (3, 4), (4, 7), (7, 8), (8, 9)]
        >>> batch = tok(["low", "lower"], max_length=3, padding="longest")
        >>> batch.numpy()["input_ids"].tolist()
        [[258, 257, 259], [258, 257, 101]]

        `text` is a text, or several of them, which give `Encodings`; so is `pair`, the second
        texts where a model takes two. With `is_split_into_words` a text is a list of words instead:
        each is cut and encoded on its own, and `word_ids` are the caller's. A list is never the
        parts of one text, as it is for `encode`: without a `SpecialToken` it would look like a
        batch.

        The template is put around the texts unless `add_special_tokens=False`. Special tokens in
        the text stay text, as in `encode`, unless `special` says otherwise.

        `max_length` is in tokens, added ones included; "context" stands for `context_size`. What is
        longer is cut by `truncation`: "longest_first" cuts the longer of two texts until both are
        equal, "only_first" and "only_second" cut one of them, and "raise" is for those who want a
        `LimitExceededError` instead. `overflowing` has what was cut off, in windows of the same
        size, each of which starts with the last `overlap` tokens of the one before.

        `padding="longest"` pads to the longest of the call, "max_length" to `max_length`, either up
        to a multiple of `pad_to_multiple_of`.

        `offsets` are "characters", "bytes" or "utf16" units; by default what Python counts in:
        characters of a `str`, bytes of `bytes`. Batches run without the GIL on `threads` threads.

        Options that contradict each other are an `OptionError`; texts raise what `encode` raises.
        Costs what `encode` costs and some µs a text; what the encoding knows beside the ids is
        found out when it is asked for.
        """
        options = checked(
            add_special_tokens,
            max_length,
            truncation,
            truncation_side,
            overlap,
            padding,
            padding_side,
            pad_to_multiple_of,
            offsets,
        )
        threads = check_threads(threads)
        rule = rule_of(special)
        layout: Layout = self._extra.layout
        return encode(self, layout, text, pair, options, rule, threads, is_split_into_words)
