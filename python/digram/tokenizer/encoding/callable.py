"""`Tokenizer.__call__`: its signature and documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from digram._core import Core
from digram._util.validation import check_threads
from digram.tokenizer.encoding.options import Offsets, Options, Padding, Truncation, checked
from digram.tokenizer.encoding.template_ids import Layout
from digram.vocab.settings import Side
from digram.vocab.special_tokens import OnSpecial, TextOrParts, rule_of

if TYPE_CHECKING:
    from digram.tokenizer.encoding.encoding import Encoding
    from digram.tokenizer.encoding.encodings import Encodings

__all__ = ["CallOptions", "CallableCore"]


class CallOptions(TypedDict, total=False):
    """The options of `tok(text)`; see `Tokenizer.__call__`."""

    special: OnSpecial
    add_special_tokens: bool
    max_length: int | Literal["context"] | None
    truncation: Truncation
    truncation_side: Side | None
    overlap: int
    padding: Padding | None
    padding_side: Side | None
    pad_to_multiple_of: int | None
    pad_id: int | None
    pad_type_id: int
    offsets: Offsets | None
    threads: int | None


class CallableCore(Core):
    """`Tokenizer.__call__`. Its `_extra` has a `layout`."""

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
        text: Iterable[TextOrParts],
        pair: Iterable[TextOrParts] | None = None,
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
        truncation_side: Side | None = None,
        overlap: int = 0,
        padding: Padding | None = None,
        padding_side: Side | None = None,
        pad_to_multiple_of: int | None = None,
        pad_id: int | None = None,
        pad_type_id: int = 0,
        offsets: Offsets | None = None,
        threads: int | None = None,
    ) -> Encoding | Encodings:
        """Encode a text, or several, to ids with the offsets, word and role of each token.

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

        For one text the result is an `Encoding`, for several texts `Encodings`. `pair` is the
        second text, or texts, for models that take two. With `is_split_into_words` a text is a list
        of words: each word is encoded separately, and `word_ids` are the indices of these words.
        A list is never the parts of one text, as in `encode`, but each of several texts may be a
        list of parts:

        >>> parts = [digram.SpecialToken("<s>"), "low"]
        >>> tok([parts, "low"], add_special_tokens=False)[0].offsets
        [(0, 3), (3, 6)]

        Its offsets are those of the parts end to end, in which a special token has its text. A list
        without a `SpecialToken` is refused, since it may be words or a pair.

        The template is added to the texts unless `add_special_tokens=False`. As in `encode`,
        special tokens in the text are encoded as text unless `special` allows them.

        `max_length` is a number of tokens, including added ones, or "context" for `context_size`.
        Longer texts are truncated by `truncation`: "longest_first" truncates the longer of two
        texts until both are equally long, and then both; "only_first" and "only_second" truncate
        one of them; "raise" raises `LimitExceededError` instead. `overflowing` has the remaining
        tokens, in windows of the same size, each of which starts with the last `overlap` tokens of
        the previous one. Tokens are removed at the `truncation_side`, "left" or "right".

        `padding="longest"` pads to the longest text of the call, "max_length" to `max_length`, and
        a number to as many tokens; all are rounded up to a multiple of `pad_to_multiple_of`. The
        token is `pad_token` of the tokenizer, or the one with the id `pad_id`, and its type id is
        `pad_type_id`. It is added at the `padding_side`. A side that is not given is that of the
        tokenizer. `tok.call_options` are the truncation and padding that the file has.

        `offsets` are in "characters", "bytes" or "utf16" units; the default is characters for `str`
        and bytes for `bytes`. Batches run without the GIL on `threads` threads.

        Raises `OptionError` for options that contradict each other, and the errors of `encode` for
        texts. The cost is that of `encode` plus some µs per text; everything except the ids is
        computed when you access it.
        """
        from digram.tokenizer.encoding.call import encode

        options = Options(
            add_special_tokens,
            max_length,
            truncation,
            truncation_side,
            overlap,
            padding,
            padding_side,
            pad_to_multiple_of,
            offsets,
            pad_id,
            pad_type_id,
        )
        options = checked(options)
        threads = check_threads(threads)
        rule = rule_of(special)
        layout: Layout = self._extra.layout
        return encode(self, layout, text, pair, options, rule, threads, is_split_into_words)
