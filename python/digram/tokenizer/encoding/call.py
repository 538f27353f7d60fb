"""Compute the result of `tok(text)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

from digram._util.validation import flag
from digram.errors import DigramError, OptionError, TokenIdError, placed, several
from digram.tokenizer.encoding.encoding import Call, Encoding
from digram.tokenizer.encoding.encodings import Encodings
from digram.tokenizer.encoding.in_parts import EncodedInParts, is_in_parts, joined
from digram.tokenizer.encoding.options import Options
from digram.tokenizer.encoding.template_ids import Layout

if TYPE_CHECKING:
    from collections.abc import Collection

    from digram._core import Core, Encoded

__all__ = ["encode"]

_NO_PAD = 0


class _Given(NamedTuple):
    """The texts of a call: `n` of them, then their pairs; or all words of these."""

    n: int
    texts: list[Any]
    words: list[int] | None
    """The index of the first word of each text, and their number."""
    paired: bool
    place: Callable[[int], str] | None
    """How messages name each of `texts`."""


def encode(
    tok: Core,
    layout: Layout,
    text: Any,
    pair: Any,
    options: Options,
    special: str | Collection[str] | None,
    threads: int | None,
    are_words: bool,
) -> Encoding | Encodings:
    """Encode a text, or several."""
    are_words = flag("is_split_into_words", are_words)
    if isinstance(text, str | bytes) and not are_words:
        if pair is None and options.max_length is None and options.padding is None:
            # A shortcut for the most frequent case.
            encoded = tok._encoded([text], special, options.offsets, threads)
            edges = encoded.bounds()
            parts = layout.single if options.add_special_tokens else layout.single_plain
            call = Call(
                tok=tok,
                encoded=encoded,
                given=[text],
                trimming=layout.trimming,
                texts=1,
                bounds=edges,
                edges=edges,
                words=None,
                parts=parts,
                added=len(parts) - 1,
                room=None,
                options=options,
                pad_id=_NO_PAD,
                width=0,
            )
            return Encoding(call, 0, ((0, edges[1]),), True)
        texts = [text] if pair is None else [text, pair]
        given = _Given(1, texts, None, pair is not None, _place_of_one(pair))
        call = _call(tok, layout, given, options, special, threads)
        return Encoding(call, 0, call.first(0), True)
    listed = _words if are_words else _several
    texts, pairs = listed(text, "text"), None if pair is None else listed(pair, "pair")
    is_one = are_words and all(isinstance(word, str | bytes) for word in texts)
    if is_one:
        texts, pairs = [texts], None if pairs is None else [pairs]
    n = len(texts)
    if pairs is not None and len(pairs) != n:
        raise OptionError(f"there are {n} texts and {len(pairs)} pairs.", value=len(pairs))
    every = texts if pairs is None else texts + pairs
    words = None
    name = _name_of_text(n)
    if are_words:
        every = [_words(one, name(index)) for index, one in enumerate(every)]
        words = [0, *accumulate(map(len, every))]
        name = _name_of_word(n, words, is_one)
        every = list(chain.from_iterable(every))
    given = _Given(n, every, words, pairs is not None, name)
    call = _call(tok, layout, given, options, special, threads)
    return Encoding(call, 0, call.first(0), True) if is_one else Encodings(call)


def _call(
    tok: Core,
    layout: Layout,
    given: _Given,
    options: Options,
    special: str | Collection[str] | None,
    threads: int | None,
) -> Call:
    n, texts, words, paired, place = given
    options = options._replace(
        truncation_side=options.truncation_side or layout.truncation_side,
        padding_side=options.padding_side or layout.padding_side,
    )
    parts = layout.parts(paired, options.add_special_tokens)
    added = len(parts) - 1 - paired
    room = _room(layout, options, added, paired)
    pad_id = _NO_PAD
    if options.padding is not None:
        pad = layout.pad_id if options.pad_id is None else options.pad_id
        if pad is None:
            raise OptionError(
                "padding needs a pad token, and this tokenizer has none.",
                value=options.padding,
                hint='Set one of its special tokens, as in with_pad_token("<pad>"), or pass '
                "pad_id=.",
            )
        if options.pad_id is not None:
            try:
                tok.tokens([pad])
            except TokenIdError:
                raise OptionError(f"pad_id={pad} is not the id of a token.", value=pad) from None
        pad_id = pad
    encoded: Encoded | EncodedInParts
    if words is None and any(map(is_in_parts, texts)):
        encoded = EncodedInParts(tok, texts, special, options.offsets, threads, place)
        texts = [*map(joined, texts)]
    else:
        encoded = tok._encoded(texts, special, options.offsets, threads, place)
    bounds = encoded.bounds()
    edges = bounds if words is None else [bounds[word] for word in words]
    call = Call(
        tok=tok,
        encoded=encoded,
        given=texts,
        trimming=layout.trimming,
        texts=n,
        bounds=bounds,
        edges=edges,
        words=words,
        parts=parts,
        added=added,
        room=room,
        options=options,
        pad_id=pad_id,
        width=0,
    )
    if room is None and options.padding is None:
        return call
    longest = 0
    for index in range(n):
        length = sum(call.lengths(index))
        if room is not None and length > room:
            try:
                call.first(index)  # raises if the text cannot be truncated
            except DigramError as error:
                error.index = index
                if n > 1:
                    placed(error, f"text[{index}]")
                raise
            length = room
        longest = max(longest, length)
    return call._replace(width=_width(layout, options, longest + added))


def _room(layout: Layout, options: Options, added: int, paired: bool) -> int | None:
    """The maximum number of tokens of the texts in an encoding; None for no limit."""
    size = _max_length(layout, options)
    if size is None:
        return None
    if options.truncation == "only_second" and not paired:
        raise OptionError('truncation="only_second" needs a pair.', value=options.truncation)
    room = size - added
    if room < 1:
        raise OptionError(
            f"max_length={size} leaves no token for the text in addition to the "
            f"{several(added, 'token')} of the template.",
            value=size,
            hint="Pass a larger one, or add_special_tokens=False.",
        )
    if options.overlap >= room:
        raise OptionError(
            f"overlap={options.overlap} is not below the {several(room, 'token')} left of a text, "
            "so the windows over the others would not advance.",
            value=options.overlap,
            hint="Pass a smaller overlap, or a larger max_length.",
        )
    return room


def _max_length(layout: Layout, options: Options) -> int | None:
    if options.max_length != "context":
        return options.max_length
    if layout.context_size is None:
        raise OptionError(
            'max_length="context" needs a context size, and this tokenizer has none.',
            value="context",
            hint="Set one, as in with_context_size(1024).",
        )
    return layout.context_size


def _width(layout: Layout, options: Options, longest: int) -> int:
    """The number of tokens to which encodings are padded; 0 for no padding."""
    if options.padding is None:
        return 0
    width = options.padding if isinstance(options.padding, int) else longest
    if options.padding == "max_length":
        width = _max_length(layout, options) or longest
    multiple = options.pad_to_multiple_of or 1
    return -(-width // multiple) * multiple


def _several(texts: Any, name: str) -> list[Any]:
    if isinstance(texts, Iterable) and not isinstance(texts, str | bytes | bytearray):
        return list(texts)
    kind = type(texts).__name__
    raise TypeError(f"{name} is str or bytes, or several of them in a list, not {kind}")


def _words(words: Any, name: str) -> list[Any]:
    if isinstance(words, Iterable) and not isinstance(words, str | bytes | bytearray):
        return list(words)
    raise TypeError(
        f"{name} is a list of words, since is_split_into_words is given, not {type(words).__name__}"
    )


def _place_of_one(pair: Any) -> Callable[[int], str] | None:
    return None if pair is None else lambda index: "the pair" if index else "the text"


def _name_of_text(n: int) -> Callable[[int], str]:
    return lambda index: f"text[{index}]" if index < n else f"pair[{index - n}]"


def _name_of_word(n: int, words: list[int], is_one: bool) -> Callable[[int], str]:
    from bisect import bisect_right

    def name(word: int) -> str:
        index = bisect_right(words, word) - 1
        text = ("text" if index < n else "pair") if is_one else _name_of_text(n)(index)
        return f"{text}[{word - words[index]}]"

    return name
